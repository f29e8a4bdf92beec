"""What is measured: which data, which contenders, which settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from benchmarks.peers._environments import OURS

Part = Literal["numeric", "items", "predict", "growth"]
PARTS: tuple[Part, ...] = ("numeric", "items", "predict", "growth")
ON_NUMBERS = (OURS, "lattice", "lattice-cut", "deep-sets")
ON_ITEMS = (OURS, "logistic", "lightgbm", "ebm")


class Data(NamedTuple):
    """Data to generate: the number of sets, and that of features or classes."""

    kind: Literal["numeric", "items"]
    n_sets: int
    n: int


@dataclass(frozen=True)
class Case:
    """A measurement that some contenders take part in.

    `series` names those that differ in size only; who was too slow for one of them is not asked for a larger one. Of
    growth it is the name of the curve, and `at` the place on it.
    """

    part: Part
    title: str
    data: Data
    contenders: tuple[str, ...]
    job: dict[str, Any]
    series: str = ""
    at: int = 0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    numeric_sets: int
    batch_sizes: tuple[int, ...]
    epochs: int
    item_sets: tuple[int, ...]
    small_sets: int
    growth_sets: tuple[int, ...]
    features: tuple[int, ...]
    widths: tuple[int, ...]
    classes: tuple[int, ...]


FULL = Sizes(
    numeric_sets=100_000,
    batch_sizes=(256, 4096),
    epochs=20,
    item_sets=(1_000, 15_000, 100_000, 1_000_000),
    small_sets=10_000,
    growth_sets=(1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    features=(2, 4, 6, 8, 10),
    widths=(1, 2, 4, 8),
    classes=(2, 5, 10, 20, 50),
)
QUICK = Sizes(
    numeric_sets=2_000,
    batch_sizes=(4096,),
    epochs=4,
    item_sets=(500, 1_000),
    small_sets=1_000,
    growth_sets=(1_000, 4_000),
    features=(2, 6),
    widths=(1, 2),
    classes=(2, 5),
)


def cases(sizes: Sizes) -> Iterator[Case]:
    """List all cases, the smaller of a series first, and those that take longest at the end."""
    yield from _numeric(sizes)
    yield from _predict(sizes)
    yield from _growth(sizes)
    yield from _items(sizes)


def _job(width: int = 1, batch_size: int = 4096, threads: int = 1, epochs: int = 1) -> dict[str, Any]:
    return {"measure": "fit", "width": width, "batch_size": batch_size, "threads": threads, "epochs": epochs}


def _numeric(sizes: Sizes) -> Iterator[Case]:
    for n_features, width in ((6, 1), (6, 4), (10, 1)):
        for batch_size in sizes.batch_sizes:
            yield Case(
                "numeric",
                f"D={n_features} K={width}, batch {batch_size}",
                Data("numeric", sizes.numeric_sets, n_features),
                ON_NUMBERS if width == 1 else ON_NUMBERS[:3],
                _job(width, batch_size, epochs=sizes.epochs),
            )


def _items(sizes: Sizes) -> Iterator[Case]:
    for n_sets in sizes.item_sets:
        for n_classes in (2, 20):
            yield Case(
                "items",
                f"{n_sets:,} sets, {n_classes} classes",
                Data("items", n_sets, n_classes),
                ON_ITEMS,
                {"measure": "fit", "classes": n_classes, "threads": 2},
                series=f"{n_classes} classes",
                at=n_sets,
            )


def _predict(sizes: Sizes) -> Iterator[Case]:
    yield Case(
        "predict",
        "numeric tokens, D=6 K=1",
        Data("numeric", sizes.numeric_sets, 6),
        (OURS, "lattice", "deep-sets"),
        _job() | {"measure": "predict"},
    )
    yield Case(
        "predict",
        "10 strings, 2 classes",
        Data("items", 1_000, 2),
        (OURS, "logistic", "lightgbm"),
        {"measure": "predict", "classes": 2, "threads": 1},
    )


def _growth(sizes: Sizes) -> Iterator[Case]:
    few = max(1, sizes.epochs // 2)
    curves: list[tuple[str, int, Data, dict[str, Any]]] = [
        ("tokens", 10 * n, Data("numeric", n, 6), _job(epochs=few)) for n in sizes.growth_sets
    ]
    some = sizes.small_sets
    curves += [("features D", n, Data("numeric", some, n), _job(epochs=sizes.epochs)) for n in sizes.features]
    curves += [("width K", n, Data("numeric", some, 6), _job(n, epochs=sizes.epochs)) for n in sizes.widths]
    curves += [
        ("classes", n, Data("items", some, n), {"measure": "fit", "classes": n, "threads": 2}) for n in sizes.classes
    ]
    for threads in sorted({1, 2, os.cpu_count() or 1}):
        numeric = Data("numeric", sizes.numeric_sets, 6)
        curves.append(("threads, numeric", threads, numeric, _job(threads=threads, epochs=sizes.epochs)))
    for threads in sorted({1, 2, os.cpu_count() or 1}):
        job = {"measure": "fit", "classes": 2, "threads": threads}
        curves.append(("threads, items", threads, Data("items", sizes.item_sets[1], 2), job))
    for series, at, data, job in curves:
        yield Case("growth", f"{series} {at:,}", data, (OURS,), job, series, at)
