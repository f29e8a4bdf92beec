"""Fits on sets that do not fit into memory: six features, in Parquet files of a million tokens.

Each fit runs in a process of its own; the largest, where Linux lets it, in a control group that allows no more memory
than `max_memory` to the process with all libraries and to the files it reads and writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

N_FEATURES, TOKENS_A_FILE, FILES_OF_THEIR_OWN = 6, 1_000_000, 250
GROUPS = Path("/sys/fs/cgroup/memory")
# Files, the memory allowed (None: all is read first), and epochs; those of one list are measured in turn, so often.
Case = tuple[int, str | None, int]
BESIDES: list[tuple[list[Case], int]] = [([(20, "192MB", 3), (20, None, 3)], 3), ([(60, "576MB", 3), (60, None, 3)], 1)]
LARGEST: list[tuple[list[Case], int]] = [([(208, "2GB", 3)], 1)]


def write_file(folder: Path, number: int, largest_set: int) -> None:
    """Write sets of about a million tokens, and their labels."""
    path = folder / f"part-{number:04d}.parquet"
    if number >= FILES_OF_THEIR_OWN:
        os.link(folder / f"part-{number % FILES_OF_THEIR_OWN:04d}.parquet", path)
        return
    rng = np.random.default_rng(number)
    sizes = rng.integers(1, largest_set + 1, size=2 * TOKENS_A_FILE // (largest_set + 1))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = rng.normal(size=(N_FEATURES, offsets[-1]))
    columns: dict[str, pa.Array] = {
        f"x{d}": pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(row)) for d, row in enumerate(values)
    }
    token = np.tanh(values[0]) + 0.3 * values[1] * values[2]
    columns["label"] = pa.array(np.add.reduceat(token, offsets[:-1]) / sizes + 0.1 * rng.normal(size=len(sizes)))
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False, row_group_size=25_000)


def fit(folder: str, n_files: int, max_memory: str | None, epochs: int) -> None:
    """Fit, and print what it took as JSON: seconds, those of an epoch, memory, and a digest of what was learned."""
    import clearset as cs
    from clearset.engines import _native_trainer

    ends: list[float] = []
    epoch = _native_trainer.NativeTrainer.epoch

    def timed(self: _native_trainer.NativeTrainer) -> float:
        loss = epoch(self)
        ends.append(time.perf_counter())
        return loss

    _native_trainer.NativeTrainer.epoch = timed  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    dataset = ds.dataset([Path(folder) / f"part-{number:04d}.parquet" for number in range(n_files)])
    names = [name for name in dataset.schema.names if name != "label"]
    model = cs.SetRegressor(
        names, epochs=epochs, early_stopping=False, random_state=0, n_jobs=os.cpu_count(), max_memory=max_memory
    )
    start, used = time.perf_counter(), time.process_time()
    if max_memory is None:
        table = dataset.to_table()
        model.fit(table.drop_columns(["label"]), table["label"].to_numpy())
    else:
        model.fit(dataset, "label")
    seconds, used = time.perf_counter() - start, time.process_time() - used
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    tables = b"".join(np.asarray(table).tobytes() for table in model.model_.function.tables.values())
    found = {
        "seconds": seconds,
        "used": used,
        "epoch": statistics.median(np.diff(ends)),
        "peak": int(status["VmHWM"].split()[0]) // 1024,
        "digest": hashlib.sha256(tables).hexdigest()[:12],
    }
    print(json.dumps(found))


@contextmanager
def limited(max_memory: str) -> Iterator[Path | None]:
    """Make a control group that allows so much memory; None where there can be none."""
    from clearset.sets import memory_limit

    group = GROUPS / f"clearset-streams-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(memory_limit(max_memory)))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        group.rmdir()


def measured(folder: Path, n_files: int, max_memory: str | None, epochs: int) -> dict[str, float | str]:
    """Fit in a process of its own."""
    largest = (n_files, max_memory, epochs) in LARGEST[0][0]
    with limited(max_memory) if max_memory and largest else nullcontext() as group:
        # Threads inherit the group of the process, which enters it before anything is imported.
        enter = "" if group is None else f"open('{group}/cgroup.procs', 'w').write('0');"
        call = f"from benchmarks.streams import fit; fit({str(folder)!r}, {n_files}, {max_memory!r}, {epochs})"
        done = subprocess.run([sys.executable, "-c", enter + call], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The fit ended with {done.returncode}: {done.stderr}")
    found: dict[str, float | str] = json.loads(done.stdout)
    print(n_files, max_memory, found, "in a control group" if group else "", flush=True)
    return found


def rows(folder: Path, groups: list[tuple[list[Case], int]], largest_set: int) -> Iterator[list[object]]:
    """Measure the cases, and yield a row of medians for each."""
    written = 0
    for cases, repeats in groups:
        n_files = max(n_files for n_files, _, _ in cases)
        for number in range(written, n_files):
            write_file(folder, number, largest_set)
        written = max(written, n_files)
        runs = [[measured(folder, *case) for case in cases] for _ in range(repeats)]
        for case, found in zip(cases, zip(*runs, strict=True), strict=True):
            yield row(case, list(found))


def row(case: Case, runs: list[dict[str, float | str]]) -> list[object]:
    """Return a row of the table, of medians."""
    n_files, max_memory, epochs = case
    seconds, used, epoch, peak = (
        statistics.median(float(run[name]) for run in runs) for name in ("seconds", "used", "epoch", "peak")
    )
    per_token = 1e9 / (n_files * TOKENS_A_FILE)
    (digest,) = {run["digest"] for run in runs}
    times = [f"{seconds:.1f}", *(f"{per_token * t:.0f}" for t in (seconds - epochs * epoch, epoch, used))]
    where = "all is read first" if max_memory is None else max_memory
    return [f"{n_files} million", f"{0.048 * n_files:.2g} GB", where, epochs, *times, f"{peak:.0f} MB", digest]


COLUMNS = (
    "tokens",
    "as float64",
    "max_memory",
    "epochs",
    "seconds",
    "before and after, ns/token",
    "an epoch, ns/token",
    "processor time of all, ns/token",
    "peak",
    "bits",
)
MEANINGS = (
    "`before and after`: reading twice, keypoints, packing, and what is found out about the trained function. "
    "`processor time`: of all threads.\n`peak`: resident memory with Python and all libraries, which take about 200 MB "
    "by themselves (VmHWM). The same `bits`: the same tables.\n"
)


def main() -> None:
    """Measure fits within limits against fits that read all first."""
    from benchmarks._results import write_table  # not where fits run: it imports torch, which takes memory

    with tempfile.TemporaryDirectory(prefix="clearset-streams-") as name:
        found = list(rows(Path(name), [*BESIDES, *LARGEST], largest_set=39))
    write_table(
        "streams",
        "Fits on files, within a limit of memory",
        "Sets of six features and 1 to 39 tokens in Parquet files. A fit with `max_memory` reads them from disk, the "
        f"others read all of them first.\n{MEANINGS}The last fit ran in a control group of Linux that allows 2 GB to "
        "the process, and to the parts of files that are kept in memory, together.\nRows with the same number of "
        "tokens were measured in turn, others at other times on a shared machine.",
        COLUMNS,
        found,
    )


if __name__ == "__main__":
    main()
