"""Choosing the keypoints of a numeric feature from its training values."""

from typing import Literal

import numpy as np

from ._offsets import FloatArray, IntArray

_TINY = np.finfo(np.float64).tiny
_LEAST_CHANGE = 1e-6


def choose_keypoints(
    values: FloatArray,
    weights: FloatArray | None,
    n_keypoints: int,
    bounds: tuple[float | None, float | None] | None = None,
) -> FloatArray:
    """Return at least two and at most `n_keypoints` increasing keypoints.

    The first and last keypoint are the bounds, or the extremes where there is none. Those between are
    observed values at equal steps of the weight that lies between, where a value that holds more than a step
    counts as one step, so that no spike takes two.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The training values, without NaN.
    weights : ndarray of shape (n,) or None
        Their weights, all positive; None for ones.
    n_keypoints : int
        The largest number of keypoints, at least 2.
    bounds : (low, high), optional
        The first and the last keypoint; either may be None.

    Returns
    -------
    ndarray
        The keypoints.
    """
    if not len(values):
        values, weights = np.zeros(1), None
    lowest, highest = bounds or (None, None)
    low = -np.inf if lowest is None else lowest
    high = np.inf if highest is None else highest
    distinct, weight = _distinct(np.clip(values, low, high), weights)
    first = distinct[0] if lowest is None else low
    last = distinct[-1] if highest is None else high
    # The ends take keypoints of their own, so their weight takes no part in what lies between.
    inner = (first < distinct) & (distinct < last)
    between = distinct[inner]
    if len(between) > n_keypoints - 2:
        between = between[_equal_steps(weight[inner], n_keypoints - 2)]
    below = lowest is None and highest is not None
    return _apart(np.array([first, *between, last]), grow_below=below)


def telling_keypoints(keypoints: FloatArray, curvature: Literal["convex", "concave"], *, rising: bool) -> FloatArray:
    """Return the keypoints between which a curve from 0 to 1, `rising` or not, can change by a millionth or more.

    Where a convex curve rises by r from a to b, it goes on rising as steeply at least, so r is at most
    (b - a) / (last - a); where it falls, it has fallen as steeply before, by at most (b - a) / (b - first) there. For a
    concave curve it is the other way round. Other keypoints have nothing to say, while constraints on slopes so far
    apart could not be told from contradictions. The first and the last keypoint are always kept.

    Examples
    --------
    >>> telling_keypoints(np.array([0.0, 1e-9, 1.0, 2.0]), "convex", rising=True)
    array([0., 1., 2.])
    >>> telling_keypoints(np.array([0.0, 1e-9, 1.0, 2.0]), "concave", rising=True)
    array([0.e+00, 1.e-09, 1.e+00, 2.e+00])
    """
    halves = keypoints / 2  # the distance between the ends may exceed the largest float

    def tell(a: int, b: int) -> bool:
        rooms = {"convex": halves[-1] - halves[a], "concave": halves[b] - halves[0]}
        room = rooms[curvature] if rising else min(rooms.values())
        return bool(halves[b] - halves[a] >= _LEAST_CHANGE * room)

    last = len(keypoints) - 1
    kept = [0]
    for place in range(1, last):
        if tell(kept[-1], place):
            kept.append(place)
    while len(kept) > 1 and not tell(kept[-1], last):
        kept.pop()
    return keypoints[[*kept, last]]


def _distinct(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    if weights is None:
        distinct, counts = np.unique(values, return_counts=True)
        return distinct, counts.astype(np.float64)
    order = np.argsort(values)
    values = values[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return values[starts], np.add.reduceat(weights[order], starts)


def _equal_steps(weight: FloatArray, n_chosen: int) -> IntArray:
    """Choose `n_chosen` of more places, at equal steps of their clipped weight."""
    n_steps = n_chosen + 1
    # The step c solves c = sum(min(weight, c)) / n_steps. With the k heaviest clipped that is the sum of the
    # others / (n_steps - k); k is the first number at which the next one is no heavier than that.
    step = weight.sum() / n_steps
    if weight.max() > step:
        ascending = np.sort(weight)
        rest = np.cumsum(ascending)[::-1][:n_steps]
        steps = rest / np.arange(n_steps, 0, -1)
        step = steps[np.argmax(ascending[::-1][:n_steps] <= steps)]
    reached = np.cumsum(np.minimum(weight, step))
    chosen = np.searchsorted(reached, step * np.arange(1, n_steps))
    # No place holds more than a step, so the places differ, but for rounding.
    ranks = np.arange(n_chosen)
    chosen = np.maximum.accumulate(chosen - ranks) + ranks
    latest: IntArray = np.minimum(chosen, len(weight) - n_chosen + ranks)
    return latest


def _apart(keypoints: FloatArray, *, grow_below: bool) -> FloatArray:
    """Merge keypoints whose distance underflows; of a single one make two."""
    apart = np.diff(keypoints / 2) >= _TINY
    merged = keypoints[np.concatenate(([True], apart))]
    if len(merged) > 1:
        merged[-1] = keypoints[-1]
        return merged
    value = keypoints[-1] if grow_below else keypoints[0]
    step = max(1.0, abs(value) / 1024)
    if grow_below or value > np.finfo(np.float64).max / 2:
        return np.array([value - step, value])
    return np.array([value, value + step])
