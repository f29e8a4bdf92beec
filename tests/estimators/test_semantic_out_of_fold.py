"""Nothing is learned from an example's own label: on random labels estimates know nothing."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import clearset as cs
from clearset.tokens import cross_fit, token_values
from clearset.training import LabelledExamples, Learning, Sources

from .items import engine, labels, sets


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


def test_estimates_of_training_rows_by_a_table_of_the_others(monkeypatch: Any) -> None:
    """Moving one example's label does not move its own estimate's tokens: their values are those of `cross_fit`."""
    X, y = sets(200), labels(sets(200))
    trials, attempt = [], Learning.attempt

    def watched(learning: Learning, *arguments: Any, **options: Any) -> Any:
        trials.append(attempt(learning, *arguments, **options))
        return trials[-1]

    monkeypatch.setattr(Learning, "attempt", watched)
    engine(epochs=2, early_stopping=False, features=["mean_label"]).fit(X, y)
    (trial,) = trials
    occurrences, rows = trial.examples.occurrences, trial.examples.rows
    assert len(occurrences.counts) == 200
    found = occurrences.found
    folds = occurrences.rows // rows.n_tokens - 1
    fold_of_row = folds[found.offsets[:-1]]
    table, out_of_fold = cross_fit(X, y, cs.Items(), [], fold_of_row, 5, threads=1)
    for row in range(200):
        start, stop = found.offsets[row : row + 2]
        assert (folds[start:stop] == fold_of_row[row]).all()
        statistics = out_of_fold[fold_of_row[row]]
        expected = token_values(table, statistics, "mean_label", 1.0)[found.tokens[start:stop]]
        np.testing.assert_allclose(rows.values[occurrences.rows[start:stop]], expected)


def test_a_fit_splits_by_groups(monkeypatch: Any) -> None:
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

    def places(rows: LabelledExamples) -> list[int]:
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
