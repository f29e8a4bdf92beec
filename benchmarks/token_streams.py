"""Token tables of data larger than memory: peak memory under a limit, time against building in memory, and growth.

Data are kept for the next run in the folder that the environment variable CLEARSET_SCRATCH names, if it does.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ITEMS_PER_EXAMPLE = 10
DISTINCT = 1_000_000
EXAMPLES_PER_FILE = 250_000
CGROUPS = Path("/sys/fs/cgroup/memory")


def write_data(folder: Path, n_items: int, per_example: int = ITEMS_PER_EXAMPLE) -> int:
    """Write examples of items whose frequencies fall as their ranks rise; return their bytes in memory."""
    per_file = EXAMPLES_PER_FILE * ITEMS_PER_EXAMPLE // per_example
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(1, DISTINCT + 1)
    ends = np.cumsum(shares / shares.sum())
    prefix = "a name as long as those of products often are, in number"
    names = pa.array([f"{prefix} {number}" for number in rng.permutation(DISTINCT)])
    n_bytes, left, file = 0, n_items // per_example, 0
    while left:
        n = min(left, per_file)
        codes = np.minimum(np.searchsorted(ends, rng.random(n * per_example)), DISTINCT - 1)
        offsets = pa.array(np.arange(0, len(codes) + 1, per_example, dtype=np.int32))
        items = pa.ListArray.from_arrays(offsets, names.take(pa.array(codes)))
        chance = 0.2 + 0.6 * (codes.reshape(n, -1) % 2).mean(axis=1)
        table = pa.table({"items": items, "label": rng.random(n) < chance, "number": rng.normal(size=n)})
        pq.write_table(table, folder / f"part-{file:04}.parquet", row_group_size=per_file // 5)
        n_bytes, left, file = n_bytes + items.nbytes, left - n, file + 1
    return n_bytes


def build(folder: str, how: str, label: str, max_memory: int) -> dict[str, Any]:
    """Build the table of a folder in this process; return seconds, peak memory and what tells tables apart."""
    import hashlib
    import resource

    import clearset as cs

    start = time.perf_counter()
    tokens, filters = cs.Subsets(2), [cs.MinCount(100)]
    if how == "streamed":
        table = cs.TokenTable.build(folder, label, tokens, filters, column="items", max_memory=max_memory)
    else:
        data = pq.read_table(folder, columns=["items", label])
        table = cs.TokenTable.build(data["items"], data[label], tokens, filters)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    bits = hashlib.sha256()
    for part in (table.index.items, table.index.parents, table.counts, table.statistics.sums, table.means):
        bits.update(np.ascontiguousarray(part).tobytes())
    bits.update("\n".join(table.vocabulary.to_pylist()).encode())
    # Unlike ru_maxrss this does not count what the process was before it was this one.
    status = Path("/proc/self/status").read_text()
    peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
    found = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": peak, "tokens": len(table)}
    return {**found, "bits": bits.hexdigest()}


@contextmanager
def control_group(limit: int | None) -> Iterator[Path | None]:
    """Make a control group whose processes, their page cache included, get no more memory than a limit."""
    if limit is None or not os.access(CGROUPS, os.W_OK):
        yield None
        return
    group = CGROUPS / f"clearset-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group
    finally:
        group.rmdir()


def in_child(folder: Path, how: str, label: str, max_memory: int, limit: int | None = None) -> dict[str, Any]:
    """Build the table in a process of its own, under a limit of memory if one is given."""
    arguments = f"{str(folder)!r}, {how!r}, {label!r}, {max_memory}"
    call = f"from benchmarks.token_streams import build, print_json; print_json(build({arguments}))"
    with control_group(limit) as group:

        def enter() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        done = subprocess.run(
            [sys.executable, "-c", call], preexec_fn=enter, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{how} ended with {done.returncode}: {done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if group is not None:
            found["group peak"] = int((group / "memory.max_usage_in_bytes").read_text())
    return found


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print(json.dumps(value))


def megabytes(n_bytes: float) -> str:
    """Return bytes in MB."""
    return f"{n_bytes / 1e6:,.0f} MB"


def main(limit: int = 535_000_000, large: int = 40_000_000, both: int = 10_000_000) -> None:
    """Measure, and write the results."""
    from benchmarks._results import write_table  # imports torch, whose memory is not to count

    rows, max_memory = [], limit // 2
    with tempfile.TemporaryDirectory() as temporary:
        scratch = os.environ.get("CLEARSET_SCRATCH", temporary)

        def data(n_items: int) -> tuple[Path, int]:
            folder, size = Path(scratch, str(n_items)), Path(scratch, f"{n_items}.bytes")
            if not size.exists():
                folder.mkdir(parents=True)
                size.write_text(str(write_data(folder, n_items)))
            return folder, int(size.read_text())

        def row(what: str, n_bytes: int, n_items: int, streamed: dict[str, Any], *others: str) -> None:
            seconds = streamed["seconds"]
            used = streamed["cpu"]
            times = [f"{seconds:.1f} s", f"{used:.1f} s", f"{used / n_items * 1e9:.0f} ns", *(others or [""] * 5)]
            size = f"{megabytes(n_bytes)} = {n_bytes / limit:.2f} x limit"
            rows.append([what, f"{n_items:,}", size, megabytes(streamed["peak"]), *times, f"{streamed['tokens']:,}"])
            print(rows[-1], flush=True)

        for n_items in (10**6, large):
            folder, n_bytes = data(n_items)
            row("2 classes", n_bytes, n_items, in_child(folder, "streamed", "label", max_memory, limit))
        folder, n_bytes = data(both)
        for label, what, times in (("label", "2 classes", 3), ("number", "a number", 1)):
            runs = [
                (in_child(folder, "streamed", label, max_memory, limit), in_child(folder, "in memory", label, 0))
                for _ in range(times)
            ]
            same = all(a["bits"] == b["bits"] for a, b in runs)
            ratio, of_cpu = (statistics.median(a[kind] / b[kind] for a, b in runs) for kind in ("seconds", "cpu"))
            streamed, memory = runs[0]
            others = [f"{memory['seconds']:.1f} s", megabytes(memory["peak"]), f"{ratio:.2f}", f"{of_cpu:.2f}"]
            others.append("yes" if same else "NO")
            row(what, n_bytes, both, streamed, *others)
    write_table(
        "token_streams",
        "Token tables of data larger than memory",
        "Subsets of up to 2 of 10 items, of a million distinct ones, in at least 100 examples; Parquet files. Each "
        f"build is a process of its own. The streamed ones are in a control group that has {megabytes(limit)} of "
        f"memory, page cache included, with max_memory={megabytes(max_memory)}: Python and its packages take 140 MB. "
        "Peaks are of the whole process. "
        "Both ways take turns; ratios are medians. Other work ran on the machine at the same time.",
        [
            "labels",
            "items",
            "in Arrow",
            "peak",
            "time",
            "CPU",
            "CPU an item",
            "in memory",
            "peak in memory",
            "ratio of times",
            "ratio of CPU",
            "same bits",
            "tokens",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
