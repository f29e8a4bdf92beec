"""Partial orders, such as those declared on categories."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from clearset.lattice.projections._constraints import ConstraintSet
from clearset.lattice.projections._halfspaces import HalfSpaces
from clearset.lattice.projections._members import Array, members


def order_rows(pairs: Sequence[tuple[int, int]]) -> HalfSpaces:
    r"""Return a row :math:`x_j - x_i \ge 0` for each pair (i, j).

    Parameters
    ----------
    pairs : sequence of (int, int)
        The value of the first index never exceeds that of the second.

    Returns
    -------
    HalfSpaces

    Examples
    --------
    >>> order_rows([(0, 2), (1, 2)]).residuals([[1.0, 5.0, 3.0]])
    array([[ 2., -2.]])
    """
    indices = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
    return HalfSpaces(indices, np.tile([-1.0, 1.0], (len(indices), 1)))


def projection_order(
    values: npt.ArrayLike,
    pairs: Sequence[tuple[int, int]],
    lower: float = -np.inf,
    upper: float = np.inf,
) -> Array:
    """Project onto vectors that keep a partial order and stay within bounds.

    Parameters
    ----------
    values : array-like of shape (N, n)
        Members of a batch, projected independently.
    pairs : sequence of (int, int)
        As for :func:`order_rows`.
    lower, upper : float
        Bounds of all values; infinities stand for none.

    Returns
    -------
    ndarray of shape (N, n)
        Feasible without any rounding error.

    Examples
    --------
    >>> projection_order([[1.0, 5.0, 3.0]], [(0, 2), (1, 2)])
    array([[1., 4., 4.]])
    """
    array = members(values)
    return ConstraintSet({"order": order_rows(pairs)}, lower, upper, array.shape[1]).project_exactly(array)
