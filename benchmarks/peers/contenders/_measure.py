"""What a contender's process measures of itself, and how it says so."""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Job = dict[str, Any]
Result = dict[str, Any]
# A measurement that is repeated takes at least this long altogether.
REPEATED_SECONDS = 1.0


def answer(contender: Callable[[Job], Result], packages: tuple[str, ...]) -> None:
    """Do the job of the command line; print the result, the peak memory and the versions as one JSON line."""
    result = contender(json.loads(sys.argv[1]))
    # The peak that `getrusage` tells begins with that of the process that started this one; so it is second choice.
    own = _status("self", "VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result["peak_mb"] = own + sum(_status(child, "VmHWM") for child in _children())
    result["versions"] = {name: _version(name) for name in packages}
    print(json.dumps(result), flush=True)
    # What libraries do when they end is nobody's time.
    os._exit(0)


@contextmanager
def measured(result: Result) -> Iterator[None]:
    """Put wall time, processor time and the memory that was needed beyond what was there into `result`."""
    with suppress(OSError):  # from here on the peak is counted anew, where the system can do that
        Path("/proc/self/clear_refs").write_text("5")
    memory, wall, cpu = _status("self", "VmRSS"), time.perf_counter(), _cpu_seconds()
    yield
    result["wall"] = time.perf_counter() - wall
    result["cpu"] = _cpu_seconds() - cpu
    result["extra_mb"] = _status("self", "VmHWM") - memory


def cpu_of(call: Callable[[], object]) -> float:
    """Return the processor time of one call: the median of several."""
    call()
    times: list[float] = []
    begun = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begun < REPEATED_SECONDS:
        cpu = time.process_time()
        call()
        times.append(time.process_time() - cpu)
    return statistics.median(times)


def latency(call: Callable[[], object]) -> Result:
    """Return the median time and the mean processor time of one call in microseconds, of a hundred calls at least."""
    for _ in range(10):
        call()
    times: list[float] = []
    begun, cpu = time.perf_counter(), time.process_time()
    while len(times) < 100 or time.perf_counter() - begun < REPEATED_SECONDS:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    used = time.process_time() - cpu
    return {"latency": 1e6 * statistics.median(times), "latency_cpu": 1e6 * used / len(times)}


def r2(y: npt.NDArray[np.float64], predicted: npt.ArrayLike) -> float:
    """Return the share of the variance of `y` that is explained."""
    error = y - np.asarray(predicted, np.float64).reshape(-1)
    return float(1 - np.mean(error**2) / np.var(y))


def quality_of_classes(y: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> Result:
    """Return accuracy and AUC; of several classes each against the rest, averaged."""
    from sklearn.metrics import roc_auc_score

    accuracy = float((shares.argmax(axis=1) == y).mean())
    if shares.shape[1] == 2:
        return {"accuracy": accuracy, "auc": float(roc_auc_score(y, shares[:, 1]))}
    areas = [roc_auc_score(y == label, shares[:, label]) for label in range(shares.shape[1]) if (y == label).any()]
    return {"accuracy": accuracy, "auc": float(np.mean(areas))}


def _cpu_seconds() -> float:
    """Return the processor time of this process, of those it started and of their ended ones."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = 0.0
    for child in _children():
        with suppress(OSError):
            fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            running += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return time.process_time() + ended.ru_utime + ended.ru_stime + running


def _children() -> list[str]:
    children: list[str] = []
    with suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # a thread that ended meanwhile
                children += (task / "children").read_text().split()
    return children


def _status(process: str, field: str) -> float:
    """Return a field of memory of a process in MB; 0 where the system does not tell."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of this folder"
