"""Fitted models of all kinds with random parameters, each with sets and what Python predicts for them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import clearset as cs

N_SETS = 12
ITEMS = [f"item {letter}" for letter in "abcdefghij"]
STORES = ["flagship", "market", "online"]
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"'><svg/onload=alert(3)>&amp;{{7*7}}",
    "أحمر \u202eevil",
    "a" * 10_000,
    "line\u2028separator",
)
"""Names that are to be shown as text."""


def sets(rng: np.random.Generator, n: int, largest: int = 5) -> pa.Table:
    """Make sets with numbers, categories and missing values among them, some of the sets empty."""
    sizes = rng.integers(0, largest + 1, n)
    sizes[0] = 2

    def column(draw: Any) -> list[list[Any]]:
        return [[None if rng.random() < 0.15 else draw() for _ in range(size)] for size in sizes]

    return pa.table(
        {
            "stars": pa.array(column(lambda: float(rng.integers(1, 6))), pa.list_(pa.float64())),
            "words": pa.array(column(lambda: float(rng.gamma(2.0, 30.0))), pa.list_(pa.float64())),
            "store": pa.array(column(lambda: str(rng.choice(STORES))), pa.list_(pa.string())),
            "price": pa.array([None if rng.random() < 0.1 else float(rng.gamma(2.0, 10.0)) for _ in range(n)]),
        }
    )


def examples(rng: np.random.Generator, n: int) -> list[list[str]]:
    """Make sets of items, some of them empty, some with items that no model knows."""
    rows = [rng.choice(ITEMS, rng.integers(0, 6)).tolist() for _ in range(n)]
    rows[-1] = ["never seen", ITEMS[0], ITEMS[1]]
    return rows


def randomise(model: Any, rng: np.random.Generator) -> None:
    """Write other parameters into a set function, within their ranges."""
    for name, table in model.set_function_.tables.items():
        low, high = (0.0, 1.0) if name.endswith(("calibration", "calibrators")) else (-1.0, 1.0)
        scale = 3.0 if name == "rho.output" else 1.0
        table[:] = scale * rng.uniform(low, high, table.shape)
    table = getattr(model, "token_table_", None)
    if table is not None and table.corrections is not None:
        table.corrections.amounts[:] = rng.normal(0.0, 0.5, table.corrections.amounts.shape)


def of_sets(rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Give models of sets, and sets for them."""
    store = cs.Feature("store", kind="categorical")
    declared: list[list[Any]] = [
        ["stars", "words", store, "price", cs.SIZE],
        ["stars", cs.Feature("words", lattice_size=3), store],
        ["words", cs.SIZE],
        [store],
        [cs.PLACE, "stars", cs.PLACE_FROM_START],
    ]
    training = sets(rng, 60)
    number = rng.normal(1000.0, 50.0, 60)
    labels: list[tuple[Any, Any, dict[str, Any]]] = [
        (cs.SetRegressor, number, {}),
        (cs.SetRegressor, rng.poisson(3.0, 60), {"loss": "poisson"}),
        (cs.SetClassifier, rng.integers(0, 2, 60), {}),
        (cs.SetClassifier, rng.choice(["a", "b", "c"], 60), {}),
        (cs.SetClassifier, rng.integers(0, 3, 60), {"loss": "hinge"}),
    ]
    quick = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
    for place, (kind, y, options) in enumerate(labels):
        for width in (1, 2 + place % 3):
            for features in declared[place % 2 :: 2] if width > 1 else declared:
                lattices = "ensemble" if len(features) > 3 and width > 1 else "auto"
                model = kind(features, width, lattices=lattices, lattice_size=2 + (width > 1), **options, **quick)
                yield model.fit(training, y), sets(rng, N_SETS)


def of_items(rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Give models of items and texts, and examples for them."""
    X = examples(rng, 120)
    two, many = rng.integers(0, 2, 120), rng.choice(["x", "y", "z"], 120)
    number = rng.normal(90.0, 3.0, 120)
    quick = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
    for options in (
        {"tokens": cs.Items(), "refine": True},
        {"tokens": cs.Subsets(3), "filters": [cs.MinCount(2)], "cover": True, "refine": 2},
        {"tokens": cs.Subsets(2), "cover": False, "width": 4, "refine": False},
        {"tokens": cs.NGrams(3), "filters": [cs.MinCount(2)], "cover": True, "refine": False},
    ):
        yield cs.SemanticClassifier(**options, **quick).fit(X, two), examples(rng, N_SETS)
        yield cs.SemanticClassifier(**options, **quick).fit(X, many), examples(rng, N_SETS)
        yield cs.SemanticRegressor(**options, **quick).fit(X, number), examples(rng, N_SETS)
    apart: dict[str, Any] = {"tokens": cs.Items(), "loss": "binary_log_loss", "refine": False}
    yield cs.SemanticClassifier(**apart, **quick).fit(X, many), examples(rng, N_SETS)
    told = ["log_odds", "count", "size", "interval", "entropy", "lift", "whole", "items", "tokens"]
    several: dict[str, Any] = {"tokens": cs.Subsets(2), "features": told, "cover": True, "refine": False}
    yield cs.SemanticClassifier(**several, **quick).fit(X, two), examples(rng, N_SETS)
    counts = rng.poisson(4.0, 120)
    poisson: dict[str, Any] = {"tokens": cs.Items(), "loss": "poisson", "refine": False}
    yield cs.SemanticFeatureEngine(**poisson, **quick).fit(X, counts), examples(rng, N_SETS)
    yield _with_details(rng, X, number, quick)
    pairs = [(row[:2], row[2:]) for row in X]
    cross: dict[str, Any] = {"tokens": cs.Cross(), "cover": True, "refine": False}
    yield cs.SemanticRegressor(**cross, **quick).fit(pairs, number), pairs[:N_SETS]
    own: dict[str, Any] = {"tokens": Neighbours(), "cover": True, "refine": False}
    yield cs.SemanticRegressor(**own, **quick).fit(X, number), examples(rng, N_SETS)
    kinds: dict[str, Any] = {"tokens": cs.Union(cs.Words(), cs.Subsets(2)), "cover": True, "refine": False}
    yield cs.SemanticClassifier(**kinds, **quick).fit(X, many), examples(rng, N_SETS)


class Neighbours:
    """A tokenizer of one's own: items, and pairs of neighbours."""

    def tokens(self, example: list[str]) -> list[Any]:
        return [*example, *pairwise(example)]


def _with_details(rng: np.random.Generator, X: list[list[str]], y: Any, quick: Any) -> tuple[Any, Any]:
    frame = pa.table(
        {
            "cast": pa.array(X, pa.list_(pa.string())),
            "pay": pa.array(
                [[None if rng.random() < 0.2 else float(rng.gamma(2.0)) for _ in row] for row in X],
                pa.list_(pa.float64()),
            ),
        }
    )
    options: dict[str, Any] = {"tokens": cs.Subsets(2), "details": ["pay"], "features": ["mean_label", "pay"]}
    model = cs.SemanticRegressor(**options, refine=False, **quick).fit(frame, y)
    return model, frame.slice(0, N_SETS)


def predictions(model: Any, X: Any) -> np.ndarray:
    """Return what Python predicts, (B, C): a number, or a probability or output for each class."""
    if hasattr(model, "transform"):
        shares = model.transform(X)
        both = hasattr(model, "classes_") and shares.shape[1] == 1
        return np.hstack([1.0 - shares, shares]) if both else shares
    if not hasattr(model, "classes_"):
        return model.predict(X)[:, None]
    return model.decision_function(X) if model.loss_ == "hinge" else model.predict_proba(X)
