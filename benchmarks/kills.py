"""Processes that are killed at random moments and started again, and whether they end with the same bits."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna  # noqa: F401  (so that every process has it at once)
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import sklearn.linear_model  # noqa: F401

import clearset as cs
from clearset.tokens import _streamed_table  # noqa: F401
from clearset.training import _checkpoint, _prepared

# Seconds between two writes of a checkpoint, one of them drawn for every run: so many that kills fall into writes.
INTERVALS = (0.0, 0.0, 0.02, 5.0)
# The share of kills that wait until a file is being written, for so many seconds at most.
IN_WRITES, PATIENCE = 0.3, 0.3
# A run that goes on is killed again as often as not, at most so many times.
MOST_KILLS = 4


def numbers(n: int = 500) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    """Make sets of tokens with two features, and a label."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, n)
    stars = [rng.uniform(0, 5, size).tolist() for size in sizes]
    label = np.array([np.mean(row) for row in stars]) + rng.normal(size=n) / 3
    prices = [rng.exponential(size=size).tolist() for size in sizes]
    return pa.table({"stars": stars, "price": prices, "year": rng.uniform(size=n)}), label


def items(n: int = 500) -> tuple[list[list[str]], np.ndarray[Any, Any]]:
    """Make sets of items, and whether they are of one kind."""
    rng = np.random.default_rng(1)
    words = [f"item {number}" for number in range(40)]
    rows = [rng.choice(words, rng.integers(1, 6), replace=False).tolist() for _ in range(n)]
    label = [sum(int(word[5:]) % 3 == 0 for word in row) > 1.5 * rng.uniform() for row in rows]
    return rows, np.array(label).astype(int)


def sets_in_memory(folder: Path) -> None:
    """Fit a set function under constraints, from several initial values."""
    X, y = numbers()
    features = [cs.Feature("stars", monotonic="increasing"), cs.Feature("price", monotonic="decreasing"), "year"]
    trusts = [cs.Trust("stars", by="price")]
    model = cs.SetRegressor(features, trusts=trusts, epochs=40, restarts=2, random_state=0, n_jobs=1)
    model.fit(X, y, checkpoint=folder / "checkpoint").save(folder / "result")


def sets_in_files(folder: Path) -> None:
    """Fit a set function of classes on packed sets of a folder of files."""
    _prepared.DOUBLE_PRECISION_VALUES = 0
    model = cs.SetClassifier(epochs=40, constraints="light_touch", optimizer="adagrad", random_state=0, n_jobs=1)
    data = folder.parent / "sets"
    model.fit(data, "label", checkpoint=folder / "checkpoint").save(folder / "result")


def semantic(folder: Path) -> None:
    """Fit a classifier of items as it is made, which chooses its setting."""
    X, y = items()
    model = cs.SemanticClassifier(epochs=12, random_state=0, n_jobs=1)
    model.fit(X, y, checkpoint=folder / "checkpoint").save(folder / "result")


def out_of_fold(folder: Path) -> None:
    """Estimate every label from the others."""
    X, y = items(300)
    engine = cs.SemanticFeatureEngine(cs.Items(), cross_fit=3, epochs=12, random_state=0, n_jobs=1)
    estimates = engine.fit_transform(X, y, checkpoint=folder / "checkpoint")
    engine.save(folder / "model")
    content = (folder / "model").read_bytes() + estimates.tobytes()
    (folder / "model").unlink()
    (folder / "result").write_bytes(content)


def joint(folder: Path) -> None:
    """Train an engine and a follow-on model together."""
    (X, y), (table, _) = items(), numbers()
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=6, n_jobs=1)
    model = cs.JointModel({"items": engine}, cs.SetClassifier(epochs=10, n_jobs=1), epochs=5, random_state=0)
    frame = table.append_column("items", pa.array(X))
    model.fit(frame, y, checkpoint=folder / "checkpoint").save(folder / "result")


def search(folder: Path) -> None:
    """Search for options, every trial of which is a fit."""
    X, y = numbers(200)
    estimator = cs.SetRegressor(epochs=8, n_jobs=1)
    space = {"learning_rate": (0.003, 0.3, "log"), "keypoints": [5, 10, 20], "width": [1, 2]}
    tuning = cs.tune(estimator, X, y, budget=9, space=space, storage=folder / "trials", random_state=0, verbose=0)
    trials = [(trial["number"], trial["params"], trial["score"], trial["state"]) for trial in tuning.trials]
    tuning.best_estimator_.save(folder / "model")
    content = repr((trials, tuning.best_params_, tuning.best_score_)).encode() + (folder / "model").read_bytes()
    for name in ("model", "trials"):  # which has the seconds of every trial
        (folder / name).unlink()
    (folder / "result").write_bytes(content)


def table(folder: Path) -> None:
    """Count the tokens of a folder of files."""
    built = cs.TokenTable.build(
        folder.parent / "items",
        "label",
        cs.Subsets(3),
        [cs.MinCount(3)],
        sample_weight="weight",
        threads=1,
        max_memory="100MB",
        checkpoint=folder / "checkpoint",
    )
    built.save(folder / "result")


KINDS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "fit": (sets_in_memory, sets_in_files, semantic, out_of_fold, joint),
    "tune": (search,),
    "table build": (table,),
}


