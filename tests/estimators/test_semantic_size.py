"""Inputs of size: they work, or a clear error names the limit."""

import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.tokens import TokenLimitError

from .items import engine, labels, sets

MEGABYTE = 2**20


def huge_set(n: int = 2000) -> list[str]:
    return [f"thing {i}" for i in range(n)]


def test_a_set_of_two_thousand_items_among_small_ones() -> None:
    """Its 1.3 billion subsets occur once only, so that a filter keeps them out."""
    X = [*sets(300), huge_set()]
    y = [*labels(sets(300)).tolist(), 1]
    model = engine(tokens=cs.Subsets(3), filters=[cs.MinCount(2)], epochs=1).fit(X, y)
    assert len(model.token_table_) < 1000
    assert np.isfinite(model.transform([huge_set(), huge_set(5000)])).all()


def test_without_a_filter_an_error_names_the_limit() -> None:
    X = [*sets(50), huge_set()]
    with pytest.raises(TokenLimitError, match="MinCount"):
        engine(tokens=cs.Subsets(3), epochs=1).fit(X, [*labels(sets(50)).tolist(), 1])


def test_a_known_set_of_two_thousand_items() -> None:
    """All of its items are in the table, so that all of them are found."""
    items = huge_set()
    X = [[items[i]] for i in range(2000)] * 2
    model = engine(tokens=cs.Subsets(3), epochs=1).fit(X, np.arange(4000) % 2)
    assert len(model.token_table_) == 2000
    estimated = model.transform([items, items[::-1], items[:1000]])
    assert estimated[0] == estimated[1]


def test_a_text_of_a_megabyte() -> None:
    text = "lorem ipsum dolor sit amet " * (MEGABYTE // 27)
    X = ["lorem dolor", "ipsum sit", "amet", "dolor sit amet"] * 25 + [text]
    y = [1, 0, 0, 1] * 25 + [1]
    model = engine(tokens=cs.NGrams(3), epochs=1).fit(X, y)
    assert model.token_table_.lookup(("lorem", "ipsum", "dolor")).count == 1
    one, two = model.transform([text, "lorem ipsum dolor sit amet lorem ipsum dolor"])
    assert np.isfinite(one)
    assert np.isfinite(two)


def test_a_megabyte_in_one_item() -> None:
    long = "x" * MEGABYTE
    model = engine(epochs=1).fit([["a"], [long], ["b", long]] * 20, [0, 1, 1] * 20)
    estimated = model.transform([[long], ["a"], [long + "x"]])[:, 0]
    assert estimated[0] > estimated[1]


def test_three_hundred_thousand_distinct_items() -> None:
    """Every item occurs twice, in 60,000 sets of 10."""
    rng = np.random.default_rng(0)
    numbers = rng.permutation(np.repeat(np.arange(300_000), 2))
    X = pa.ListArray.from_arrays(
        pa.array(np.arange(0, 600_001, 10), pa.int32()), pa.array(numbers.astype(str).astype(object))
    )
    y = rng.integers(0, 2, 60_000)
    tracemalloc.start()
    options: dict[str, Any] = {"cross_fit": 3, "epochs": 1, "early_stopping": False, "refine": True}
    model = engine(**options).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(model.token_table_) == 300_000
    # A row of numbers for each token and fold, and a position for each occurrence: far below tokens x examples.
    assert peak < 600 * MEGABYTE
    assert model.transform(X.slice(0, 100)).shape == (100, 1)


def test_many_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 150, 3000)
    X = [[f"sign of {label % 150}", str(rng.integers(20))] for label in y]
    model = cs.SemanticClassifier(tokens=cs.Items(), refine=False, epochs=5, random_state=0, n_jobs=1).fit(
        X, y.astype(str)
    )
    assert model.predict_proba(X[:5]).shape == (5, 150)
    assert model.score(X, y.astype(str)) > 0.95
    assert model.predict_top(X, 3).shape == (3000, 3)
