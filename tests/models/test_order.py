"""The order of tokens and of rows, and how many rows are predicted at a time, change no bit of a prediction."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.models.test_contributions import randomise

import clearset as cs

RNG = np.random.default_rng(0)
N = 400
SIZES = np.concatenate([RNG.integers(0, 40, N - 3), [300, 1000, 5000]])
STARS = [RNG.integers(1, 6, size).astype(float) for size in SIZES]
WORDS = [RNG.gamma(2.0, 50.0, size) for size in SIZES]
SHOPS = [RNG.choice(["corner", "market", "mall"], size) for size in SIZES]
PRICE = RNG.random(N)
ITEMS = [f"item {k}" for k in range(80)]
BASKETS = [RNG.choice(ITEMS, RNG.integers(0, 60), replace=False) for _ in range(N)]


def frame(rows: Any, rng: np.random.Generator | None = None) -> pa.Table:
    """Take some sets; with a generator, their tokens in another order."""
    orders = [np.arange(SIZES[row]) if rng is None else rng.permutation(SIZES[row]) for row in rows]
    columns = {"stars": STARS, "words": WORDS, "shop": SHOPS}
    lists = {
        name: [values[row][order].tolist() for row, order in zip(rows, orders, strict=True)]
        for name, values in columns.items()
    }
    types = {"stars": pa.list_(pa.float64()), "words": pa.list_(pa.float64()), "shop": pa.list_(pa.string())}
    return pa.table({name: pa.array(column, types[name]) for name, column in lists.items()} | {"price": PRICE[rows]})


def baskets(rows: Any, rng: np.random.Generator | None = None) -> list[list[str]]:
    return [(BASKETS[row] if rng is None else rng.permutation(BASKETS[row])).tolist() for row in rows]


FEATURES = ["stars", "words", cs.Feature("shop", kind="categorical"), "price", cs.SIZE]
QUICK = {"epochs": 1, "random_state": 0, "n_jobs": 1}
LABELS = {"number": RNG.normal(size=N), "two": RNG.choice(["n", "y"], N), "three": RNG.choice(["a", "b", "c"], N)}
SET_MODELS = {
    "number": lambda: cs.SetRegressor(FEATURES, **QUICK),
    "number, width 3": lambda: cs.SetRegressor(FEATURES, width=3, **QUICK),
    "ensemble": lambda: cs.SetRegressor(FEATURES, lattices="ensemble", lattice_size=3, **QUICK),
    "three classes": lambda: cs.SetClassifier(FEATURES, **QUICK),
}
ITEM_MODELS = {
    "number": lambda: cs.SemanticRegressor(cs.Items(), **QUICK),
    "two classes": lambda: cs.SemanticClassifier(cs.Items(), refine=True, **QUICK),
    "three classes": lambda: cs.SemanticClassifier(cs.Subsets(2), [cs.MinCount(3)], cover=False, width=2, **QUICK),
}


@pytest.mark.parametrize("kind", [*(("sets", name) for name in SET_MODELS), *(("items", name) for name in ITEM_MODELS)])
def test_no_bit_changes(kind: tuple[str, str]) -> None:
    of, name = kind
    make, read = (SET_MODELS, frame) if of == "sets" else (ITEM_MODELS, baskets)
    labels = LABELS[{"number": "number", "two classes": "two", "three classes": "three"}.get(name, "number")]
    model = make[name]().fit(read(np.arange(N)), labels).as_model()
    randomise(model.function, np.random.default_rng(1))
    everything = np.arange(N)
    expected = model.read(read(everything)).outputs()
    rng = np.random.default_rng(2)
    for _ in range(3):
        rows = rng.permutation(N)
        assert np.array_equal(model.read(read(rows, rng)).outputs(), expected[rows])
    for size in (1, 7, 64):
        parts = [model.read(read(everything[start : start + size])).outputs() for start in range(0, N, size)]
        assert np.array_equal(np.concatenate(parts), expected)