def make_files(folder: Path) -> None:
    """Write the data of runs on files."""
    X, y = numbers(600)
    rows, labels = items(60_000)
    weights = np.random.default_rng(2).uniform(size=len(rows))
    for name, whole in (
        ("sets", X.append_column("label", pa.array(np.digitize(y, [2, 3])))),
        ("items", pa.table({"items": rows, "label": labels, "weight": weights})),
    ):
        (folder / name).mkdir()
        for part in range(3):
            size = len(whole) // 3
            pq.write_table(whole.slice(part * size, size), folder / name / f"{part}.parquet")


def started(run: Callable[[Path], None], folder: Path, interval: float) -> int:
    """Start a run in a process of its own; return its number."""
    number = os.fork()
    if number:
        return number
    try:
        _checkpoint.SECONDS, _checkpoint.SHARE = interval, float("inf")
        warnings.simplefilter("ignore")
        run(folder)
        status = 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


def ended(number: int) -> bool:
    """Wait for a process; return whether it was killed, and raise an error if it failed."""
    _, status = os.waitpid(number, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status):
        raise RuntimeError("A run has failed; its error stands above.")
    return False


@dataclass
class Tally:
    """What was seen of one kind of run."""

    runs: int = 0  # that were killed at least once
    kills: int = 0
    in_writes: int = 0  # that left a file that was being written
    identical: int = 0
    least: float = 1.0  # the earliest and the latest moment of a kill, as a share of an undisturbed run
    most: float = 0.0


def seconds_of(run: Callable[[Path], None], folder: Path) -> float:
    """Run undisturbed; return the seconds that it took."""
    folder.mkdir()
    before = time.monotonic()
    ended(started(run, folder, 0.0))
    return time.monotonic() - before


def is_written(folder: Path) -> bool:
    """Return whether there is a file that is to take the place of another when it is complete."""
    return any(name.startswith(".") for _, _, names in os.walk(folder) for name in names)


def wait_for_a_write(folder: Path) -> None:
    """Wait until a file is being written."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and not is_written(folder):
        pass


def disturbed(
    run: Callable[[Path], None], folder: Path, seconds: float, rng: np.random.Generator, tally: Tally
) -> bool:
    """Run with kills at random moments until the end; return False, and count nothing, if no kill came in time."""
    folder.mkdir()
    kills, in_writes, moments = 0, 0, []
    while kills < MOST_KILLS and (kills == 0 or rng.uniform() < 0.5):
        number, moment = started(run, folder, float(rng.choice(INTERVALS))), rng.uniform()
        time.sleep(moment * seconds)
        if rng.uniform() < IN_WRITES:
            wait_for_a_write(folder)
        os.kill(number, signal.SIGKILL)
        if not ended(number):
            break
        kills += 1
        moments.append(moment)
        in_writes += is_written(folder)
    if not kills:
        return False
    if not (folder / "result").exists():
        ended(started(run, folder, float(rng.choice(INTERVALS))))
    left = sorted(file.name for file in folder.iterdir())
    same = (folder / "result").read_bytes() == (folder.parent / f"whole {run.__name__}" / "result").read_bytes()
    tally.runs += 1
    tally.kills += kills
    tally.in_writes += in_writes
    tally.least, tally.most = min(tally.least, *moments), max(tally.most, *moments)
    tally.identical += same and left == ["result"]
    if not same or left != ["result"]:
        print(f"{run.__name__}: same {same}, left {left}", file=sys.stderr)
    return True


def main() -> None:
    """Count for every kind of run how many end with the bits of one that was not killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="runs of each kind that are killed")
    wanted, rng, before = parser.parse_args().kills, np.random.default_rng(0), time.monotonic()
    tallies = {kind: Tally() for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="clearset-kills-") as name:
        root = Path(name)
        maker = os.fork()  # a process that has used Arrow's threads should not be copied
        if not maker:
            make_files(root)
            os._exit(0)
        os.waitpid(maker, 0)
        for kind, runs in KINDS.items():
            seconds = [seconds_of(run, root / f"whole {run.__name__}") for run in runs]
            number = 0
            while tallies[kind].runs < wanted:
                place = tallies[kind].runs % len(runs)
                disturbed(runs[place], root / f"{kind} {number}", seconds[place], rng, tallies[kind])
                number += 1
            print(kind, tallies[kind], f"{time.monotonic() - before:.0f} s", file=sys.stderr, flush=True)
    from benchmarks._results import write_table

    total, same = (sum(getattr(tally, name) for tally in tallies.values()) for name in ("runs", "identical"))
    write_table(
        "kills",
        "Killed and started again",
        f"""
{same} of {total} runs that were ended by SIGKILL at random moments, and started again (and killed again, as often
as not), ended with the same bits as a run that was not, and left no other file. Fits: constrained sets with
restarts, packed sets in files, a semantic classifier with its choice of a setting, estimates out of fold, a
joint model. Moments are shares of the time of an undisturbed run; checkpoints of fits are written at every
epoch, every 0.02 seconds, or every 5; of three kills, one waits until a file is being written.
""",
        ["run", "killed at least once", "kills", "of these while a file was written", "moments", "same bits"],
        [
            [kind, tally.runs, tally.kills, tally.in_writes, f"{tally.least:.2f} to {tally.most:.2f}", tally.identical]
            for kind, tally in tallies.items()
        ],
    )
    sys.exit(same < total)


if __name__ == "__main__":
    main()
