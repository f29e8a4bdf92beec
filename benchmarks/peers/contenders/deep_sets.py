"""Deep Sets in torch: three hidden layers of 64 for every token, the mean, three more for the set."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from benchmarks.peers._data import read_numeric
from benchmarks.peers.contenders._batches import cut
from benchmarks.peers.contenders._measure import Job, Result, answer, cpu_of, latency, measured, r2

UNITS = 64
RATE = 0.003


def numeric(job: Job) -> Result:
    """Fit sets of numeric tokens; or measure predictions.

    Values are standardised and batches are cut before the clock runs, and one step has been done.
    """
    begun = time.perf_counter()
    import torch
    from torch import Tensor, nn

    result: Result = {"import": time.perf_counter() - begun}
    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    train, test = read_numeric(job["data"], "train"), read_numeric(job["data"], "test")
    mean, spread = train.values.mean(axis=0), train.values.std(axis=0)
    middle, unit = train.y.mean(), train.y.std()
    train = train._replace(values=(train.values - mean) / spread, y=(train.y - middle) / unit)
    test = test._replace(values=(test.values - mean) / spread)

    def layers(n_in: int) -> list[nn.Module]:
        sizes = (n_in, UNITS, UNITS, UNITS)
        return [layer for before, after in pairwise(sizes) for layer in (nn.Linear(before, after), nn.ReLU())]

    phi = nn.Sequential(*layers(train.n_features))
    rho = nn.Sequential(*layers(UNITS), nn.Linear(UNITS, 1))

    def outputs(values: Tensor, sets: Tensor, n_sets: int) -> Tensor:
        sums = torch.zeros(n_sets, UNITS).index_add_(0, sets, phi(values))
        sizes = torch.bincount(sets, minlength=n_sets)[:, None]
        means: Tensor = rho(sums / sizes)
        return means[:, 0]

    batches = [tuple(map(torch.from_numpy, batch)) for batch in cut(train, job["batch_size"])]
    optimizer = torch.optim.Adam([*phi.parameters(), *rho.parameters()], RATE)
    rng = np.random.default_rng(0)

    def epoch(chosen: list[tuple[Tensor, ...]]) -> None:
        for number in rng.permutation(len(chosen)):
            values, sets, y = chosen[number]
            optimizer.zero_grad()
            loss = torch.mean((outputs(values, sets, len(y)) - y) ** 2)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    epoch(batches[:1])
    if job["measure"] == "predict":
        with torch.inference_mode():
            everything = [tuple(map(torch.from_numpy, batch)) for batch in cut(train, 4096)]
            one = torch.randn(10, train.n_features)
            zeros = torch.zeros(10, dtype=torch.int64)
            result["tokens_per_cpu"] = train.n_tokens / cpu_of(
                lambda: [outputs(values, sets, len(y)) for values, sets, y in everything]
            )
            result |= latency(lambda: outputs(one, zeros, 1))
        return result
    begun = time.perf_counter()
    with measured(result):
        for done in range(1, job["epochs"] + 1):
            epoch(batches)
            result["epochs"] = done
            if time.perf_counter() - begun > job["seconds"]:
                break
    result["tokens_per_cpu"] = train.n_tokens * result["epochs"] / result["cpu"]
    with torch.inference_mode():
        (whole,) = cut(test, len(test.y))
        predicted = outputs(torch.from_numpy(whole.values), torch.from_numpy(whole.sets), len(test.y))
    result["r2"] = r2(test.y, middle + unit * predicted.numpy())
    return result


if __name__ == "__main__":
    answer(numeric, ("torch", "numpy"))
