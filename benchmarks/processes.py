"""Whether 2 and 4 processes learn what one process learns, and how soon they end when one of them is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import clearset as cs
from benchmarks._results import write_table
from clearset.engines import OneProcess, started_by_torchrun

D = 6
SIZES = {"double": 15_000, "single": 200_000}
EPOCHS = 60


def main() -> None:
    """Compare parameters, epochs and predictions, and kill a process."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for precision, n_sets in SIZES.items():
            data = folder / precision
            data.mkdir()
            _write(data, n_sets)
            alone = _fitted(1, data, folder / "1.npz")
            for count in (2, 4):
                together = _fitted(count, data, folder / f"{count}.npz")
                rows.append((f"{n_sets:,} sets, {precision} precision", count, *_compared(alone, together)))
        seconds = _seconds_until_the_others_end(folder / "double", folder / "killed.npz")
    text = f"""
`SetRegressor(random_state=0)` on generated sets of 1 to 19 tokens with {D} features in four Parquet files, sorted by
label, at most {EPOCHS} epochs with early stopping: parameters, losses and predictions of several processes less those
of one. A process of two was killed in the middle of training: the other ended {seconds:.1f} s later, with an error.
"""
    header = (
        "data",
        "processes",
        "epochs (one process)",
        "largest difference of a parameter",
        "of a loss",
        "of a prediction",
    )
    write_table("processes", "Several processes", text, (*header[:-1], f"{header[-1]}, standard deviations"), rows)


def _write(folder: Path, n_sets: int) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 20, n_sets)
    values = rng.normal(size=(D, sizes.sum()))
    scores = np.tanh(values[0]) + 0.5 * np.tanh(values[1]) * values[2]
    label = np.bincount(np.repeat(np.arange(n_sets), sizes), scores) / sizes + 0.3 * rng.normal(size=n_sets)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    lists = {f"x{d}": pa.ListArray.from_arrays(offsets, pa.array(values[d])) for d in range(D)}
    table = pa.table({**lists, "label": label}).take(np.argsort(label))
    for part in range(4):
        rows = slice(part * n_sets // 4, (part + 1) * n_sets // 4)
        pq.write_table(table.slice(rows.start, rows.stop - rows.start), folder / f"{part}.parquet")


def _command(count: int, data: Path, path: Path, epochs: int) -> list[str]:
    start = [sys.executable]
    if count > 1:
        start += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    return [*start, "-m" if count == 1 else "--module", "benchmarks.processes", str(data), str(path), str(epochs)]


def _fitted(count: int, data: Path, path: Path) -> dict[str, np.ndarray]:
    subprocess.run(_command(count, data, path, EPOCHS), check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return dict(np.load(path))


def _compared(alone: dict[str, np.ndarray], together: dict[str, np.ndarray]) -> list[str]:
    if len(alone["losses"]) != len(together["losses"]):
        return [f"{len(together['losses'])} ({len(alone['losses'])})", "", "", ""]
    differences = {name: float(np.abs(together[name] - alone[name]).max()) for name in alone}
    of_losses, of_predictions = differences.pop("losses"), differences.pop("predictions")
    spread = float(alone["predictions"].std())
    figures = (max(differences.values()), of_losses, of_predictions / spread)
    return [f"{len(together['losses'])} ({len(alone['losses'])})", *(f"{figure:.1e}" for figure in figures)]


def _seconds_until_the_others_end(data: Path, path: Path) -> float:
    job = subprocess.Popen(_command(2, data, path, 100_000), stderr=subprocess.DEVNULL)
    started = path.with_suffix(".json")
    while not started.exists() or len(started.read_text()) < 2:
        time.sleep(0.1)
    time.sleep(3)
    begin = time.monotonic()
    os.kill(json.loads(started.read_text()), signal.SIGKILL)
    if job.wait(timeout=300) == 0:
        raise RuntimeError("The job ended without an error, although one of its processes was killed.")
    return time.monotonic() - begin


def fit(data: str, path: str, epochs: str) -> None:
    """Fit in this process, alone or with the others that torchrun has started."""
    warnings.simplefilter("ignore")
    with cs.several_processes() if started_by_torchrun() else nullcontext(OneProcess()) as processes:
        if processes.rank == processes.count - 1:
            Path(path).with_suffix(".json").write_text(json.dumps(os.getpid()))
        estimator = cs.SetRegressor(
            [f"x{d}" for d in range(D)],
            random_state=0,
            epochs=int(epochs),
            early_stopping=int(epochs) <= EPOCHS,
            n_jobs=1,
        )
        model = estimator.fit(data, "label").as_model()
    if processes.rank == 0:
        losses = [entry["validation_loss"] for entry in model.record.history]
        predictions = model.predict(pq.read_table(Path(data) / "0.parquet"))
        np.savez(path, **model.function.tables, base=model.support.base, losses=losses, predictions=predictions)


if __name__ == "__main__":
    fit(*sys.argv[1:]) if len(sys.argv) > 1 else main()
