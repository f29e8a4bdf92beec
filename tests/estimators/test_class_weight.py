"""Weights of classes: what equivalent weights of examples do, in training, in token tables and in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

import clearset as cs
from clearset.estimators._class_weight import class_factors, weigh

QUICK: dict[str, Any] = {"epochs": 4, "random_state": 0, "n_jobs": 1}
ITEMS = np.array([f"i{k}" for k in range(8)])


def sets(n: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A column that hardly tells a rare class from a usual one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    return X, np.where(X[:, 0] + 2 * rng.normal(size=n) > 2.5, "rare", "usual")


def baskets(n: int = 400, seed: int = 0) -> tuple[list[list[str]], np.ndarray]:
    rng = np.random.default_rng(seed)
    X = [rng.choice(ITEMS, rng.integers(1, 4), replace=False).tolist() for _ in range(n)]
    odds = np.array([0.1 + 0.4 * ("i0" in row) for row in X])
    return X, (rng.uniform(size=n) < odds).astype(int)


CASES = {
    "sets": (cs.SetClassifier, sets(), {"rare": 3}, {"rare": 2.5, "usual": 0.5}),
    "items": (lambda **options: cs.SemanticClassifier(cs.Items(), **options), baskets(), {1: 3}, {0: 0.5, 1: 2.5}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("which", ["whole", "fractions", "balanced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_as_equivalent_weights_of_examples(case: str, which: str, weighted: bool) -> None:
    """scikit-learn itself says which weights of examples are equivalent."""
    make, (X, y), whole, fractions = CASES[case]
    class_weight: Any = {"whole": whole, "fractions": fractions, "balanced": "balanced"}[which]
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    if which == "balanced":
        classes = np.unique(y)
        found = compute_class_weight("balanced", classes=classes, y=y, sample_weight=weights)
        factors = found[np.searchsorted(classes, y)]
    else:
        full = {label: class_weight.get(label, 1) for label in np.unique(y).tolist()}
        factors = compute_sample_weight(full, y)
    model = make(class_weight=class_weight, **QUICK).fit(X, y, weights if weighted else None)
    expected = make(**QUICK).fit(X, y, weights * factors)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
    assert not np.array_equal(model.predict_proba(X), make(**QUICK).fit(X, y, weights).predict_proba(X))
    if case == "items":
        assert np.array_equal(model.token_table_.prior, expected.token_table_.prior)
        assert np.array_equal(model.token_table_.means, expected.token_table_.means)


@pytest.mark.parametrize("case", CASES)
def test_balanced_classes_are_predicted_alike(case: str) -> None:
    make, (X, y), *_ = CASES[case]
    options = QUICK | {"epochs": 40}
    plain, balanced = (make(class_weight=weight, **options).fit(X, y) for weight in (None, "balanced"))
    rare = np.array([(y == label).mean() for label in plain.classes_]).argmin()
    means = [model.predict_proba(X)[:, rare].mean() for model in (plain, balanced)]
    assert means[0] == pytest.approx((y == plain.classes_[rare]).mean(), abs=0.05)
    assert 0.35 < means[1] < 0.6


def test_balance_of_equal_classes_changes_nothing() -> None:
    X, y = sets(100)[0], np.arange(100) % 2
    fits = [cs.SetClassifier(class_weight=weight, **QUICK).fit(X, y) for weight in (None, "balanced", {}, {0: 1, 1: 1})]
    assert all(np.array_equal(fit.predict_proba(X), fits[0].predict_proba(X)) for fit in fits)


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=40), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=50)
def test_balanced_classes_have_one_total_and_the_sum_stays(labels: list[int], seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 5, len(labels))
    places = np.array(labels, dtype=float)
    found = weigh(class_factors("balanced", np.arange(4), places, weights), places, weights)
    totals = np.bincount(labels, found, 4)
    np.testing.assert_allclose(totals[totals > 0], weights.sum() / np.count_nonzero(totals))
    assert found.sum() == pytest.approx(weights.sum())


def test_validation_data_are_weighted_as_well() -> None:
    """A weight that outweighs everything makes the validation loss that of one class alone."""
    X, y = sets()
    options = QUICK | {"epochs": 3}
    model = cs.SetClassifier(class_weight={"rare": 1e6}, **options).fit(X, y, validation_data=(X, y))
    losses = -np.log(model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)])
    rare = losses[y == "rare"].mean()
    # Small sets, which predictions shrink to the base rate, are validated as they are.
    assert model.history_[-1]["validation_loss"] == pytest.approx(rare, rel=0.5)
    assert losses.mean() > 1000 * rare


def test_tables_of_other_examples_and_new_tables_are_weighted() -> None:
    (X, y), (more, labels) = baskets(), baskets(300, seed=1)
    model = cs.SemanticClassifier(cs.Items(), class_weight="balanced", **QUICK)
    model.fit(X, y, token_X=more, token_y=labels)
    np.testing.assert_allclose(model.token_table_.prior, 0.5)
    model.fit(X, y)
    np.testing.assert_allclose(model.token_table_.prior, 0.5)
    model.refresh_table(more, labels)
    np.testing.assert_allclose(model.token_table_.prior, 0.5)
    model.set_params(class_weight={1: 3.0}).refresh_table(more, labels)
    expected = 3 * labels.sum() / (3 * labels.sum() + (labels == 0).sum())
    np.testing.assert_allclose(np.ravel(model.token_table_.prior)[-1], expected)


def test_joint_models_take_that_of_the_follow_on_model() -> None:
    X, y = baskets()
    table = pa.table({"items": X, "price": np.random.default_rng(2).uniform(size=len(X))})
    means = []
    for weight in (None, "balanced"):
        follow_on = cs.SetClassifier(class_weight=weight, epochs=40, n_jobs=1)
        engine = cs.SemanticFeatureEngine(cs.Items(), epochs=10, n_jobs=1)
        model = cs.JointModel({"items": engine}, follow_on, epochs=5, random_state=0).fit(table, y)
        means.append(model.predict_proba(table)[:, 1].mean())
    assert means[0] == pytest.approx(y.mean(), abs=0.06)
    assert 0.35 < means[1] < 0.6


@pytest.mark.parametrize("class_weight", [None, "balanced", {"rare": 2.5}, {"rare": 2, "usual": 1.0, "unheard": 3}])
def test_is_saved_with_names_of_classes(class_weight: Any, tmp_path: Path) -> None:
    X, y = sets(60)
    check_saved(cs.SetClassifier(class_weight=class_weight, **QUICK).fit(X, y), tmp_path, X)


@pytest.mark.parametrize("class_weight", [{0: 1.5, 1: 2}, {np.int64(1): np.float64(2.5)}, {True: 2.0}])
def test_is_saved_with_numbers_as_classes(class_weight: Any, tmp_path: Path) -> None:
    X, y = baskets(60)
    check_saved(cs.SemanticClassifier(cs.Items(), class_weight=class_weight, **QUICK).fit(X, y), tmp_path, X)


def check_saved(model: Any, folder: Path, X: Any) -> None:
    model.save(folder / "model.clearset")
    loaded = cs.load(folder / "model.clearset")
    again = cs.as_estimator(loaded)
    assert again.class_weight == model.class_weight
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_files_without_it_are_loaded() -> None:
    folder = Path(__file__).parents[1] / "golden"
    assert cs.as_estimator(cs.load(folder / "classifier_three.clearset")).class_weight is None
    assert cs.as_estimator(cs.load(folder / "pairs_3.clearset")).class_weight is None


@pytest.mark.parametrize(
    "class_weight", ["balance", 2.0, {"rare": 0}, {"rare": -1.0}, {"rare": np.nan}, {"rare": np.inf}, {"rare": "a"}, []]
)
@pytest.mark.parametrize("case", CASES)
def test_what_is_no_weight_is_refused(class_weight: Any, case: str) -> None:
    make, (X, y), *_ = CASES[case]
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced', or a dict of a finite number above 0"):
        make(class_weight=class_weight).fit(X, y)


def test_classes_that_are_not_known() -> None:
    X, y = sets(60)
    with pytest.raises(ValueError, match=r"class_weight names \['rara'\].*\['rare', 'usual'\].*left out count as 1"):
        cs.SetClassifier(class_weight={"rara": 2.0, "usual": 1.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight names \['1'\]"):
        cs.SemanticClassifier(cs.Items(), class_weight={"1": 2.0}).fit(*baskets(60))
    cs.SetClassifier(class_weight={"rare": 2.0, "usual": 1.0, "never seen": 5.0}, **QUICK).fit(X, y)


def test_too_large_together() -> None:
    X, y = sets(60)
    with pytest.raises(ValueError, match="class_weight times sample_weight is infinite"):
        cs.SetClassifier(class_weight={"rare": 1e300}).fit(X, y, np.full(60, 2.0**50))


def test_given_validation_data_are_weighed_as_the_training_data_are() -> None:
    """Balanced by the training data, whatever the shares of classes are among the others."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 1))
    y = (X[:, 0] > 0.9).astype(int)
    held = rng.random((100, 1))
    held_y = (held[:, 0] > 0.5).astype(int)
    factors = len(y) / (2 * np.bincount(y))
    options = {"epochs": 10, "random_state": 0, "n_jobs": 1}
    balanced = cs.SetClassifier(class_weight="balanced", **options).fit(X, y, validation_data=(held, held_y))
    named = cs.SetClassifier(class_weight=dict(enumerate(factors)), **options).fit(X, y, validation_data=(held, held_y))
    assert balanced.history_ == named.history_
