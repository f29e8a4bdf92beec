"""Semantic fits on items that do not fit into memory: peak memory under a limit, and time against a fit in memory.

Each fit is a process of its own; the largest, where Linux lets it, in a control group that allows no more memory than a
fifth of the data to the process with all libraries and to the parts of files that it reads and writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.token_streams import control_group, megabytes, write_data

ITEMS_PER_EXAMPLE = 60
# Items that are fitted in both ways, and those of the largest fit, within a limit of all memory of the process.
COMPARED, LARGEST, LIMIT = 8_000_000, 45_000_000, 600_000_000
MAX_MEMORY = LIMIT // 2


def fit(folder: str, label: str, max_memory: int) -> dict[str, Any]:
    """Fit on a folder, in memory if no limit is given; return what it took, and what tells models apart."""
    import clearset as cs

    warnings.simplefilter("ignore")
    start = time.perf_counter()
    kind: Any = cs.SemanticClassifier if label == "label" else cs.SemanticRegressor
    options = {"tokens": cs.Items(), "filters": [cs.MinCount(50)], "refine": 1, "random_state": 0, "n_jobs": 2}
    if max_memory:
        model = kind(**options, max_memory=max_memory).fit(Path(folder), label)
    else:
        data = pq.read_table(folder, columns=["items", label])
        model = kind(**options).fit(data.select(["items"]), data[label])
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text()
    table = model.token_table_
    parts = [*model.set_function_.tables.values(), table.means, table.counts]
    parts += [] if table.corrections is None else [table.corrections.amounts]
    bits = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    return {
        "seconds": seconds,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": 1024 * int(status.split("VmHWM:")[1].split()[0]),
        "tokens": len(table),
        "epochs": model.n_iter_,
        "bits": bits.hexdigest()[:12],
    }


def in_child(folder: Path, label: str, max_memory: int, limit: int | None = None) -> dict[str, Any]:
    """Fit in a process of its own, under a limit of memory if one is given."""
    arguments = f"{str(folder)!r}, {label!r}, {max_memory}"
    call = f"import json; from benchmarks.semantic_streams import fit; print(json.dumps(fit({arguments})))"
    with control_group(limit) as group:

        def enter() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        done = subprocess.run(
            [sys.executable, "-c", call], preexec_fn=enter, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"The fit ended with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(label, max_memory, found, "in a control group" if group else "", flush=True)
    return found


def row(what: str, n_items: int, n_bytes: int, where: str, found: dict[str, Any]) -> list[object]:
    """Return a row of the table."""
    times = [f"{found['seconds']:.0f}", f"{found['cpu']:.0f}", f"{1e9 * found['cpu'] / n_items:.0f}"]
    size = f"{megabytes(n_bytes)} = {n_bytes / LIMIT:.2f} x limit"
    return [what, f"{n_items:,}", size, where, *times, megabytes(found["peak"]), found["epochs"], found["bits"]]


def main() -> None:
    """Measure, and write the results."""
    from benchmarks._results import write_table  # imports torch, whose memory is not to count

    rows, ratios = [], []
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(os.environ.get("CLEARSET_SCRATCH", temporary))

        def data(n_items: int) -> tuple[Path, int]:
            folder, size = scratch / f"sets-{n_items}", scratch / f"sets-{n_items}.bytes"
            if not size.exists():
                folder.mkdir(parents=True)
                size.write_text(str(write_data(folder, n_items, ITEMS_PER_EXAMPLE)))
            return folder, int(size.read_text())

        folder, n_bytes = data(COMPARED)
        for label, what in (("label", "2 classes"), ("number", "a number")):
            streamed, memory = in_child(folder, label, MAX_MEMORY), in_child(folder, label, 0)
            rows.append(row(what, COMPARED, n_bytes, megabytes(MAX_MEMORY), streamed))
            rows.append(row(what, COMPARED, n_bytes, "all is read first", memory))
            ratios.append(streamed["cpu"] / memory["cpu"])
        folder, n_bytes = data(LARGEST)
        rows.append(
            row("2 classes", LARGEST, n_bytes, megabytes(MAX_MEMORY), in_child(folder, "label", MAX_MEMORY, LIMIT))
        )
    write_table(
        "semantic_streams",
        "Semantic fits on items, within a limit of memory",
        f"Sets of {ITEMS_PER_EXAMPLE} items of a million distinct ones in Parquet files; single items in 50 examples "
        "and more are tokens, with corrections, five folds and the strength of the corrections chosen on a sample.\n"
        "`peak`: resident memory with Python and all libraries, which take about 200 MB. The last fit ran in a control "
        f"group that has {megabytes(LIMIT)} of memory, page cache included. Of the two ways the processor time has a "
        f"ratio of {statistics.mean(ratios):.2f}. The same `bits`: the same tables and corrections. Other work ran on "
        "the machine at the same time.",
        [
            "labels",
            "items",
            "in Arrow",
            "max_memory",
            "seconds",
            "CPU seconds",
            "CPU ns an item",
            "peak",
            "epochs of the last stage",
            "bits",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
