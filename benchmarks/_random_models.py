"""Models of all forms with random parameters, and random sets for them: what exported models are compared on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.exceptions import ConvergenceWarning

import clearset as cs

N_SETS = 10_000
STORES = ["flagship", "flea market", 'the "online" one', "Zürich 日本"]
ITEMS = [f"item {number}" for number in range(40)] + [
    "it's",
    'a "quote"',
    "ünïcode 日本",
    "semi;colon --",
    "100%",
    "back\\slash",
]


class Case(NamedTuple):
    """A model with random parameters, and sets for it."""

    name: str
    model: Any  # SetModel or SemanticModel
    sets: Any  # what it reads, as plain Python lists


def quick(kind: Any, *features: Any, **options: Any) -> Any:
    """Return an estimator that is trained for one epoch: parameters are made random afterwards."""
    warnings.filterwarnings("ignore", "Training used all", ConvergenceWarning)
    return kind(*features, **options, epochs=1, early_stopping=False, random_state=0, n_jobs=1)


def random_sets(rng: np.random.Generator, n: int, largest: int = 6) -> dict[str, list[Any]]:
    """Make sets of numbers and categories; some values are missing or unknown, and some sets are empty."""
    sizes = rng.integers(0, largest + 1, n)
    sizes[0] = 2
    edges = np.concatenate([[0], np.cumsum(sizes)])

    def lists(values: npt.NDArray[Any], missing: float = 0.1) -> list[Any]:
        held = values.astype(object)
        held[rng.random(len(held)) < missing] = None
        return [held[start:stop].tolist() for start, stop in pairwise(edges)]

    total = int(edges[-1])
    prices = np.round(rng.gamma(2.0, 10.0, n), 3).astype(object)
    prices[rng.random(n) < 0.1] = None
    return {
        "stars": lists(rng.integers(0, 7, total).astype(float)),
        "words": lists(rng.gamma(2.0, 30.0, total)),
        "store": lists(rng.choice([*STORES, "never seen"], total, p=[0.3, 0.3, 0.2, 0.15, 0.05])),
        "aisle": lists(rng.integers(0, 5, total)),
        "price": prices.tolist(),
    }


def random_items(rng: np.random.Generator, n: int, largest: int = 8) -> list[list[str]]:
    """Make sets of items; some of the items are unknown or repeated, and some sets are empty."""
    sizes = rng.integers(0, largest + 1, n)
    known = np.array([*ITEMS, "never seen", "nor this"])
    odds = 1.0 / np.arange(1, len(known) + 1) ** 0.7
    drawn = rng.choice(known, int(sizes.sum()), p=odds / odds.sum())
    edges = np.concatenate([[0], np.cumsum(sizes)])
    return [drawn[start:stop].tolist() for start, stop in pairwise(edges)]


def randomised(model: Any, rng: np.random.Generator) -> Any:
    """Return a model with random parameters; rho rises, as it always does."""
    function = model.function.copy()
    for name, table in function.tables.items():
        low, high = (0.0, 1.0) if name.endswith(("calibration", "calibrators")) else (-1.0, 1.0)
        scale = 3.0 if name == "rho.output" else 1.0
        table[:] = scale * rng.uniform(low, high, table.shape)
    for rising in (function.rho_calibrators, function.rho_output):
        rising.sort(axis=1)
    cube = function.rho_vertices.reshape(-1, *(2,) * function.width)
    for axis in range(1, cube.ndim):
        cube.sort(axis=axis)
    support, alone = None, getattr(model, "sets_of_one", False)
    if function.support is not None:
        base = rng.uniform(-0.3, 0.3, function.support.base.shape)
        support = replace(function.support, base=base, tokens=1 if alone else int(rng.integers(1, 5)))
    return replace(model, function=replace(function, support=support))


def value_cases(n: int = N_SETS) -> Iterator[Case]:
    """Yield models over sets of numbers and categories."""
    rng = np.random.default_rng(0)
    training, n_train = random_sets(rng, 300), 300
    table = as_table(training)
    number, counts = rng.normal(1000.0, 50.0, n_train), rng.poisson(3.0, n_train)
    two, three = rng.choice(["no", "yes"], n_train), rng.choice(["a", "b", "c"], n_train)
    store, aisle = cs.Feature("store", kind="categorical"), cs.Feature("aisle", kind="categorical")
    every = ["stars", "words", store, "price", cs.SIZE]
    forms: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
        "a number": (cs.SetRegressor, every, number, {}),
        "one feature": (cs.SetRegressor, ["words"], number, {}),
        "width 2": (cs.SetRegressor, every, number, {"width": 2}),
        "width 4, two classes": (cs.SetClassifier, every, two, {"width": 4}),
        "counts": (cs.SetRegressor, ["stars", "words", aisle], counts, {"loss": "poisson"}),
        "two classes": (cs.SetClassifier, [store, "stars", cs.SIZE], two, {}),
        "three classes": (cs.SetClassifier, every, three, {}),
        "three classes, width 3": (cs.SetClassifier, ["stars", store, aisle], three, {"width": 3}),
        "three margins": (cs.SetClassifier, every, three, {"loss": "hinge"}),
        "lattices of 3 and 4": (
            cs.SetRegressor,
            [cs.Feature("stars", lattice_size=4), cs.Feature("words", lattice_size=3), store],
            number,
            {},
        ),
        "ensemble, width 2": (
            cs.SetRegressor,
            ["stars", "words", store, aisle, "price", cs.SIZE],
            number,
            {"lattices": "ensemble", "width": 2, "lattice_size": 3},
        ),
        "ensemble, three classes": (
            cs.SetClassifier,
            ["stars", "words", store, aisle, "price", cs.SIZE],
            three,
            {"lattices": "ensemble"},
        ),
    }
    for name, (kind, features, labels, options) in forms.items():
        width = options.pop("width", 1)
        model = quick(kind, features, width, **options).fit(table, labels).as_model()
        yield Case(name, randomised(model, rng), random_sets(rng, n))
    rows = {name: [values[0] if values else None for values in training[name]] for name in ("stars", "words", "store")}
    plain = quick(cs.SetRegressor, ["stars", "words", store]).fit(pa.table(rows), number).as_model()
    drawn = random_sets(rng, n)
    rows = {name: [values[0] if values else None for values in drawn[name]] for name in rows}
    yield Case("rows of a plain table", randomised(plain, rng), rows)


def item_cases(n: int = N_SETS) -> Iterator[Case]:
    """Yield models over sets of strings, texts and pairs of sets."""
    rng = np.random.default_rng(1)
    X = random_items(rng, 600)
    number, counts = rng.normal(90.0, 3.0, 600), rng.poisson(4.0, 600)
    two, twelve = rng.choice(["no", "yes"], 600), rng.choice([f"class {k}" for k in range(12)], 600)
    texts = [" ".join(row).upper() + ", ÉTÉ! 10%" for row in X]
    pairs = [(row[:3], row[3:]) for row in X]
    every = ["log_odds", "count", "size", "interval", "entropy", "lift", "whole", "items", "tokens"]
    forms: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
        "single items": (cs.SemanticRegressor, X, number, {"tokens": cs.Items(), "refine": False}),
        "single items, refined": (cs.SemanticClassifier, X, two, {"tokens": cs.Items(), "refine": True}),
        "single items, twelve classes": (cs.SemanticClassifier, X, twelve, {"tokens": cs.Items(), "refine": True}),
        "a share for each class": (
            cs.SemanticClassifier,
            X,
            twelve,
            {"tokens": cs.Items(), "loss": "binary_log_loss", "refine": False},
        ),
        "single items, counts": (
            cs.SemanticFeatureEngine,
            X,
            counts,
            {"tokens": cs.Items(), "loss": "poisson", "refine": False},
        ),
        "subsets of 3, cover, width 2": (
            cs.SemanticClassifier,
            X,
            two,
            {"tokens": cs.Subsets(3), "cover": True, "refine": 2, "width": 2},
        ),
        "subsets of 2, no cover, every feature": (
            cs.SemanticClassifier,
            X,
            two,
            {"tokens": cs.Subsets(2), "cover": False, "features": every, "refine": False},
        ),
        "subsets of 2, twelve classes, width 4": (
            cs.SemanticClassifier,
            X,
            twelve,
            {"tokens": cs.Subsets(2), "cover": True, "refine": True, "width": 4},
        ),
        "texts": (cs.SemanticRegressor, texts, number, {"tokens": cs.NGrams(3), "cover": True, "refine": True}),
        "crosses": (cs.SemanticRegressor, pairs, number, {"tokens": cs.Cross(), "cover": True, "refine": False}),
        "differences": (
            cs.SemanticClassifier,
            pairs,
            two,
            {"tokens": cs.Difference(max_size=2), "cover": False, "refine": False},
        ),
    }
    for name, (kind, data, labels, options) in forms.items():
        model = quick(kind, filters=[cs.MinCount(2)], **options).fit(data, labels).as_model()
        drawn: Any = random_items(rng, n)
        if data is texts:
            drawn = [" ".join(row) + " Été!" if row else "" for row in drawn]
        elif data is pairs:
            drawn = [(row[:3], row[3:]) for row in drawn]
        yield Case(name, randomised(model, rng), drawn)


def as_table(sets: dict[str, list[Any]]) -> pa.Table:
    """Return sets of numbers and categories as Python models read them."""
    types = {"stars": pa.float64(), "words": pa.float64(), "store": pa.string(), "aisle": pa.int64()}
    listed = any(isinstance(value, list) for value in next(iter(sets.values())))
    return pa.table(
        {
            name: pa.array(values, pa.list_(types[name]) if listed and name in types else types.get(name, pa.float64()))
            for name, values in sets.items()
        }
    )


def expected(case: Case) -> npt.NDArray[np.float64]:
    """Return what Python estimates, as `Scorer.estimates` returns it: ``(B, 1)`` or ``(B, classes)``."""
    X = as_table(case.sets) if isinstance(case.sets, dict) else case.sets
    return np.asarray(case.model.link.estimates(case.model.read(X).outputs()))
