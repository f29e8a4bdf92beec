"""What all peers do with sets of items: Python lists, counted into a sparse matrix by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.peers._data import read_items
from benchmarks.peers.contenders._measure import Job, Result, latency, measured, quality_of_classes

Fit = Callable[[Any, npt.NDArray[np.int64]], Any]
Prepare = Callable[[Any], Any]


class Peer(NamedTuple):
    """How a peer is fitted to a matrix; what it needs done to every matrix first; and how many items it can take."""

    fit: Fit
    prepare: Prepare = lambda matrix: matrix
    most_items: int | None = None


def whole(items: list[str]) -> list[str]:
    """Return the items as they are: what they are is known, nothing is to be split."""
    return items


def measure(job: Job, peer: Peer, result: Result) -> Result:
    """Fit vectoriser and peer; measure quality, or the prediction of one set."""
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = read_items(job["data"], "train"), read_items(job["data"], "test")
    sets, tests = train.items.to_pylist(), test.items.to_pylist()
    vectoriser = CountVectorizer(analyzer=whole, binary=True, max_features=peer.most_items)
    with measured(result):
        matrix = peer.prepare(vectoriser.fit_transform(sets))
        model = peer.fit(matrix, train.y)
    if job["measure"] == "predict":
        one = [next(items for items in tests if len(set(items)) == 10)]
        result |= latency(lambda: model.predict(peer.prepare(vectoriser.transform(one))))
        return result
    shares = np.zeros((len(test.y), job["classes"]))
    shares[:, model.classes_] = model.predict_proba(peer.prepare(vectoriser.transform(tests)))
    return result | quality_of_classes(test.y, shares)
