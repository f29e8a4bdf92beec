"""Speed on an NVIDIA GPU: the kernels of phi, training through `fit`, and a Deep Sets network beside them.

Sets of 1 to 19 tokens, 126 slots, single precision, tokens in the memory of the GPU.
"""

from __future__ import annotations

import itertools
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import clearset as cs
from benchmarks._results import write_table
from clearset.engines.cuda._packed import ROOM, PackedTokens
from clearset.engines.cuda._quick_phi import QuickPhi
from clearset.engines.cuda._structs import Batch

DEVICE = torch.device("cuda")
SETTINGS = ((6, 1), (6, 4), (10, 1))
N_SLOTS = 126
KERNEL_TOKENS = 100_000_000
FIT_TOKENS, FIT_BATCH = 40_000_000, 1_000_000
EPOCHS = {(6, 1): 6000, (6, 4): 1000, (10, 1): 1000}
TEXT = """
Billion tokens per second. Kernels: forward and backward of phi over 100 million tokens in the GPU's memory, median of
9, timed by events; `same bits` says whether two runs agree in every bit. `fit`: what an epoch more takes on 40 million
tokens in steps of a million sets (about ten million tokens), from two fits of different numbers of epochs: reading of
tables, forward, rho, loss, backward, smoothness, Adam, projection and running average. Deep Sets: three layers of 64,
bf16, `torch.compile`, sums over sets, Adam, one step on as many tokens as it is quickest with.
"""


def median_seconds(apply: Callable[[], object], repeats: int = 9) -> float:
    """Time what runs on the GPU."""
    for _ in range(3):
        apply()
    seconds: list[float] = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        apply()
        stop.record()
        torch.cuda.synchronize()
        seconds.append(start.elapsed_time(stop) / 1e3)
    return statistics.median(seconds)


