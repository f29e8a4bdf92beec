import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.experiments._token_sets import TokenSets

N = 60
LABELS: dict[str, Callable[[np.random.Generator], Any]] = {
    "number": lambda rng: rng.normal(size=N),
    "two classes": lambda rng: rng.integers(0, 2, N),
    "three classes": lambda rng: rng.choice(["greek", "thai", "irish"], N),
}
SETS = ["log_count", "size", "whole", "items", "tokens"]


def by_hand(
    example: list[str],
    rows: list[list[str]],
    numbers: np.ndarray,
    prior: np.ndarray,
    n_all: int,
    *,
    cover: bool,
    shrinkage: float,
) -> list[list[float]]:
    """The tokens of an example by the rows it may know, with at least two examples each."""
    items = sorted(set(example))
    candidates = [set(token) for size in (1, 2) for token in itertools.combinations(items, size)]
    tokens = []
    for token in candidates:
        holders = [place for place, row in enumerate(rows) if token <= set(row)]
        if holders and len(holders) * n_all >= 2 * len(rows):
            tokens.append((token, holders))
    if cover:
        covered = {item for token, _ in tokens if len(token) == 2 for item in token}
        tokens = [(token, holders) for token, holders in tokens if len(token) == 2 or not token <= covered]
    result = []
    for token, holders in tokens:
        count = len(holders) * n_all / len(rows)
        mean = sum(numbers[place] for place in holders) / len(holders)
        shrunk = (mean * count + shrinkage * prior) / (count + shrinkage)
        whole = float(len(token) == len(items))
        result.append([*shrunk, np.log1p(count), len(token), whole, len(items), len(tokens)])
    return result


def in_order(rows: Any, width: int) -> np.ndarray:
    array = np.asarray(rows, dtype=float).reshape(-1, width)
    return array[np.lexsort(array.round(9).T)]


@pytest.mark.parametrize("cover", [True, False])
@pytest.mark.parametrize("kind", LABELS)
def test_sets_are_those_of_plain_python(kind: str, cover: bool) -> None:
    rng = np.random.default_rng(3)
    rows = [list(rng.choice(list("abcdefgh"), rng.integers(0, 5))) for _ in range(N)]
    rows[7] = ["rare", "other"]
    rows[8] = ["rare"]  # with row 7 passes in the whole table, and from no fold of either
    y = LABELS[kind](rng)
    sets = TokenSets(cs.Subsets(2), [cs.MinCount(2)], cover=cover, n_folds=4, shrinkage=1.5, random_state=5)
    inside = sets.fit_transform(rows, y)
    classes = np.unique(y)
    if kind == "number":
        numbers = y[:, None]
    elif kind == "two classes":
        numbers = (y == classes[1]).astype(float)[:, None]
    else:
        numbers = (y[:, None] == classes).astype(float)
    names = ["P(greek)", "P(irish)", "P(thai)"] if kind == "three classes" else ["mean_label"]
    assert list(inside.feature_names) == [*names, *SETS]
    assert len(inside) == N
    assert np.bincount(sets.folds_).tolist() == [15] * 4
    prior, width = numbers.mean(axis=0), len(names) + len(SETS)
    empty = 0
    for place, row in enumerate(rows):
        outside = np.flatnonzero(sets.folds_ != sets.folds_[place])
        expected = by_hand(row, [rows[p] for p in outside], numbers[outside], prior, N, cover=cover, shrinkage=1.5)
        found = inside[place].values
        assert found.shape == (len(expected), width)
        np.testing.assert_allclose(in_order(found, width), in_order(expected, width), rtol=1e-9)
        empty += not expected
    assert 0 < empty < N / 2

    new = [["a", "b", "c", "new"], [], ["new"], ["rare"], ["a"], ["b", "a"]]
    for row, found in zip(new, map(sets.transform(new).__getitem__, range(len(new))), strict=True):
        expected = by_hand(row, rows, numbers, prior, N, cover=cover, shrinkage=1.5)
        np.testing.assert_allclose(in_order(found.values, width), in_order(expected, width), rtol=1e-9)


def test_a_token_that_passes_only_without_a_fold() -> None:
    """Three of 40 hold it, and two of the 20 outside of the third one's fold: as many as 4 of 40."""
    rows = [["a"]] * 3 + [["b"]] * 37
    y = [1, 0, 1] + [0, 1] * 18 + [0]
    for seed in range(60):
        sets = TokenSets(cs.Items(), [cs.MinCount(4)], cover=False, n_folds=2, shrinkage=0.0, random_state=seed)
        inside = sets.fit_transform(rows, y)
        mine = sets.folds_[:3]
        for place in range(3):
            others = np.flatnonzero(mine != mine[place])
            known = len(others) >= 2
            assert len(inside[place].values) == known
            if known:
                assert inside[place].values[0, 0] == pytest.approx(np.mean([y[p] for p in others]))
                assert inside[place].values[0, 1] == pytest.approx(np.log1p(2 * len(others)))
        assert len(sets.transform([["a"]])[0].values) == 0
        if len(set(mine)) == 2:
            break
    else:
        pytest.fail("no seed parts the three")


def test_the_recipe_of_the_paper() -> None:
    rows = [["salt", "water", "fennel bulb"]] * 17 + [["salt", "water", "sugar"]] * 510
    rows += [["grapefruit juice"]] * 10 + [["lemon olive oil"]] * 2
    y = [1] + [0] * 16 + [1] * 22 + [0] * 488 + [1] * 2 + [0] * 8 + [0] * 2
    sets = TokenSets(cs.Subsets(3), [cs.MinCount(5)], cover=True, shrinkage=0.0, random_state=0)
    sets.fit_transform(rows, y)
    recipe = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]
    found = sets.transform([recipe])
    assert found.feature_names == ("mean_label", *SETS)
    expected = [[0.2, np.log(11), 1, 0, 6, 3], [22 / 510, np.log(511), 3, 0, 6, 3], [1 / 17, np.log(18), 3, 0, 6, 3]]
    np.testing.assert_allclose(in_order(found.values, 6), in_order(expected, 6), rtol=1e-12)
    assert (sets.transform([["salt", "water", "sugar"]]).values[0, 2:] == [3, 1, 3, 1]).all()


def test_whole_numbers_may_be_a_number() -> None:
    sets = TokenSets(cs.Items(), cover=False, n_folds=2, task="number", random_state=0)
    assert sets.fit_transform([["a"]] * 4, [80, 81, 90, 95]).feature_names == ("mean_label", *SETS)


def test_the_seed_deals_the_folds() -> None:
    rng = np.random.default_rng(0)
    rows, y = [[str(item)] for item in rng.integers(0, 5, N)], rng.integers(0, 2, N)
    first, again, other = (TokenSets(cs.Items(), cover=True, random_state=seed) for seed in (1, 1, 2))
    values = [sets.fit_transform(rows, y).values for sets in (first, again, other)]
    np.testing.assert_array_equal(values[0], values[1])
    assert (first.folds_ != other.folds_).any()


def test_sets_train_any_model_of_sets() -> None:
    rng = np.random.default_rng(1)
    rows = [list(rng.choice(list("abcde"), 2, replace=False)) for _ in range(N)]
    y = np.array(["a" in row for row in rows])
    sets = TokenSets(cs.Subsets(2), cover=False, random_state=0)
    model = cs.SetClassifier([cs.Feature("mean_label", monotonic="increasing"), "log_count"], random_state=0)
    model.fit(sets.fit_transform(rows, y), y)
    assert model.score(sets.transform(rows), y) > 0.9
