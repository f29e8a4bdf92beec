"""InterpretML's Explainable Boosting Machine on the most frequent items, one dense column each."""

from __future__ import annotations

import time
import warnings
from typing import Any

from benchmarks.peers.contenders._items import Peer, measure
from benchmarks.peers.contenders._measure import Job, Result, answer

# With all items it would not end: its time grows with columns x rows.
MOST_ITEMS = 100


def items(job: Job) -> Result:
    """Fit sets of items with the defaults."""
    begun = time.perf_counter()
    from interpret.glassbox import ExplainableBoostingClassifier

    result: Result = {"import": time.perf_counter() - begun}
    warnings.simplefilter("ignore")  # on missing values in its histograms, of which there are none

    def prepare(matrix: Any) -> Any:
        return matrix.toarray()

    model = ExplainableBoostingClassifier(n_jobs=job["threads"], random_state=0)
    return measure(job, Peer(model.fit, prepare, MOST_ITEMS), result)


if __name__ == "__main__":
    answer(items, ("interpret-core", "scikit-learn", "numpy"))
