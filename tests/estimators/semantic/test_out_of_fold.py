"""Nothing is learned from an example's own label: on random labels estimates know nothing."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import clearset as cs
from clearset.estimators.semantic._learning import Learning
from clearset.estimators.semantic._sources import Rows, Sources, deal, hold_out
from clearset.estimators.semantic._trial import Trial
from clearset.tokens import cross_fit, token_values

from .data import engine, labels, sets


def random_sets(seed: int, n: int = 3000) -> tuple[list[list[str]], np.ndarray]:
    """Sets of 5 items of 3,000, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, 3000, (n, 5)).astype(str).tolist()
    return items, rng.integers(0, 2, n)


@pytest.mark.parametrize(
    "options",
    [{}, {"tokens": cs.Subsets(2)}, {"cover": False, "width": 2}, {"refine": True, "cross_fit": 2}],
    ids=["items", "subsets", "all", "refined"],
)
def test_random_labels_stay_unknown(options: dict[str, Any]) -> None:
    known, fresh = [], []
    for seed in range(3):
        X, y = random_sets(seed)
        model = engine(random_state=seed, epochs=5, **options)
        known.append(roc_auc_score(y, model.fit_transform(X, y)[:, 0]))
        later, truth = random_sets(seed + 100)
        fresh.append(roc_auc_score(truth, model.transform(later)[:, 0]))
    assert np.mean(known) == pytest.approx(0.5, abs=0.03)
    assert np.mean(fresh) == pytest.approx(0.5, abs=0.03)


