"""What reading takes of memory, by how the same rows are stored: row groups, small rows first, dictionaries.

Each call is a process of its own. What is reported is the most that its resident memory grew beside what the process
had with all libraries, which `max_memory` promises to bound.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MAX_MEMORY = 64_000_000
N_ROWS, PER_ROW, DISTINCT = 100_000, 120, 20_000
CALLS = ("TokenTable.build", "SemanticClassifier.fit")


def rows_of(sizes: np.ndarray) -> pa.Table:
    """Return sets of strings, labels beside them, so many strings in each."""
    rng = np.random.default_rng(0)
    names = pa.array([f"an item with number {number}" for number in range(DISTINCT)])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, DISTINCT - 1)
    items = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names.take(pa.array(codes)))
    return pa.table({"items": items, "label": rng.integers(0, 2, len(sizes))})


def alike() -> np.ndarray:
    """Return sizes that are much the same everywhere."""
    return np.random.default_rng(1).integers(PER_ROW // 2, 3 * PER_ROW // 2, N_ROWS)


def empty_first() -> np.ndarray:
    """Return the same sizes after 1,100 empty sets."""
    sizes = alike()
    sizes[:1_100] = 0
    return sizes


def longer_in_the_middle() -> np.ndarray:
    """Return sizes of which 1,000 neighbours are 50 times as large, and others smaller."""
    sizes = alike() // 2
    sizes[N_ROWS // 2 : N_ROWS // 2 + 1_000] *= 100
    return sizes


def one_huge() -> np.ndarray:
    """Return sizes of which one is as large as 1,000 others."""
    sizes = alike()
    sizes[N_ROWS // 2] *= 1_000
    return sizes


def encoded(table: pa.Table) -> pa.Table:
    """Return the rows with a column type that holds each string once."""
    lists = table["items"].combine_chunks()
    codes = lists.values.dictionary_encode()
    return table.set_column(0, "items", pa.ListArray.from_arrays(lists.offsets, codes))


CASES: dict[str, tuple[Callable[[], np.ndarray], int, bool]] = {
    "rows alike, 1,000 a row group": (alike, 1_000, False),
    "rows alike, one row group": (alike, 1 << 20, False),
    "1,100 empty sets first, one row group": (empty_first, 1 << 20, False),
    "1,000 long sets in the middle, one row group": (longer_in_the_middle, 1 << 20, False),
    "one huge set, one row group": (one_huge, 1 << 20, False),
    "rows alike, dictionaries, one row group": (alike, 1 << 20, True),
}


def peak() -> tuple[int, int]:
    """Return the largest resident memory, and the present one."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status["VmHWM"].split()[0]), 1024 * int(status["VmRSS"].split()[0])


def measure(path: str, few: str, call: str) -> dict[str, float]:
    """Return by how many bytes a call makes the process grow, and its seconds."""
    import clearset as cs

    warnings.simplefilter("ignore")

    def run(data: str) -> None:
        if call == CALLS[0]:
            cs.TokenTable.build(data, "label", cs.Items(), [cs.MinCount(50)], max_memory=MAX_MEMORY)
        else:
            options: dict[str, Any] = {
                "tokens": cs.Items(),
                "filters": [cs.MinCount(50)],
                "cross_fit": None,
                "refine": False,
            }
            model = cs.SemanticClassifier(**options, epochs=3, random_state=0, max_memory=MAX_MEMORY)
            model.fit(data, "label")

    run(few)
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)  # what is free, but would be taken again, is not what the process has
    _, before = peak()
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    start, used = time.perf_counter(), time.process_time()
    run(path)
    most, _ = peak()
    return {"grown": most - before, "seconds": time.perf_counter() - start, "used": time.process_time() - used}


def in_child(path: Path, few: Path, call: str) -> dict[str, float]:
    """Measure in a process of its own."""
    arguments = f"{str(path)!r}, {str(few)!r}, {call!r}"
    code = f"import json; from benchmarks.row_groups import measure; print(json.dumps(measure({arguments})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{call} ended with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure, and write the results."""
    from benchmarks._results import write_table  # not where calls run: it imports torch, which takes memory

    rows = []
    with tempfile.TemporaryDirectory(prefix="clearset-row-groups-") as name:
        path, few = Path(name) / "rows.parquet", Path(name) / "few.parquet"
        pq.write_table(rows_of(alike()[:2_000]), few)
        for what, (sizes, row_group, as_dictionary) in CASES.items():
            table = rows_of(sizes())
            n_bytes = table.nbytes
            pq.write_table(encoded(table) if as_dictionary else table, path, row_group_size=row_group)
            del table
            for call in CALLS:
                found = in_child(path, few, call)
                of_group = n_bytes * min(row_group, N_ROWS) / N_ROWS
                sizes_told = [f"{size / 1e6:.0f} MB" for size in (n_bytes, of_group, found["grown"])]
                rows.append([what, call, *sizes_told, f"{found['used']:.0f}"])
                print(rows[-1], flush=True)
    write_table(
        "row_groups",
        "Memory of calls on files, by how their rows are stored",
        f"{N_ROWS:,} sets of {PER_ROW} strings on average, in one Parquet file, with max_memory="
        f"{MAX_MEMORY / 1e6:.0f} MB. `growth` is the most by which the resident memory of the process grew beyond what "
        "it had after the same call on 2,000 sets, with all libraries.\n`row group`: its bytes in memory.",
        ["rows", "call", "in memory", "row group", "growth", "CPU seconds"],
        rows,
    )


if __name__ == "__main__":
    main()
