"""Counts of a feature's values, in bins."""

from typing import Any

import numpy as np

from clearset.models._arrays import FloatArray
from clearset.sets import numbers

_BINS = 30


def histogram_of(
    values: FloatArray, keypoints: FloatArray | None, n_categories: int, weights: FloatArray | None = None
) -> dict[str, Any]:
    """Count numbers in bins, or places of categories one by one."""
    if keypoints is not None:
        return histogram(values, keypoints, weights)
    known = ~np.isnan(values)
    counts = np.bincount(values[known].astype(np.int64), None if weights is None else weights[known], n_categories)
    return {"edges": None, "counts": numbers(counts, 7), "missing": int(np.count_nonzero(~known))}


def histogram(values: FloatArray, keypoints: FloatArray, weights: FloatArray | None = None) -> dict[str, Any]:
    """Count numbers in bins between the first and the last keypoint; those outside are in the end bins."""
    present = ~np.isnan(values)
    inside = np.clip(values[present], keypoints[0], keypoints[-1])
    low, high = float(keypoints[0]), float(keypoints[-1])
    if high - low <= _BINS and (inside == np.round(inside)).all():
        edges = np.arange(np.floor(low), np.ceil(high) + 2) - 0.5  # a bin for each whole number
    else:
        shares = np.linspace(0.0, 1.0, _BINS + 1)
        # high - low may overflow; where both are nearly equal, rounding must not let an edge fall below the one before.
        edges = np.maximum.accumulate(low * (1.0 - shares) + high * shares)
    counts, _ = np.histogram(inside, edges, weights=None if weights is None else weights[present])
    return {"edges": numbers(edges, 7), "counts": numbers(counts, 7), "missing": int(np.count_nonzero(~present))}
