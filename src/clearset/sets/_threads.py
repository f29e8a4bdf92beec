"""How many threads to use."""

import os
from typing import Any

import numpy as np


def check_threads(n_jobs: Any) -> None:
    """Raise an error unless `n_jobs` says how many threads to take."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None, a positive number of threads, or -1 for all cores; received {n_jobs!r}."
        )


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads: all cores for None and -1, all but one for -2, and so on.

    None follows ``OMP_NUM_THREADS`` where it is set, as it is in joblib's workers.
    """
    check_threads(n_jobs)
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(count_cores(), int(limit)) if limit.isdigit() and int(limit) else count_cores()
    return int(n_jobs) if n_jobs > 0 else max(1, count_cores() + 1 + int(n_jobs))


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
