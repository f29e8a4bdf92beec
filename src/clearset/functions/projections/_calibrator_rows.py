"""Rows of half-spaces that constrain calibrators: curvature, and the order of categories."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from clearset.functions.projections._halfspaces import HalfSpaces


def curvature_rows(keypoints: npt.ArrayLike, curvature: Literal["convex", "concave"]) -> HalfSpaces:
    r"""Return rows that keep the slopes between neighbouring keypoints in order.

    With :math:`h_1` and :math:`h_2` the distances to the keypoints before and after, slopes that grow mean
    :math:`(v_2 - v_1)/h_2 - (v_1 - v_0)/h_1 \ge 0`. Times :math:`h_1 h_2 / (h_1 + h_2)` this says that
    the value in the middle lies below the line through its neighbours; no coefficient exceeds 1, however
    close the keypoints.

    Parameters
    ----------
    keypoints : array-like of shape (n,)
        Increasing.
    curvature : {"convex", "concave"}
        Slopes never fall, or never rise.

    Returns
    -------
    HalfSpaces
        One row for each keypoint but the first and the last.

    Examples
    --------
    >>> curvature_rows([0.0, 1.0, 4.0], "convex").coefficients
    array([[ 0.75, -1.  ,  0.25]])
    """
    points = np.asarray(keypoints, dtype=np.float64)
    # Only shares of distances count, and distances between large numbers may exceed the largest float.
    gaps = np.diff(points / 4 if np.abs(points).max(initial=0.0) > 1e300 else points)
    if points.ndim != 1 or points.size < 2 or not (points[1:] > points[:-1]).all():
        raise ValueError(f"Keypoints must be at least 2 increasing numbers, but are {points.tolist()}.")
    if curvature not in ("convex", "concave"):
        raise ValueError(f"The curvature is {curvature!r}. Give 'convex' or 'concave'.")
    # The larger share is rounded and 1 minus it is not, so that every row adds up to 0 and constants lie on its plane.
    larger = np.maximum(gaps[:-1], gaps[1:]) / (gaps[:-1] + gaps[1:])
    before = np.where(gaps[1:] >= gaps[:-1], larger, 1.0 - larger)
    coefficients = np.stack([before, -np.ones_like(before), 1.0 - before], axis=1)
    indices = np.add.outer(np.arange(points.size - 2), np.arange(3)).astype(np.int32)
    return HalfSpaces(indices, coefficients if curvature == "convex" else -coefficients)


def order_rows(pairs: Sequence[tuple[int, int]]) -> HalfSpaces:
    r"""Return a row :math:`x_j - x_i \ge 0` for each pair (i, j).

    Parameters
    ----------
    pairs : sequence of (int, int)
        The value of the first index never exceeds that of the second.

    Returns
    -------
    HalfSpaces
        The rows, in the order of the pairs.

    Examples
    --------
    >>> order_rows([(0, 2), (1, 2)]).residuals([[1.0, 5.0, 3.0]])
    array([[ 2., -2.]])
    """
    indices = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
    return HalfSpaces(indices, np.tile([-1.0, 1.0], (len(indices), 1)))