def small_random_sets(kind: str, seed: int) -> tuple[list[list[str]], np.ndarray]:
    """Make 200 sets of 3 to 8 of 40 items, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    X = [rng.choice(40, rng.integers(3, 9), replace=False).astype(str).tolist() for _ in range(200)]
    return X, rng.random(200) < (0.1 if kind == "rare" else 0.5)


@pytest.mark.parametrize("kind", ["even", "rare", "groups"])
def test_estimates_do_not_lean_away_from_random_labels(kind: str) -> None:
    """Where a fold has many of a class the others have few: pooled, estimates of all folds would tell it, inversely."""
    known = []
    for seed in range(30):
        X, y = small_random_sets(kind, seed)
        groups = np.random.default_rng(seed).integers(0, 40, 200) if kind == "groups" else None
        model = engine(random_state=seed + 100, epochs=1, early_stopping=False)
        known.append(roc_auc_score(y, model.fit_transform(X, y, groups=groups)[:, 0]))
    assert abs(np.mean(known) - 0.5) < 3 * np.std(known, ddof=1) / np.sqrt(30)


@pytest.mark.parametrize("refine", [False, True])
def test_what_can_be_known_is_known_as_well_as_of_fresh_examples(refine: bool) -> None:
    X, later = sets(600), sets(3000, seed=5)
    model = engine(refine=refine)
    known = roc_auc_score(labels(X), model.fit_transform(X, labels(X))[:, 0])
    fresh = roc_auc_score(labels(later, seed=6), model.transform(later)[:, 0])
    assert known == pytest.approx(fresh, abs=0.02)


def test_without_folds_labels_come_back() -> None:
    """The test above can fail: an example's own label is all over its tokens' means."""
    X, y = random_sets(0)
    estimated = engine(cross_fit=None, epochs=8).fit_transform(X, y)
    assert roc_auc_score(y, estimated[:, 0]) > 0.8


def test_groups_that_share_labels_stay_unknown() -> None:
    """Ten examples of a customer are alike; out of fold by rows they would give each other away."""
    rng = np.random.default_rng(0)
    customers = np.repeat(np.arange(150), 10)
    own = rng.integers(0, 1000, (150, 4)).astype(str)
    X, y = own[customers].tolist(), rng.integers(0, 2, 150)[customers]
    by_rows = engine(epochs=4).fit_transform(X, y)[:, 0]
    by_groups = engine(epochs=4).fit_transform(X, y, groups=customers)[:, 0]
    assert roc_auc_score(y, by_rows) > 0.95
    assert roc_auc_score(y, by_groups) < 0.65
    refined = engine(epochs=3, refine=True, cross_fit=3).fit_transform(X, y, groups=customers)[:, 0]
    assert roc_auc_score(y, refined) < 0.65


def test_estimates_of_training_rows_by_a_table_of_the_others() -> None:
    """Moving one example's label does not move its own estimate's tokens: their values are those of `cross_fit`."""
    X, y = sets(200), labels(sets(200))
    model = engine(epochs=2, early_stopping=False, features=["mean_label"])
    trial, order, _ = model._fit(X, y, None, None)
    assert isinstance(trial, Trial)
    assert sorted(order.tolist()) == list(range(200))
    found = trial.occurrences.found
    folds = trial.occurrences.rows // trial.rows.n_tokens - 1
    fold_of_row = folds[found.offsets[:-1]]
    table, out_of_fold = cross_fit(X, y, cs.Items(), [], fold_of_row, 5, threads=1)
    for row in range(200):
        start, stop = found.offsets[row : row + 2]
        assert (folds[start:stop] == fold_of_row[row]).all()
        statistics = out_of_fold[fold_of_row[row]]
        expected = token_values(table, statistics, "mean_label", 1.0)[found.tokens[start:stop]]
        np.testing.assert_allclose(trial.rows.values[trial.occurrences.rows[start:stop]], expected)


class TestDealing:
    """Folds and validation."""

    def test_rows_of_every_class_are_dealt_evenly(self) -> None:
        y = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0, 2.0], [52, 39, 12]))
        folds = deal(y, None, 5, np.random.default_rng(0), classes=True)
        assert sorted(np.bincount(folds).tolist()) == [20, 20, 21, 21, 21]
        for label, few in ((0, 10), (1, 7), (2, 2)):
            assert set(np.bincount(folds[y == label], minlength=5).tolist()) == {few, few + 1}
        assert (folds != deal(y, None, 5, np.random.default_rng(1), classes=True)).any()

    def test_folds_of_numbers_have_the_same_mean(self) -> None:
        spread = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            y = rng.normal(size=503)
            folds = deal(y, None, 5, rng, classes=False)
            assert sorted(np.bincount(folds).tolist()) == [100, 100, 101, 101, 101]
            spread.append(np.std([y[folds == fold].mean() for fold in range(5)]))
        assert np.mean(spread) < 0.02  # 0.1 by chance

    @pytest.mark.parametrize("classes", [True, False])
    def test_folds_of_groups_have_the_same_labels(self, classes: bool) -> None:
        spread = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            groups = rng.integers(0, 100, 500)
            y = rng.integers(0, 2, 500).astype(float) if classes else rng.normal(size=500)
            folds = deal(y, groups, 5, rng, classes=classes)
            spread.append(np.std([y[folds == fold].mean() for fold in range(5)]) / y.std())
        assert np.mean(spread) < 0.05  # 0.1 by chance

    @pytest.mark.parametrize("seed", range(5))
    def test_groups_share_folds(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        groups = rng.choice(["ann", "bob", "cyd", *map(str, range(40))], 500)
        folds = deal(rng.integers(0, 2, 500), groups, 5, rng, classes=True)
        assert all(len(set(folds[groups == group])) == 1 for group in groups)
        assert set(folds) == set(range(5))
        assert np.bincount(folds).min() > 50

    def test_one_large_group_leaves_the_others_a_fold(self) -> None:
        groups = np.array([0] * 96 + [1, 2, 3, 4])
        folds = deal(np.arange(100) % 2, groups, 5, np.random.default_rng(0), classes=True)
        assert len(set(folds[groups == 0])) == 1
        assert set(folds) == set(range(5))

    def test_validation_has_its_share_of_every_class(self) -> None:
        y = np.repeat([0.0, 1.0, 2.0], [700, 200, 100])
        training, held = hold_out(y, None, 0.1, np.random.default_rng(0), stratify=True)
        assert np.bincount(y[held].astype(int)).tolist() == [70, 20, 10]
        assert sorted([*training, *held]) == list(range(1000))

    @pytest.mark.parametrize("n_groups", [2, 3, 5, 8, 50, 1000])
    def test_validation_holds_whole_groups(self, n_groups: int) -> None:
        groups = np.arange(1000) % n_groups
        y = np.zeros(1000)
        training, held = hold_out(y, groups, 0.1, np.random.default_rng(0), stratify=True)
        assert not set(groups[training]) & set(groups[held])
        assert sorted([*training, *held]) == list(range(1000))
        assert len(held) == pytest.approx(max(100, 1000 / n_groups), abs=0.5 * 1000 / n_groups + 1)

    def test_too_little_is_not_split(self) -> None:
        for groups in (None, np.arange(100)):
            training, held = hold_out(np.zeros(100), groups, 0.1, np.random.default_rng(0), stratify=False)
            assert len(training) == 100
            assert not len(held)
        training, held = hold_out(
            np.zeros(1000), np.zeros(1000), 0.1, np.random.default_rng(0), stratify=False
        )
        assert not len(held)

    def test_a_fit_splits_by_groups(self, monkeypatch: Any) -> None:
        X = sets(900)
        groups = np.random.default_rng(0).integers(0, 60, 900)
        model = engine(epochs=1)
        seen: dict[str, Any] = {}

        choose = Learning.choose

        def spy(learning: Learning, sources: Sources) -> Any:
            seen["sources"] = sources
            return choose(learning, sources)

        monkeypatch.setattr(Learning, "choose", spy)
        numbered = [[*row, f"row {place}"] for place, row in enumerate(X)]
        model.fit(numbered, labels(X), groups=groups)

        def places(rows: Rows) -> list[int]:
            return [int(row[-1].split()[1]) for row in rows.X]

        sources = seen["sources"]
        training, held = groups[places(sources.training)], groups[places(sources.validation)]
        assert not set(training) & set(held)
        assert len(held) > 50
        assert all(len(set(sources.folds[training == group])) == 1 for group in training)
        assert sources.n_folds == 5
        y = labels(X)
        assert sources.training.labels.tolist() == y[places(sources.training)].tolist()
        assert sources.validation.labels.tolist() == y[places(sources.validation)].tolist()


def test_few_groups_do() -> None:
    X = sets(600)
    y, groups = labels(X), np.arange(600) % 5
    for refine in (False, True):
        estimated = engine(epochs=2, refine=refine).fit_transform(X, y, groups=groups)
        assert roc_auc_score(y, estimated[:, 0]) > 0.8
    two = engine(epochs=2, refine=True, cross_fit=2).fit_transform(X, y, groups=groups % 2)
    assert np.isfinite(two).all()
