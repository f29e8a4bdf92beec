"""Models as ONNX: equal to Python on 10,000 random sets for every option, and how fast and how large they are."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from tests.export.onnx_runs import Written, differences

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_recipes

N = 10_000
TRAINED_ON = 400
QUICK: dict[str, Any] = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
STORES = ["flagship", "market", "online"]
ITEMS = [f"item {number}" for number in range(40)]
STORE = cs.Feature("store", kind="categorical")
FEATURES = ["stars", "words", STORE, "price", cs.SIZE]
ALL = ["log_odds", "count", "size", "interval", "whole", "items", "tokens"]
LOSSES = ("absolute_error", "quantile", "poisson")
ENOUGH = 1e-5


class Case(NamedTuple):
    """A model, and sets for it."""

    name: str
    model: Any
    X: Any


def sets(rng: np.random.Generator, n: int, known: bool) -> pa.Table:
    """Make sets, some empty, with missing values; where they need not be known, with others than in training."""
    sizes = rng.integers(0, 9, n)
    stores = [*STORES, None] if known else [*STORES, None, "kiosk"]
    spread = 30.0 if known else 60.0

    def lists(values: list[Any]) -> list[list[Any]]:
        ends = np.cumsum(sizes)
        return [values[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]

    def missing(values: np.ndarray[Any, Any]) -> list[Any]:
        gone = rng.random(len(values)) < 0.1
        return [None if absent else value for value, absent in zip(values.tolist(), gone, strict=True)]

    total = int(sizes.sum())
    return pa.table(
        {
            "stars": pa.array(lists(missing(rng.integers(1, 6, total).astype(float))), pa.list_(pa.float64())),
            "words": pa.array(lists(missing(rng.gamma(2.0, spread, total))), pa.list_(pa.float64())),
            "store": pa.array(lists([stores[k] for k in rng.integers(0, len(stores), total)]), pa.list_(pa.string())),
            "price": pa.array(missing(rng.gamma(2.0, 10.0, n)), pa.float64()),
        }
    )


def baskets(rng: np.random.Generator, n: int, known: bool) -> list[list[str]]:
    """Make sets of items, some empty, with repeats."""
    names = np.array(ITEMS if known else [*ITEMS, "unknown", "another"])
    return [rng.choice(names, size).tolist() for size in rng.integers(0, 9, n)]


def randomised(model: Any, rng: np.random.Generator) -> Any:
    """Make all parameters random within their ranges, and draw small sets to a base."""
    model = model.as_model()
    for name, table in model.function.tables.items():
        low, high = (0.0, 1.0) if name.endswith(("calibration", "calibrators")) else (-1.0, 1.0)
        table[:] = (3.0 if name == "rho.output" else 1.0) * rng.uniform(low, high, table.shape)
    if model.semantic and model.table.corrections is not None:
        amounts = model.table.corrections.amounts
        amounts[:] = rng.normal(0.0, 0.5, amounts.shape)
    if model.tells_features_apart:  # sets of one token are never small
        return model
    return replace(model, function=replace(model.function, support=replace(model.support, tokens=3)))


def of_sets(rng: np.random.Generator) -> Iterator[Case]:
    """Fit models over numbers and categories with every option."""
    X, number = sets(rng, TRAINED_ON, True), rng.normal(size=TRAINED_ON)
    classes = {n: rng.permutation(np.arange(TRAINED_ON) % n) for n in (2, 3, 20)}
    options: list[tuple[str, Any, Any, dict[str, Any]]] = [
        *((f"width {width}", cs.SetRegressor, number, {"width": width}) for width in (1, 2, 3, 5, 8)),
        ("lattice size 3", cs.SetRegressor, number, {"lattice_size": 3, "width": 2}),
        ("ensemble", cs.SetRegressor, number, {"lattices": "ensemble", "width": 2}),
        *((loss, cs.SetRegressor, np.abs(number), {"loss": loss}) for loss in LOSSES),
        *((f"{n} classes", cs.SetClassifier, y, {}) for n, y in classes.items()),
        ("20 classes, width 2", cs.SetClassifier, classes[20], {"width": 2}),
        ("hinge, 2 classes", cs.SetClassifier, classes[2], {"loss": "hinge"}),
        ("hinge, 3 classes", cs.SetClassifier, classes[3], {"loss": "hinge", "width": 2}),
    ]
    for name, estimator, y, given in options:
        model = randomised(estimator(FEATURES, **given, **QUICK).fit(X, y), rng)
        yield Case(f"sets, {name}", model, sets(rng, N, False))
    editor = cs.SetRegressor(FEATURES, **QUICK).fit(X, number).edit()
    edited = editor.flatten("words", 30.0, 80.0).cap("stars", high=4.0).model
    yield Case("sets, edited", edited, sets(rng, N, False))
    fitted = cs.SetRegressor(FEATURES, random_state=0, n_jobs=1).fit(X, number).as_model()
    yield Case("sets, as fitted", fitted, sets(rng, N, False))
    one = cs.SetRegressor(["price"], 2, **QUICK).fit(X.select(["price"]), number)
    yield Case("a plain table, one feature", randomised(one, rng), sets(rng, N, False).select(["price"]))
    names = [f"x{d}" for d in range(6)]
    table = {name: rng.normal(size=N) for name in names} | {"floor": rng.choice([1.0, 2.0, 5.0, np.nan], N)}
    model = cs.SetClassifier([*names, cs.Feature("floor", kind="categorical")], 2, **QUICK)
    fitted = model.fit(pa.table(table).slice(0, TRAINED_ON), classes[3])
    yield Case("a plain table, 7 features, 3 classes, width 2", randomised(fitted, rng), pa.table(table))


def of_items(rng: np.random.Generator) -> Iterator[Case]:
    """Fit models over strings with every option."""
    X, number = baskets(rng, TRAINED_ON, True), rng.normal(size=TRAINED_ON)
    pairs = list(zip(X, X[::-1], strict=True))
    two, three, many = (np.arange(TRAINED_ON) % n for n in (2, 3, 20))
    own = ["log_odds", "count"]
    options: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("items", cs.SemanticRegressor, number, {"tokens": cs.Items()}),
        ("items, refined", cs.SemanticClassifier, three, {"tokens": cs.Items(), "refine": True}),
        ("subsets of 3, cover", cs.SemanticClassifier, two, {"tokens": cs.Subsets(3), "cover": True}),
        ("subsets of 3, all", cs.SemanticClassifier, three, {"tokens": cs.Subsets(3), "cover": False}),
        ("all subsets, refined", cs.SemanticClassifier, many, {"tokens": cs.Subsets(), "refine": 2, "width": 4}),
        ("3-grams, cover", cs.SemanticRegressor, number, {"tokens": cs.NGrams(3), "cover": True}),
        ("3-grams, all", cs.SemanticClassifier, three, {"tokens": cs.NGrams(3), "cover": False, "width": 2}),
        ("crosses", cs.SemanticClassifier, three, {"tokens": cs.Cross(), "cover": True}),
        ("differences", cs.SemanticRegressor, number, {"tokens": cs.Difference(max_size=2)}),
        ("all features", cs.SemanticClassifier, two, {"tokens": cs.Subsets(2), "features": ALL, "cover": True}),
        ("binary_log_loss", cs.SemanticClassifier, three, {"tokens": cs.Items(), "loss": "binary_log_loss"}),
        ("poisson, an engine", cs.SemanticFeatureEngine, three, {"tokens": cs.Items(), "loss": "poisson"}),
        ("own features", cs.SemanticClassifier, three, {"tokens": cs.Subsets(2), "features": own}),
    ]
    for name, estimator, y, given in options:
        paired = isinstance(given["tokens"], cs.Cross | cs.Difference)
        options_given = {"filters": [cs.MinCount(2)], "refine": False} | given | QUICK
        model = estimator(**options_given).fit(pairs if paired else X, y)
        shown = baskets(rng, N, False)
        both = list(zip(shown, baskets(rng, N, False), strict=True))
        yield Case(f"strings, {name}", randomised(model, rng), both if paired else shown)


def of_recipes() -> Iterator[Case]:
    """Fit a model on recipes, where these are at hand."""
    try:
        training, _, test = load_recipes().split(random_state=0)
    except OSError:
        return
    options: dict[str, Any] = {"tokens": cs.Subsets(3), "filters": [cs.MinCount(5)], "cover": True, "refine": False}
    model = cs.SemanticClassifier(**options, **(QUICK | {"epochs": 2}))
    yield Case("recipes, subsets of 3, cover, 20 classes", model.fit(*training).as_model(), test.X.to_pylist())


def measured(case: Case, path: Path) -> tuple[Any, ...]:
    """Return a row of the table."""
    begun = time.perf_counter()
    case.model.predict(case.X)
    python = time.perf_counter() - begun
    rates, sizes = [], []
    for explanations in (False, True):
        written = Written.of(case.model, path, explanations=explanations)
        sizes.append(path.stat().st_size)
        feeds = written.feeds(case.X)
        begun = time.perf_counter()
        found = written.run(feeds)
        rates.append(len(case.X) / (time.perf_counter() - begun))
    worst = differences(case.model, case.X, found)
    scored = max(worst[name] for name in ("prediction", "probabilities", "margins", "base") if name in worst)
    explained = max(value for name, value in worst.items() if name not in ("prediction", "probabilities", "margins"))
    assert max(scored, explained) < ENOUGH, (case.name, worst)
    shown = [f"{rate:,.0f}" for rate in (len(case.X) / python, *rates)]
    kilobytes = [f"{size / 1000:,.0f}" for size in sizes]
    return (case.name, f"{len(case.X):,}", f"{scored:.0e}", f"{explained:.0e}", *kilobytes, *shown)


def main() -> None:
    """Compare all options."""
    warnings.simplefilter("ignore")
    rng, rows = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as folder:
        for source in (of_sets(rng), of_items(rng), of_recipes()):
            for case in source:
                rows.append(measured(case, Path(folder) / "model.onnx"))
                print(*rows[-1])
    header = ("model", "sets", "predictions", "explanations", "KB", "KB explained")
    write_table(
        "onnx_exports",
        "Models as ONNX",
        """
Random parameters, and random sets with empty ones, missing values, unknown categories and items. Beside the name: the
largest difference from Python, as a share of values above 1, of predictions, probabilities and margins, and of the base
rate, scores and all contributions; the sizes of files, for predictions only and with explanations; sets in a second on
one thread, where Python reads lists or Arrow and ONNX Runtime flat arrays.
""",
        (*header, "Python predict, sets/s", "ONNX, sets/s", "ONNX explained, sets/s"),
        rows,
    )


if __name__ == "__main__":
    main()
