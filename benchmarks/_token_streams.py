"""Token tables of data larger than memory: peak memory under a limit, time against building in memory, and growth."""

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


def write_data(folder: Path, n_items: int) -> int:
    """Write examples of items whose frequencies fall as their ranks rise; return their bytes in memory."""
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(1, DISTINCT + 1)
    ends = np.cumsum(shares / shares.sum())
    names = pa.array([f"item number {number}" for number in rng.permutation(DISTINCT)])
    n_bytes, left, file = 0, n_items // ITEMS_PER_EXAMPLE, 0
    while left:
        n = min(left, EXAMPLES_PER_FILE)
        codes = np.minimum(np.searchsorted(ends, rng.random(n * ITEMS_PER_EXAMPLE)), DISTINCT - 1)
        offsets = pa.array(np.arange(0, len(codes) + 1, ITEMS_PER_EXAMPLE, dtype=np.int32))
        items = pa.ListArray.from_arrays(offsets, names.take(pa.array(codes)))
        chance = 0.2 + 0.6 * (codes.reshape(n, -1) % 2).mean(axis=1)
        table = pa.table({"items": items, "label": rng.random(n) < chance, "number": rng.normal(size=n)})
        pq.write_table(table, folder / f"part-{file:04}.parquet", row_group_size=50_000)
        n_bytes, left, file = n_bytes + items.nbytes, left - n, file + 1
    return n_bytes


def build(folder: str, how: str, label: str, max_memory: int) -> dict[str, Any]:
    """Build the table of a folder in this process; return seconds, peak memory and what tells tables apart."""
    import hashlib
    import resource

    import clearset as cs

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.perf_counter()
    tokens, filters = cs.Subsets(2), [cs.MinCount(100)]
    if how == "streamed":
        table = cs.TokenTable.build(folder, label, tokens, filters, column="items", max_memory=max_memory)
    else:
        data = pq.read_table(folder, columns=["items", label])
        table = cs.TokenTable.build(data["items"], data[label], tokens, filters)
    seconds = time.perf_counter() - start
    bits = hashlib.sha256()
    for part in (table.index.items, table.index.parents, table.counts, table.statistics.sums, table.means):
        bits.update(np.ascontiguousarray(part).tobytes())
    bits.update("\n".join(table.vocabulary.to_pylist()).encode())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak": peak, "before": before, "tokens": len(table), "bits": bits.hexdigest()}


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
    call = f"from benchmarks._token_streams import build, print_json; print_json(build({str(folder)!r}, {how!r}, {label!r}, {max_memory}))"
    with control_group(limit) as group:

        def enter() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        done = subprocess.run([sys.executable, "-c", call], preexec_fn=enter, capture_output=True, text=True, check=False)
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


def main(limit: int = 300_000_000, n_items: int = 67_000_000, growth: tuple[int, ...] = (10**6, 10**7, 10**8)) -> None:
    """Measure, and write the results."""
    from benchmarks._results import write_table  # imports torch, whose memory is not to count

    rows = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("CLEARSET_SCRATCH")) as scratch:
        folder = Path(scratch, "large")
        folder.mkdir()
        n_bytes = write_data(folder, n_items)
        for label in ("label", "number"):
            runs = [
                (in_child(folder, "streamed", label, limit * 6 // 10, limit), in_child(folder, "in memory", label, 0))
                for _ in range(2 if label == "label" else 1)
            ]
            same = all(a["bits"] == b["bits"] for a, b in runs)
            seconds = [statistics.median(run[place]["seconds"] for run in runs) for place in (0, 1)]
            streamed, memory = runs[0]
            rows.append(
                [
                    f"{n_items:,} items, {'2 classes' if label == 'label' else 'a number'}",
                    f"{megabytes(n_bytes)} = {n_bytes / limit:.1f} x limit",
                    megabytes(limit),
                    megabytes(max(run[0]["peak"] for run in runs)),
                    megabytes(memory["peak"]),
                    f"{seconds[0]:.0f} s",
                    f"{seconds[1]:.0f} s",
                    f"{seconds[0] / seconds[1]:.2f}",
                    f"{streamed['tokens']:,}",
                    "yes" if same else "NO",
                ]
            )
        for n in growth:
            folder = Path(scratch, str(n))
            folder.mkdir()
            n_bytes = write_data(folder, n)
            run = in_child(folder, "streamed", "label", limit * 6 // 10, limit)
            each = run["seconds"] / n * 1e9
            rows.append(
                [f"growth: {n:,} items", megabytes(n_bytes), megabytes(limit), megabytes(run["peak"]), "", f"{run['seconds']:.1f} s"]
                + ["", f"{each:.0f} ns an item", f"{run['tokens']:,}", ""]
            )
    write_table(
        "token_streams",
        "Token tables of data larger than memory",
        "Subsets of up to 2 of 10 items, of a million distinct ones, in at least 100 examples; Parquet files. Each build is a "
        "process of its own; the streamed one is in a control group with the limit, and its max_memory is 0.6 of it, for Python "
        "and its packages need some. Seconds are medians.",
        ["data", "in Arrow", "limit", "peak", "peak in memory", "streamed", "in memory", "ratio", "tokens", "same bits"],
        rows,
    )


if __name__ == "__main__":
    main()
