"""LightGBM on the sparse matrix of items."""

from __future__ import annotations

import time
import warnings
from typing import Any

from benchmarks.peers.contenders._items import Peer, measure
from benchmarks.peers.contenders._measure import Job, Result, answer


def items(job: Job) -> Result:
    """Fit sets of items with the defaults; it wants floating-point numbers."""
    begun = time.perf_counter()
    from lightgbm import LGBMClassifier

    result: Result = {"import": time.perf_counter() - begun}
    warnings.simplefilter("ignore")  # on names of columns, which a sparse matrix has none of

    def prepare(matrix: Any) -> Any:
        return matrix.astype("float32")

    return measure(job, Peer(LGBMClassifier(n_jobs=job["threads"], verbose=-1).fit, prepare), result)


if __name__ == "__main__":
    answer(items, ("lightgbm", "scikit-learn", "numpy"))
