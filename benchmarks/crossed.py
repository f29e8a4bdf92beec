"""Speed of crossed phi and its mean: one set function for many classes, the native kernel against the reference.

One thread, single precision, six features, mini-batches of 300 sets out of one data set, rows of values at
random. Time is processor time, so that what other programs take from a shared machine is not counted.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.phi import cpu_name
from clearset.engines import _native_calls as native
from clearset.engines.torch import as_tensors
from clearset.engines.torch._phi import crossed_scores, set_means
from clearset.sets import CrossedPositions

N_SETS = 28_000
N_ROWS = 1_500_000
N_CORRECTIONS = 6_663
BATCH = 300
N_BATCHES = {"native": N_SETS // BATCH, "reference": 2}
REPEATS = {"native": 5, "reference": 3}
N_FEATURES, N_KEYPOINTS, SLOTS_PER_FEATURE = 6, 15, 11
RESULTS = Path(__file__).parent / "results" / "crossed.md"

Array = npt.NDArray[Any]


class Case(NamedTuple):
    """One line of the table."""

    n_classes: int
    width: int
    refines: bool


CASES = tuple(Case(*sizes, refines) for sizes in ((20, 1), (20, 4), (1, 1)) for refines in (False, True))


def make_positions(n_classes: int) -> CrossedPositions:
    """Draw sets of about 143 tokens, some of them with thousands."""
    rng = np.random.default_rng(0)
    sizes = rng.lognormal(4.3, 1.15, N_SETS).astype(np.int64).clip(1, 3446)
    offsets = np.concatenate([[0], sizes.cumsum()])
    n_tokens = int(offsets[-1])
    shape = (N_FEATURES - 1, n_tokens)
    first_slots = N_KEYPOINTS + 1 + SLOTS_PER_FEATURE * np.arange(N_FEATURES - 1)[:, None]
    slots = rng.integers(0, SLOTS_PER_FEATURE - 2, shape) + first_slots
    corrected = np.where(rng.random(n_tokens) < 0.8, -1, rng.integers(0, N_CORRECTIONS, n_tokens))
    return CrossedPositions(
        slots.astype(np.int32),
        rng.random(shape, np.float32),
        offsets,
        rng.integers(0, N_ROWS, n_tokens).astype(np.int32),
        corrected.astype(np.int32),
        rng.standard_normal((N_ROWS, n_classes), np.float32),
        np.linspace(-2.5, 2.5, N_KEYPOINTS, dtype=np.float32),
    )


class Rates(NamedTuple):
    """Million token-class pairs per second."""

    forward: float
    both: float


class Tables(NamedTuple):
    """What the gradients go by."""

    corrections: Array | None
    calibration: Array
    vertices: Array


def make_tables(case: Case, rng: np.random.Generator) -> Tables:
    """Draw tables of a set function."""
    n_slots = N_KEYPOINTS + 1 + SLOTS_PER_FEATURE * (N_FEATURES - 1)
    return Tables(
        np.zeros((N_CORRECTIONS, case.n_classes), np.float32) if case.refines else None,
        rng.random((case.width, n_slots), np.float32),
        rng.random((case.width, 2**N_FEATURES), np.float32),
    )


def million_pairs_per_second(case: Case, kernel: str, positions: CrossedPositions) -> Rates:
    """Time mini-batches, forward alone and forward and backward together; the medians of the repeats."""
    rng = np.random.default_rng(1)
    tables = make_tables(case, rng)
    upstream = rng.standard_normal((BATCH, case.n_classes, case.width), np.float32)
    order = rng.permutation(N_SETS)
    batches = [order[i * BATCH : (i + 1) * BATCH] for i in range(N_BATCHES[kernel])]
    n_tokens = int(np.diff(positions.offsets)[np.concatenate(batches)].sum())
    forward, both = (by_native if kernel == "native" else by_autograd)(positions, tables, upstream)

    def once() -> tuple[float, float]:
        start = time.process_time()
        for sets in batches:
            forward(sets)
        middle = time.process_time()
        for sets in batches:
            both(sets)
        return middle - start, time.process_time() - middle

    once()
    times = [once() for _ in range(REPEATS[kernel])]
    medians = [statistics.median(part) for part in zip(*times, strict=True)]
    return Rates(*(n_tokens * case.n_classes / seconds / 1e6 for seconds in medians))


def by_native(
    positions: CrossedPositions, tables: Tables, upstream: Array
) -> tuple[Callable[[Array], object], Callable[[Array], object]]:
    """Return what takes the means of a batch, and what takes them and their gradients."""

    def forward(sets: Array) -> None:
        native.crossed_mean(positions, sets, *tables, 1)

    def both(sets: Array) -> None:
        forward(sets)
        native.crossed_gradients(positions, sets, *tables, 1, upstream)

    return forward, both


def by_autograd(
    positions: CrossedPositions, tables: Tables, upstream: Array
) -> tuple[Callable[[Array], object], Callable[[Array], object]]:
    """Return the same in torch; taking the batch out of the data is a part of it."""
    leaves = [torch.from_numpy(table).requires_grad_() for table in tables if table is not None]
    corrections = leaves[0] if tables.corrections is not None else None
    calibration, vertices = leaves[-2:]

    def means(sets: Array) -> torch.Tensor:
        tokens: Any = as_tensors(positions.take(sets))
        scores = crossed_scores(tokens, calibration, vertices, corrections)
        return set_means(scores, tokens.offsets)

    def forward(sets: Array) -> None:
        with torch.no_grad():
            means(sets)

    def both(sets: Array) -> None:
        torch.autograd.grad(means(sets), leaves, torch.from_numpy(upstream))

    return forward, both


def main() -> None:
    """Print the table and write it down."""
    torch.set_num_threads(1)
    positions = {n_classes: make_positions(n_classes) for n_classes in {case.n_classes for case in CASES}}
    n_tokens = positions[1].n_tokens
    lines = [
        "# Crossed phi and its mean",
        "",
        f"Million token-class pairs per second of processor time on one thread, float32, {N_FEATURES} features,",
        f"{N_KEYPOINTS} keypoints, mini-batches of {BATCH} sets out of {N_SETS:,} with {n_tokens:,} tokens,",
        f"values at random out of {N_ROWS:,} rows; with corrections, a fifth of the tokens has one. Medians of the",
        "repeats (`python -m benchmarks.crossed`).",
        "",
        "| classes C | width K | corrections | native, forward | native, both ways | million tokens/s, both ways "
        "| reference, both ways | ratio |",
        "| ---: | ---: | :--- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in CASES:
        native = million_pairs_per_second(case, "native", positions[case.n_classes])
        reference = million_pairs_per_second(case, "reference", positions[case.n_classes])
        cells = (
            case.n_classes,
            case.width,
            "yes" if case.refines else "no",
            f"{native.forward:.0f}",
            f"{native.both:.0f}",
            f"{native.both / case.n_classes:.1f}",
            f"{reference.both:.2f}",
            f"{native.both / reference.both:.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", f"{cpu_name()}; Python {platform.python_version()}, torch {torch.__version__}.", ""]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table)


if __name__ == "__main__":
    main()
