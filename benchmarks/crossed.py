"""Speed of crossed phi and its mean: one set function for many classes, the native kernel against the reference.

One thread, single precision, six features, mini-batches of 300 sets out of one data set, rows of values at
random. Time is processor time, so that what other programs take from a shared machine is not counted.
"""

from __future__ import annotations

import platform
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.phi import cpu_name
from clearset.engines.torch import CrossedInputs, CrossedTokens, crossed_mean
from clearset.functions import Layout

N_SETS = 28_000
N_ROWS = 1_500_000
N_CORRECTIONS = 6_663
BATCH = 300
N_BATCHES = {"native": N_SETS // BATCH, "reference": 2}
REPEATS = {"native": 5, "reference": 3}
N_FEATURES, N_KEYPOINTS, SLOTS_PER_FEATURE = 6, 15, 11
LAYOUT = Layout.full((2,) * N_FEATURES)
RESULTS = Path(__file__).parent / "results" / "crossed.md"


class Case(NamedTuple):
    """One line of the table."""

    n_classes: int
    width: int
    refines: bool


CASES = tuple(Case(*sizes, refines) for sizes in ((20, 1), (20, 4), (1, 1)) for refines in (False, True))


def make_tokens(generator: torch.Generator) -> CrossedTokens:
    """Draw sets of about 143 tokens, some of them with thousands."""
    sizes = torch.empty(N_SETS).log_normal_(4.3, 1.15, generator=generator).long().clamp(1, 3446)
    offsets = torch.cat([torch.tensor([0]), sizes.cumsum(0)])
    n_tokens = int(offsets[-1])
    shape = (N_FEATURES - 1, n_tokens)
    first_slots = N_KEYPOINTS + 1 + SLOTS_PER_FEATURE * torch.arange(N_FEATURES - 1)[:, None]
    slots = torch.randint(0, SLOTS_PER_FEATURE - 2, shape, generator=generator) + first_slots
    corrected = torch.randint(0, N_CORRECTIONS, (n_tokens,), generator=generator)
    plain = torch.rand(n_tokens, generator=generator) < 0.8
    return CrossedTokens(
        slots=slots.to(torch.int32),
        fractions=torch.rand(shape, generator=generator),
        offsets=offsets,
        rows=torch.randint(0, N_ROWS, (n_tokens,), generator=generator).to(torch.int32),
        corrected=corrected.masked_fill(plain, -1).to(torch.int32),
    )


class Rates(NamedTuple):
    """Million token-class pairs per second."""

    forward: float
    both: float


def million_pairs_per_second(case: Case, kernel: str, tokens: CrossedTokens) -> Rates:
    """Time mini-batches, forward alone and forward and backward together; the medians of the repeats."""
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(N_ROWS, case.n_classes, generator=generator)
    corrections = torch.zeros(N_CORRECTIONS, case.n_classes).requires_grad_() if case.refines else None
    keypoints = torch.linspace(-2.5, 2.5, N_KEYPOINTS)
    n_slots = N_KEYPOINTS + 1 + SLOTS_PER_FEATURE * (N_FEATURES - 1)
    calibration = torch.rand(case.width, n_slots, generator=generator).requires_grad_()
    vertices = torch.rand(case.width, LAYOUT.n_vertices, generator=generator).requires_grad_()
    upstream = torch.randn(BATCH, case.n_classes, case.width, generator=generator)
    leaves = [leaf for leaf in (calibration, vertices, corrections) if leaf is not None]
    order = torch.randperm(N_SETS, generator=generator)
    batches = [order[i * BATCH : (i + 1) * BATCH] for i in range(N_BATCHES[kernel])]
    n_tokens = sum(int((tokens.offsets[sets + 1] - tokens.offsets[sets]).sum()) for sets in batches)

    def mean(sets: Tensor) -> Tensor:
        inputs = CrossedInputs(tokens, sets, values, corrections, keypoints, calibration, vertices, LAYOUT)
        return crossed_mean(inputs, kernel=kernel)

    def once() -> tuple[float, float]:
        start = time.process_time()
        with torch.no_grad():
            for sets in batches:
                mean(sets)
        middle = time.process_time()
        for sets in batches:
            torch.autograd.grad(mean(sets), leaves, upstream[: len(sets)])
        return middle - start, time.process_time() - middle

    once()
    times = [once() for _ in range(REPEATS[kernel])]
    medians = [statistics.median(part) for part in zip(*times, strict=True)]
    return Rates(*(n_tokens * case.n_classes / seconds / 1e6 for seconds in medians))


def main() -> None:
    """Print the table and write it down."""
    torch.set_num_threads(1)
    tokens = make_tokens(torch.Generator().manual_seed(0))
    lines = [
        "# Crossed phi and its mean",
        "",
        f"Million token-class pairs per second of processor time on one thread, float32, {N_FEATURES} features,",
        f"{N_KEYPOINTS} keypoints, mini-batches of {BATCH} sets out of {N_SETS:,} with {tokens.n_tokens:,} tokens,",
        f"values at random out of {N_ROWS:,} rows; with corrections, a fifth of the tokens has one. Medians of the",
        "repeats (`python -m benchmarks.crossed`).",
        "",
        "| classes C | width K | corrections | native, forward | native, both ways | million tokens/s, both ways "
        "| reference, both ways | ratio |",
        "| ---: | ---: | :--- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in CASES:
        native = million_pairs_per_second(case, "native", tokens)
        reference = million_pairs_per_second(case, "reference", tokens)
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
