"""Speed of phi and its mean, forward and backward together: the native kernel against the torch reference.

One thread, single precision, positions already found, sets of about ten tokens. Time is processor time, so
that what other programs take from a shared machine is not counted.
"""

from __future__ import annotations

import platform
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import torch

from clearset.engines.torch import TokenPositions, phi_mean
from clearset.functions import Layout

N_TOKENS = 500_000
REPEATS = {"native": 31, "reference": 3}
SLOTS_PER_FEATURE = 11
RESULTS = Path(__file__).parent / "results" / "phi.md"


class Case(NamedTuple):
    """One line of the table."""

    n_features: int
    width: int


CASES = (Case(3, 1), Case(6, 1), Case(6, 4), Case(10, 1))


def make_positions(n_features: int, n_tokens: int, generator: torch.Generator) -> TokenPositions:
    """Draw tokens that are spread evenly over the nine segments of every calibrator."""
    shape = (n_features, n_tokens)
    first_slots = SLOTS_PER_FEATURE * torch.arange(n_features)[:, None]
    slots = torch.randint(0, SLOTS_PER_FEATURE - 2, shape, generator=generator) + first_slots
    ends = torch.randint(1, 20, (n_tokens,), generator=generator).cumsum(0)
    return TokenPositions(
        slots=slots.to(torch.int32),
        fractions=torch.rand(shape, generator=generator),
        offsets=torch.cat([torch.tensor([0]), ends[ends < n_tokens], torch.tensor([n_tokens])]),
    )


def million_tokens_per_second(case: Case, kernel: str) -> float:
    """Time forward and backward together; the median of the repeats."""
    generator = torch.Generator().manual_seed(0)
    positions = make_positions(case.n_features, N_TOKENS, generator)
    layout = Layout.full((2,) * case.n_features)
    n_slots = SLOTS_PER_FEATURE * case.n_features
    calibration = torch.rand(case.width, n_slots, generator=generator).requires_grad_()
    vertices = torch.rand(case.width, layout.n_vertices, generator=generator).requires_grad_()
    upstream = torch.randn(positions.n_sets, case.width, generator=generator)

    def once() -> float:
        start = time.process_time()
        means = phi_mean(positions, calibration, vertices, layout, kernel=kernel)
        torch.autograd.grad(means, (calibration, vertices), upstream)
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
        cells = (
            case.n_features,
            case.width,
            f"{native:.1f}",
            f"{reference:.3f}",
            f"{native / reference:.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", f"{cpu_name()}; Python {platform.python_version()}, torch {torch.__version__}.", ""]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table)


if __name__ == "__main__":
    main()
