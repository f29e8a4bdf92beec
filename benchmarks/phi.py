"""Speed of phi and its mean, forward and backward together: the native kernel against the torch reference.

One thread, single precision, positions already found, sets of about ten tokens. Time is processor time, so
that what other programs take from a shared machine is not counted.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from clearset.engines import _native_calls as native
from clearset.engines.torch import TokenPositions
from clearset.engines.torch._phi import phi_scores, set_means
from clearset.functions import Layout
from clearset.sets import Positions

N_TOKENS = 500_000
REPEATS = {"native": 31, "reference": 3}
SLOTS_PER_FEATURE = 11
RESULTS = Path(__file__).parent / "results" / "phi.md"


class Case(NamedTuple):
    """One line of the table."""

    n_features: int
    width: int


CASES = (Case(3, 1), Case(6, 1), Case(6, 4), Case(10, 1))


def make_positions(n_features: int, n_tokens: int, rng: np.random.Generator) -> Positions:
    """Draw tokens that are spread evenly over the nine segments of every calibrator."""
    shape = (n_features, n_tokens)
    first_slots = SLOTS_PER_FEATURE * np.arange(n_features)[:, None]
    slots = rng.integers(0, SLOTS_PER_FEATURE - 2, shape) + first_slots
    ends = rng.integers(1, 20, n_tokens).cumsum()
    offsets = np.concatenate([[0], ends[ends < n_tokens], [n_tokens]])
    return Positions(slots.astype(np.int32), rng.random(shape, np.float32), offsets)


def both_ways(case: Case, kernel: str) -> Callable[[], object]:
    """Return what takes the means of all sets and their gradients by the tables."""
    rng = np.random.default_rng(0)
    positions = make_positions(case.n_features, N_TOKENS, rng)
    layout = Layout.full((2,) * case.n_features)
    calibration = rng.random((case.width, SLOTS_PER_FEATURE * case.n_features), np.float32)
    vertices = rng.random((case.width, layout.n_vertices), np.float32)
    upstream = rng.standard_normal((len(positions), case.width), np.float32)
    if kernel == "native":

        def by_native() -> None:
            native.phi_mean(positions, calibration, vertices, layout, 1)
            native.phi_gradients(positions, calibration, vertices, layout, 1, upstream)

        return by_native

    places = (positions.slots, positions.fractions, positions.offsets)
    tokens = TokenPositions(*map(torch.from_numpy, places))
    tables = [torch.from_numpy(table).requires_grad_() for table in (calibration, vertices)]

    def by_autograd() -> None:
        means = set_means(phi_scores(tokens, tables[0], tables[1], layout), tokens.offsets)
        torch.autograd.grad(means, tables, torch.from_numpy(upstream))

    return by_autograd


def million_tokens_per_second(case: Case, kernel: str) -> float:
    """Time forward and backward together; the median of the repeats."""
    apply = both_ways(case, kernel)

    def once() -> float:
        start = time.process_time()
        apply()
        return time.process_time() - start

    once()
    return N_TOKENS / statistics.median(once() for _ in range(REPEATS[kernel])) / 1e6


def cpu_name() -> str:
    """Name the processor as the system does."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    """Print the table and write it down."""
    torch.set_num_threads(1)
    lines = [
        "# phi and its mean, forward and backward together",
        "",
        f"Million tokens per second of processor time on one thread, float32, {N_TOKENS:,} tokens in sets of about 10;",
        "median of the repeats (`python -m benchmarks.phi`).",
        "",
        "| features D | width K | native | reference | ratio |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in CASES:
        native = million_tokens_per_second(case, "native")
        reference = million_tokens_per_second(case, "reference")
        cells = (case.n_features, case.width, f"{native:.1f}", f"{reference:.3f}", f"{native / reference:.0f}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", f"{cpu_name()}; Python {platform.python_version()}, torch {torch.__version__}.", ""]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table)


if __name__ == "__main__":
    main()
