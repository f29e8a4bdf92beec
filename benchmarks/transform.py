"""Speed of `transform`: from raw recipes to estimates of 20 cuisines, subsets up to 3, cover, one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_recipes

REPEATS = 5


def median_seconds(work: Callable[[], object]) -> float:
    """Run once to warm up, then return the median of repeats."""
    work()
    seconds = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def main() -> None:
    """Measure from Arrow and from Python lists, and a frozen model beside them."""
    training, validation, test = load_recipes().split(random_state=0)
    settings: dict[str, Any] = {
        "tokens": cs.Subsets(3),
        "filters": [cs.MinCount(5)],
        "cover": True,
        "width": 1,
        "refine": False,
    }
    engine = cs.SemanticFeatureEngine(**settings, epochs=5, n_jobs=1, random_state=0)
    engine.fit(*training, validation_data=tuple(validation))
    own = cs.SemanticFeatureEngine(
        **settings, features=["log_odds", "count", "size", "entropy"], epochs=5, n_jobs=1, random_state=0
    )
    frozen = own.fit(*training, validation_data=tuple(validation)).freeze()
    lists = test.X.to_pylist()
    found = engine.token_table_.find(engine.token_table_.encode(test.X), threads=1)
    work: dict[str, Callable[[], object]] = {
        "transform, Arrow": lambda: engine.transform(test.X),
        "transform, Python lists": lambda: engine.transform(lists),
        "frozen, Arrow": lambda: frozen.transform(test.X),
        "transform of one recipe": lambda: engine.transform(lists[:1]),
    }
    rows = []
    for name, function in work.items():
        seconds = median_seconds(function)
        n = 1 if "one" in name else len(lists)
        rows.append((name, f"{n / seconds:,.0f}", f"{1e6 * seconds / n:,.1f}"))
    write_table(
        "transform",
        "Speed of transform",
        f"{len(lists):,} recipes with {len(found.tokens) / len(lists):.1f} tokens each of a table of "
        f"{len(engine.token_table_):,}, 20 classes, one thread; medians of {REPEATS}.",
        ("what", "recipes/s", "microseconds a recipe"),
        rows,
    )


if __name__ == "__main__":
    main()
