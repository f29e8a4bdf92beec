"""Folds and validation: dealt evenly, groups together."""

import numpy as np
import pytest

from clearset.training import deal, hold_out


def test_rows_of_every_class_are_dealt_evenly() -> None:
    y = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0, 2.0], [52, 39, 12]))
    folds = deal(y, None, 5, np.random.default_rng(0), classes=True)
    assert sorted(np.bincount(folds).tolist()) == [20, 20, 21, 21, 21]
    for label, few in ((0, 10), (1, 7), (2, 2)):
        assert set(np.bincount(folds[y == label], minlength=5).tolist()) == {few, few + 1}
    assert (folds != deal(y, None, 5, np.random.default_rng(1), classes=True)).any()


def test_folds_of_numbers_have_the_same_mean() -> None:
    spread = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=503)
        folds = deal(y, None, 5, rng, classes=False)
        assert sorted(np.bincount(folds).tolist()) == [100, 100, 101, 101, 101]
        spread.append(np.std([y[folds == fold].mean() for fold in range(5)]))
    assert np.mean(spread) < 0.02  # 0.1 by chance


@pytest.mark.parametrize("classes", [True, False])
def test_folds_of_groups_have_the_same_labels(classes: bool) -> None:
    spread = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 100, 500)
        y = rng.integers(0, 2, 500).astype(float) if classes else rng.normal(size=500)
        folds = deal(y, groups, 5, rng, classes=classes)
        spread.append(np.std([y[folds == fold].mean() for fold in range(5)]) / y.std())
    assert np.mean(spread) < 0.05  # 0.1 by chance


@pytest.mark.parametrize("seed", range(5))
def test_groups_share_folds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.choice(["ann", "bob", "cyd", *map(str, range(40))], 500)
    folds = deal(rng.integers(0, 2, 500), groups, 5, rng, classes=True)
    assert all(len(set(folds[groups == group])) == 1 for group in groups)
    assert set(folds) == set(range(5))
    assert np.bincount(folds).min() > 50


def test_one_large_group_leaves_the_others_a_fold() -> None:
    groups = np.array([0] * 96 + [1, 2, 3, 4])
    folds = deal(np.arange(100) % 2, groups, 5, np.random.default_rng(0), classes=True)
    assert len(set(folds[groups == 0])) == 1
    assert set(folds) == set(range(5))


def test_validation_has_its_share_of_every_class() -> None:
    y = np.repeat([0.0, 1.0, 2.0], [700, 200, 100])
    training, held = hold_out(y, None, 0.1, np.random.default_rng(0), stratify=True)
    assert np.bincount(y[held].astype(int)).tolist() == [70, 20, 10]
    assert sorted([*training, *held]) == list(range(1000))


@pytest.mark.parametrize("n_groups", [2, 3, 5, 8, 50, 1000])
def test_validation_holds_whole_groups(n_groups: int) -> None:
    groups = np.arange(1000) % n_groups
    y = np.zeros(1000)
    training, held = hold_out(y, groups, 0.1, np.random.default_rng(0), stratify=True)
    assert not set(groups[training]) & set(groups[held])
    assert sorted([*training, *held]) == list(range(1000))
    assert len(held) == pytest.approx(max(100, 1000 / n_groups), abs=0.5 * 1000 / n_groups + 1)


def test_too_little_is_not_split() -> None:
    for groups in (None, np.arange(100)):
        training, held = hold_out(np.zeros(100), groups, 0.1, np.random.default_rng(0), stratify=False)
        assert len(training) == 100
        assert not len(held)
    training, held = hold_out(np.zeros(1000), np.zeros(1000), 0.1, np.random.default_rng(0), stratify=False)
    assert not len(held)
