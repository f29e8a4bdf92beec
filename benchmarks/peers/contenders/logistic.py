"""scikit-learn's logistic regression on the items as zeros and ones."""

from __future__ import annotations

import time

from benchmarks.peers.contenders._items import Peer, measure
from benchmarks.peers.contenders._measure import Job, Result, answer


def items(job: Job) -> Result:
    """Fit sets of items; more iterations than by default, which warns that it did not get there."""
    begun = time.perf_counter()
    from sklearn.linear_model import LogisticRegression

    result: Result = {"import": time.perf_counter() - begun}
    return measure(job, Peer(LogisticRegression(max_iter=500).fit), result)


if __name__ == "__main__":
    answer(items, ("scikit-learn", "numpy"))