def random_tokens(n_features: int, n_tokens: int) -> tuple[PackedTokens, list[int]]:
    """Draw packed tokens, spread evenly over the segments of every calibrator."""
    random = torch.Generator(DEVICE).manual_seed(0)
    slot_offsets = np.arange(n_features + 1) * N_SLOTS // n_features
    sizes = torch.randint(1, 20, (n_tokens // 9,), device=DEVICE, generator=random)
    ends = torch.cumsum(sizes, 0)
    ends = ends[ends < n_tokens]
    edges = (torch.zeros(1, dtype=torch.int64, device=DEVICE), ends, torch.full((1,), n_tokens, device=DEVICE))
    positions = torch.zeros((n_features, n_tokens // 32 * 32 + ROOM), dtype=torch.int32, device=DEVICE)
    for d, count in enumerate(np.diff(slot_offsets).tolist()):
        slots = torch.randint(0, count - 2, (n_tokens,), device=DEVICE, generator=random)
        fractions = torch.randint(0, 2**23, (n_tokens,), device=DEVICE, generator=random)
        positions[d, :n_tokens] = (slots << 23 | fractions).to(torch.int32)
    return PackedTokens.from_positions(positions, torch.cat(edges)), slot_offsets.tolist()


def kernels(n_features: int, width: int) -> tuple[float, float, float, bool]:
    """Return the rates of forward, backward and both, and whether two runs have the same bits."""
    tokens, slot_offsets = random_tokens(n_features, KERNEL_TOKENS)
    phi = QuickPhi(slot_offsets, width, DEVICE)
    n_sets = len(tokens.offsets) - 1
    random = torch.Generator(DEVICE).manual_seed(1)
    lines = torch.rand((width, phi.n_padded, 2), device=DEVICE, generator=random) / 2
    lattice = torch.rand((width, 2**n_features), device=DEVICE, generator=random) * 2 - 1
    means = torch.empty((n_sets, width), device=DEVICE)
    upstream = torch.randn((n_sets, width), device=DEVICE, generator=random)
    numbers = torch.tensor([0, n_sets, 0, KERNEL_TOKENS, 0, 0, n_sets, n_sets], device=DEVICE)
    batch = Batch(numbers, n_sets)

    def forward() -> None:
        phi.average(tokens, batch, lines, lattice, means)

    def backward() -> None:
        phi.gradients(tokens, batch, lines, lattice, upstream)

    def both() -> None:
        forward()
        backward()

    both()
    first = means.clone(), phi.partial.clone()
    both()
    same = all(torch.equal(a, b) for a, b in zip(first, (means, phi.partial), strict=True))
    forward_rate, backward_rate, rate = (
        KERNEL_TOKENS / median_seconds(each) / 1e9 for each in (forward, backward, both)
    )
    return forward_rate, backward_rate, rate, same


def random_sets(n_features: int) -> tuple[cs.SetData, np.ndarray]:
    """Draw sets, and labels that go with their means."""
    rng = np.random.default_rng(0)
    ends = rng.integers(1, 20, FIT_TOKENS // 9).cumsum()
    offsets = np.concatenate([[0], ends[ends < FIT_TOKENS], [FIT_TOKENS]])
    values = rng.random((FIT_TOKENS, n_features), np.float32).astype(np.float64)
    means = np.add.reduceat(values[:, 0] * values[:, 1], offsets[:-1]) / np.diff(offsets)
    return cs.SetData(values, offsets, [f"x{d}" for d in range(n_features)]), means


def training(n_features: int, width: int, data: tuple[cs.SetData, np.ndarray]) -> tuple[float, float]:
    """Return the rate of another epoch of `fit`, and the seconds of a fit without epochs."""
    sets, labels = data
    # Keypoints and a slot for missing values, 126 together.
    counts = np.diff(np.arange(n_features + 1) * N_SLOTS // n_features) - 1
    features = [cs.Feature(f"x{d}", keypoints=int(count)) for d, count in enumerate(counts)]
    epochs, seconds = EPOCHS[n_features, width], []
    for n_epochs in (1, epochs, 2 * epochs):  # the first one compiles
        options: dict[str, Any] = {"epochs": n_epochs, "batch_size": FIT_BATCH, "early_stopping": False}
        model = cs.SetRegressor(features, width, lattices="full", device="cuda", random_state=0, **options)
        start = time.perf_counter()
        model.fit(sets, labels)
        seconds.append(time.perf_counter() - start)
        print(f"D={n_features} K={width}: {n_epochs} epochs in {seconds[-1]:.2f} s", flush=True)
    marginal = (seconds[2] - seconds[1]) / epochs
    return FIT_TOKENS / marginal / 1e9, 2 * seconds[1] - seconds[2]


class DeepSets(nn.Module):
    """Three layers of 64, a sum over each set, and a line."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        sizes = (n_features, 64, 64, 64)
        layers = [part for a, b in itertools.pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        self.phi, self.rho = nn.Sequential(*layers), nn.Linear(64, 1)

    def forward(self, tokens: Tensor, set_of_token: Tensor, n_sets: int) -> Tensor:
        """Return an output for each set."""
        scores = self.phi(tokens)
        sums = torch.zeros((n_sets, 64), device=tokens.device, dtype=torch.float32)
        outputs: Tensor = self.rho(sums.index_add(0, set_of_token, scores.float()))
        return outputs.squeeze(1)


def deep_sets(n_features: int, n_tokens: int) -> float:
    """Return the rate of training a Deep Sets network."""
    random = torch.Generator(DEVICE).manual_seed(0)
    sizes = torch.randint(1, 20, (n_tokens // 9,), device=DEVICE, generator=random)
    set_of_token = torch.repeat_interleave(torch.arange(len(sizes), device=DEVICE), sizes)[:n_tokens]
    n_sets = int(set_of_token[-1]) + 1
    tokens = torch.rand((n_tokens, n_features), device=DEVICE, generator=random).to(torch.bfloat16)
    labels = torch.rand(n_sets, device=DEVICE, generator=random)
    network = DeepSets(n_features).to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    compiled = torch.compile(network)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            outputs = compiled(tokens, set_of_token, n_sets)
        ((outputs.float() - labels) ** 2).mean().backward()
        optimizer.step()

    return n_tokens / median_seconds(step) / 1e9


def main() -> None:
    """Print the table and write it down."""
    rows: list[tuple[object, ...]] = []
    rates, trained = {}, {}
    for setting in SETTINGS:
        forward, backward, both, same = kernels(*setting)
        rates[setting] = both
        torch.cuda.empty_cache()
        text = f"forward {forward:.1f}, backward {backward:.1f}; same bits: {'yes' if same else 'no'}"
        rows.append(("kernels", *setting, f"{both:.1f}", text))
        print(rows[-1], flush=True)
    network = max(deep_sets(6, n_tokens) for n_tokens in (1_000_000, 4_000_000))
    print("Deep Sets", network, flush=True)
    for n_features in (6, 10):
        data = random_sets(n_features)
        for setting in (each for each in SETTINGS if each[0] == n_features):
            trained[setting], rest = training(*setting, data)
            text = f"{100 * trained[setting] / rates[setting]:.0f}% of the kernels; all else of the fit {rest:.0f} s"
            rows.append(("`fit`", *setting, f"{trained[setting]:.1f}", text))
            print(rows[-1], flush=True)
    text = f"clearset's training, D=6 K=1, is {trained[6, 1] / network:.0f} times as fast"
    rows.append(("Deep Sets, training", 6, "", f"{network:.2f}", text))
    where = f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, {platform.system()}."
    header = ("what", "features D", "width K", "billion tokens per second", "")
    write_table("gpu", "On an NVIDIA GPU", TEXT.strip() + "\n" + where, header, rows)


if __name__ == "__main__":
    main()
