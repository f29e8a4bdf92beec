"""What the estimators give: shapes, units, losses, and what they must not depend on."""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import log_loss, roc_auc_score

import clearset as cs
from clearset.sets import Positions
from clearset.tokens import Corrections

from .items import KINDS, classifier, engine, labels, regressor, score, sets

X, FRESH = sets(), sets(300, seed=9)


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_in_the_unit_of_the_label(kind: str) -> None:
    y = labels(X, kind)
    model = engine()
    known, estimated = model.fit_transform(X, y), model.transform(FRESH)
    assert known.shape == (400, 3 if kind == "many" else 1)
    assert estimated.shape == (300, 3 if kind == "many" else 1)
    truth = score(FRESH)
    if kind == "number":
        assert np.corrcoef(estimated[:, 0], truth)[0, 1] > 0.9
        assert estimated.mean() == pytest.approx(labels(FRESH, kind).mean(), abs=1.0)
        return
    assert ((estimated >= 0) & (estimated <= 1)).all()
    if kind == "many":
        np.testing.assert_allclose(estimated.sum(axis=1), 1.0)
        assert model.classes_.tolist() == ["high", "low", "middle"]
        assert np.corrcoef(estimated[:, 0] - estimated[:, 1], truth)[0, 1] > 0.8
    else:
        assert roc_auc_score(labels(FRESH), estimated[:, 0]) > 0.9
        assert estimated.mean() == pytest.approx(y.mean(), abs=0.06)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_a_classifier_agrees_with_itself(kind: str) -> None:
    y = labels(X, kind)
    model = classifier().fit(X, y)
    shares, raw = model.predict_proba(FRESH), model.decision_function(FRESH)
    n_classes = len(model.classes_)
    assert shares.shape == (300, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    expected = softmax(raw, axis=1) if kind == "many" else np.stack([expit(-raw), expit(raw)], axis=1)
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    assert model.predict(FRESH).tolist() == model.classes_[shares.argmax(axis=1)].tolist()
    assert model.score(FRESH, labels(FRESH, kind)) > 0.6
    top = model.predict_top(FRESH, n_classes)
    assert top[:, 0].tolist() == model.predict(FRESH).tolist()
    places = np.searchsorted(model.classes_, top)
    ranked = np.take_along_axis(shares, places, axis=1)
    assert (np.diff(ranked, axis=1) <= 0).all()
    assert all(set(row) == set(model.classes_.tolist()) for row in top.tolist())
    assert model.predict_top(FRESH, 1).shape == (300, 1)


def test_classes_of_any_type_come_back() -> None:
    y = labels(X)
    for classes in (np.array([False, True]), np.array([-3, 7]), np.array(["née", "ja\n"]), np.array([1.0, 2.0])):
        model = classifier(epochs=4).fit(X, classes[y])
        assert model.classes_.dtype.kind == classes.dtype.kind
        assert set(model.predict(FRESH).tolist()) <= set(classes.tolist())
        assert np.mean(model.predict(X) == classes[y]) > 0.7


def test_the_engine_and_the_predictors_are_one_model() -> None:
    y = labels(X)
    np.testing.assert_array_equal(
        engine().fit(X, y).transform(FRESH)[:, 0], classifier().fit(X, y).predict_proba(FRESH)[:, 1]
    )
    number = labels(X, "number")
    np.testing.assert_array_equal(
        engine().fit(X, number).transform(FRESH)[:, 0], regressor().fit(X, number).predict(FRESH)
    )


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson"])
def test_losses_of_numbers(loss: str) -> None:
    y = np.exp(score(X)) * np.random.default_rng(0).gamma(4, 0.25, len(X))
    if loss == "poisson":
        y = np.random.default_rng(0).poisson(5 * np.exp(score(X))).astype(float)
    model = regressor(loss=loss, epochs=20).fit(X, y)
    predicted = model.predict(FRESH)
    assert model.loss_ == loss
    assert np.corrcoef(predicted, np.exp(score(FRESH)))[0, 1] > 0.85
    if loss == "poisson":
        assert (predicted > 0).all()
        assert predicted.mean() == pytest.approx(5 * np.exp(score(FRESH)).mean(), rel=0.15)
    assert engine(loss=loss, epochs=2).fit(X, np.round(y)).transform(FRESH).shape == (300, 1)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_binary_log_loss_asks_of_each_class_on_its_own(kind: str) -> None:
    y = labels(X, kind)
    model = classifier(loss="binary_log_loss", epochs=20).fit(X, y)
    raw = model.decision_function(FRESH)
    shares = model.predict_proba(FRESH)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    truth = labels(FRESH, kind)
    if kind == "many":
        np.testing.assert_allclose(shares, expit(raw) / expit(raw).sum(axis=1, keepdims=True))
        for c, name in enumerate(model.classes_):
            assert expit(raw[:, c]).mean() == pytest.approx((truth == name).mean(), abs=0.1)
    else:
        other = classifier(loss="log_loss", epochs=20).fit(X, y)
        np.testing.assert_allclose(shares, other.predict_proba(FRESH))
    prior = np.bincount(np.searchsorted(model.classes_, truth)) / len(truth)
    assert log_loss(truth, shares) < 0.75 * log_loss(truth, np.tile(prior, (len(truth), 1)))


def raised(model: Any, token: str, by: float) -> Any:
    """The same model with a table in which a token's mean label is higher."""
    table = model.token_table_
    number = int(table.numbers_of([token])[0])
    sums = table.statistics.sums.astype(np.float64).copy()
    if table.classes is None:
        sums[number, 1] += by * sums[number, 0]
    else:
        moved = by * sums[number, :-1].sum()
        sums[number, :-1] *= 1 - by
        sums[number, -1] += moved
    return replace(model, table=replace(table, statistics=replace(table.statistics, sums=sums)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["mean_label", "log_odds"])
@pytest.mark.parametrize("refine", [False, True])
def test_a_higher_mean_label_never_lowers_the_estimate(kind: str, value: str, refine: bool) -> None:
    if kind == "number" and value == "log_odds":
        pytest.skip("numbers have no odds")
    features = [value, "count", "items", "tokens"]
    model = engine(features=features, refine=refine, epochs=6, width=2).fit(X, labels(X, kind)).as_model()
    before = model.read(FRESH).outputs()[:, -1]
    for token in ("item b", "item g", "item k"):
        with_it = np.array([token in row for row in FRESH])
        for by in (0.05, 0.5):
            after = raised(model, token, by).read(FRESH).outputs()[:, -1]
            assert (after >= before - 1e-12).all()
            np.testing.assert_array_equal(after[~with_it], before[~with_it])
    model = raised(model, "item e", 0.5)
    assert (model.read(FRESH).outputs()[:, -1] > before + 1e-6).any()


def test_the_order_and_repetition_of_items_make_no_difference() -> None:
    y, rng = labels(X), np.random.default_rng(4)
    model = engine(tokens=cs.Subsets(2), epochs=3).fit(X, y)
    shuffled = [rng.permutation(row + row[:1]).tolist() for row in X]
    again = engine(tokens=cs.Subsets(2), epochs=3).fit(shuffled, y)
    estimates = model.transform(FRESH)
    np.testing.assert_array_equal(again.transform(FRESH), estimates)
    permuted = [rng.permutation(row * 2).tolist() for row in FRESH]
    np.testing.assert_array_equal(model.transform(permuted), estimates)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    y = labels(X, "many")
    options: dict[str, Any] = {"tokens": cs.Subsets(2), "refine": True, "epochs": 3}
    one, two = (classifier(n_jobs=n_jobs, **options).fit(X, y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.decision_function(FRESH), two.decision_function(FRESH))
    other = classifier(random_state=1, **options).fit(X, y)
    assert (one.decision_function(FRESH) != other.decision_function(FRESH)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_weight_zero_is_as_good_as_absent(kind: str) -> None:
    y, kept = labels(X, kind), np.arange(400) % 3 > 0
    lies = np.where(kept, y, y[::-1])
    weighted = engine(epochs=4).fit(X, lies, sample_weight=kept.astype(float))
    absent = engine(epochs=4).fit([row for row, keep in zip(X, kept, strict=True) if keep], y[kept])
    np.testing.assert_allclose(weighted.transform(FRESH), absent.transform(FRESH), rtol=1e-9)
    known = engine(epochs=4).fit_transform(X, lies, sample_weight=kept.astype(float))
    np.testing.assert_allclose(
        known[kept],
        engine(epochs=4).fit_transform([row for row, keep in zip(X, kept, strict=True) if keep], y[kept]),
        rtol=1e-9,
    )
    everything = [row for row, keep in zip(X, kept, strict=True) if not keep]
    np.testing.assert_array_equal(known[~kept], weighted.transform(everything))


@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_are_repetitions_in_the_table(kind: str) -> None:
    y = labels(X, kind)
    times = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = engine(epochs=2).fit(X, y, sample_weight=times).token_table_
    repeated = engine(epochs=2).fit([X[row] for row in np.repeat(np.arange(400), times)], np.repeat(y, times))
    order = weighted.numbers_of(repeated.token_table_.spelled(np.arange(12)))
    np.testing.assert_allclose(weighted.means[order], repeated.token_table_.means, rtol=1e-12)
    np.testing.assert_allclose(weighted.weights[order], repeated.token_table_.weights, rtol=1e-12)
    np.testing.assert_allclose(weighted.prior, repeated.token_table_.prior)


def test_weights_decide_between_contradicting_halves() -> None:
    y = labels(X)
    both, contradicting = X + X, np.concatenate([y, 1 - y])
    weights = np.repeat([1.0, 0.02], 400)
    for w, sign in ((weights, 1), (weights[::-1], -1)):
        estimated = engine().fit(both, contradicting, sample_weight=w).transform(FRESH)[:, 0]
        assert sign * (roc_auc_score(labels(FRESH), estimated) - 0.5) > 0.4


class TestParts:
    """The table and the set function apart from each other."""

    def test_the_table_of_a_fit_is_that_of_all_examples(self) -> None:
        y = labels(X)
        table = engine(epochs=2).fit(X, y).token_table_
        expected = cs.TokenTable.build(X, y, cs.Items())
        assert table.to_arrow().equals(expected.to_arrow())

    def test_other_examples_for_the_table(self) -> None:
        other = sets(200, seed=20)
        model = engine(epochs=4).fit(X, labels(X), token_X=other, token_y=labels(other))
        assert model.token_table_.n_examples == 200
        assert model.token_table_.to_arrow().equals(cs.TokenTable.build(other, labels(other), cs.Items()).to_arrow())
        assert roc_auc_score(labels(FRESH), model.transform(FRESH)[:, 0]) > 0.9
        known = engine(epochs=4).fit_transform(X, labels(X), token_X=other, token_y=labels(other))
        # The set functions that make them have not seen the example, but are of the same kind.
        assert np.corrcoef(known[:, 0], model.transform(X)[:, 0])[0, 1] > 0.9

    def test_a_table_of_another_label(self) -> None:
        """Items speak of a price; the label is a class that falls with it: the set function cannot follow."""
        price = 100 + 10 * score(X)
        model = classifier(epochs=10).fit(X, labels(X), token_X=X, token_y=price)
        assert model.token_table_.task == "number"
        assert model.features_[0].name == "mean_label"
        assert model.score(FRESH, labels(FRESH)) > 0.8
        opposite = classifier(epochs=10).fit(X, 1 - labels(X), token_X=X, token_y=price)
        assert opposite.score(FRESH, 1 - labels(FRESH)) < 0.65

    def test_a_refreshed_table_of_another_label_is_of_that_label(self) -> None:
        model = classifier(epochs=3).fit(X, labels(X), token_X=X, token_y=100 + 10 * score(X))
        model.refresh_table(FRESH, 100 + 10 * score(FRESH))
        assert model.token_table_.task == "number"
        assert np.isfinite(model.predict_proba(FRESH)).all()

    def test_classes_must_match_where_there_are_several(self) -> None:
        for y, token_y in (("many", "two"), ("two", "many"), ("many", "number")):
            with pytest.raises(ValueError, match="both must have the same"):
                engine().fit(X, labels(X, y), token_X=X, token_y=labels(X, token_y))

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_refreshed_table(self, kind: str) -> None:
        y, later = labels(X, kind), sets(300, seed=30)
        model = engine(epochs=3, refine=True).fit(X, y)
        function = model.set_function_
        corrections = {t: model.token_table_.corrections.amounts[i] for i, t in names(model.token_table_)}
        later.append(["new item", "item a"])
        assert model.refresh_table(later, labels([*later[:-1], ["item a"]], kind)) is model
        table = model.token_table_
        assert model.set_function_ is function
        assert table.n_examples == 301
        assert table.lookup("new item") is not None
        for i, token in names(table):
            np.testing.assert_array_equal(table.corrections.amounts[i], corrections[token])
        assert len(table.corrections.tokens) == 12
        assert np.isfinite(model.transform(FRESH)).all()

    def test_refreshing_with_the_same_examples_changes_nothing(self) -> None:
        y = labels(X)
        model = engine(epochs=3, refine=True).fit(X, y)
        before = model.transform(FRESH)
        np.testing.assert_array_equal(model.refresh_table(X, y).transform(FRESH), before)

    def test_refreshing_with_opposite_labels_turns_estimates_around(self) -> None:
        model = engine(epochs=6).fit(X, labels(X)).refresh_table(X, 1 - labels(X))
        assert roc_auc_score(labels(FRESH), model.transform(FRESH)[:, 0]) < 0.1

    def test_refreshing_needs_known_classes(self) -> None:
        model = engine(epochs=1).fit(X, labels(X, "many"))
        with pytest.raises(ValueError, match="not among the classes"):
            model.refresh_table(X, ["huge"] * 400)
        model.refresh_table(X, ["low"] * 400)  # fewer will do
        assert model.transform(FRESH).shape == (300, 3)

    def test_a_set_function_refitted(self) -> None:
        other = sets(400, seed=40)
        model = engine(epochs=5).fit(X, labels(X))
        table, function = model.token_table_, model.set_function_
        assert model.refit_set_function(other, labels(other)) is model
        assert model.set_function_ is not function
        assert model.token_table_.to_arrow().equals(table.to_arrow())
        assert model.certificate_
        assert roc_auc_score(labels(FRESH), model.transform(FRESH)[:, 0]) > 0.9


def names(table: cs.TokenTable) -> list[tuple[int, tuple[str, ...]]]:
    corrections: Corrections = table.corrections
    return [(i, table.spell(int(token))) for i, token in enumerate(corrections.tokens)]


def test_validation_data_choose_the_epoch() -> None:
    """On labels turned around every epoch is worse than the one before."""
    y = labels(X)
    model = engine(epochs=12, patience=3).fit(X, y, validation_data=(FRESH, 1 - labels(FRESH)))
    losses = [entry["validation_loss"] for entry in model.history_]
    assert model.best_epoch_ == 1 + int(np.argmin(losses))
    assert len(losses) == model.best_epoch_ + 3
    assert model.token_table_.n_examples == 400
    good = engine(epochs=12).fit(X, y, validation_data=(FRESH, labels(FRESH)))
    shares = good.transform(FRESH)[:, 0]
    best = good.history_[good.best_epoch_ - 1]["validation_loss"]
    assert log_loss(labels(FRESH), shares) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_of_the_history_are_in_the_unit_of_the_label(kind: str) -> None:
    y, truth = labels(X, kind), labels(FRESH, kind)
    model = engine(epochs=4).fit(X, y, validation_data=(FRESH, truth))
    estimated = model.transform(FRESH)
    expected = (
        np.mean((estimated[:, 0] - truth) ** 2)
        if kind == "number"
        else log_loss(truth, estimated if kind == "many" else estimated[:, 0])
    )
    assert model.history_[model.best_epoch_ - 1]["validation_loss"] == pytest.approx(expected, rel=1e-2)
    if kind != "number":
        assert model.choices_[0]["validation_loss"] == pytest.approx(expected, rel=1e-2)


def test_an_interrupt_keeps_the_best_so_far(monkeypatch: Any) -> None:
    @contextmanager
    def interrupting(_: Any) -> Any:
        def on_epoch(entry: dict[str, float]) -> None:
            if entry["epoch"] == 4:
                raise KeyboardInterrupt

        yield on_epoch

    monkeypatch.setattr("clearset.training._fit_semantic.progress_bar", interrupting)
    model = engine(epochs=50)
    with pytest.warns(UserWarning, match="interrupted.*best model so far is kept"):
        model.fit(X, labels(X), validation_data=(FRESH, labels(FRESH)))
    assert model.interrupted_
    assert 1 <= model.best_epoch_ <= 3
    assert model.certificate_
    best = model.history_[model.best_epoch_ - 1]["validation_loss"]
    assert log_loss(labels(FRESH), model.transform(FRESH)[:, 0]) == pytest.approx(best, rel=1e-3)


def test_what_was_chosen_is_told() -> None:
    many = sets(700)
    y = labels(many)
    model = cs.SemanticClassifier(epochs=4, random_state=0, n_jobs=1).fit(many, y)
    losses = [choice["validation_loss"] for choice in model.choices_]
    assert len(losses) >= 3
    assert str(model.setting_) in [choice["setting"] for choice in model.choices_]
    assert model.score(FRESH, labels(FRESH)) > 0.8
    fixed = cs.SemanticClassifier(tokens=cs.Items(), refine=False, epochs=2, random_state=0, n_jobs=1).fit(many, y)
    assert len(fixed.choices_) == 1


def test_verification_and_curves() -> None:
    model = engine(features=["mean_label", "count"], trusts=[cs.Trust("mean_label", by="count")]).fit(X, labels(X))
    assert model.trusts_ == (cs.Trust("mean_label", by="count"),)
    assert model.verify()
    assert "count" in str(model.certificate_)
    curves = model.calibrators()
    assert list(curves) == ["mean_label", "count"]


def test_a_trust_lets_frequent_tokens_say_more() -> None:
    """Whatever was learned: the same difference of means moves a frequent token's score at least as much."""
    features = ["mean_label", "count"]
    model = engine(features=features, trusts=[cs.Trust("mean_label", by="count")], epochs=8).fit(X, labels(X))
    binning = model.binning_
    ends = [keypoints[[0, -1]] for keypoints in binning.keypoints]
    grid = np.array([[v, c] for v in ends[0] for c in ends[1]])
    places = [binning.place(name, grid[:, d], np.float64) for d, name in enumerate(features)]
    positions = Positions(np.stack([p[0] for p in places]), np.stack([p[1] for p in places]), np.arange(5))
    low_rare, low_often, high_rare, high_often = model.as_model().score_positions(positions)[:, 0, 0]
    assert high_often - low_often >= high_rare - low_rare - 1e-12


@pytest.mark.parametrize("share", [1 / 300, 0.37, 1e9 + 0.5])
def test_of_weights_that_are_not_whole_only_the_ratios_matter(share: float) -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(list("abcdefgh"), rng.integers(1, 5), replace=False).tolist() for _ in range(300)]
    y = np.array([("a" in x) - ("b" in x) for x in X]) + 0.3 * rng.normal(size=300)
    weights = rng.integers(1, 4, 300) + 0.5
    found = []
    for each in (weights, share * weights):
        model = cs.SemanticClassifier(random_state=0, n_jobs=1).fit(X, y > 0, sample_weight=each)
        found.append(model.predict_proba(X))
    np.testing.assert_allclose(found[1], found[0], atol=1e-3)
