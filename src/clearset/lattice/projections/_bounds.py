"""Projection onto a box."""

import numpy as np
import numpy.typing as npt

from clearset.lattice.projections._members import Array, check_bounds, members


def projection_bounds(values: npt.ArrayLike, lower: float = -np.inf, upper: float = np.inf) -> Array:
    r"""Project onto :math:`\{x : lower \le x_i \le upper\}`.

    Each coordinate moves to the nearest allowed number, so the projection is a clip.

    Parameters
    ----------
    values : array-like of shape (N, n)
        Members of a batch, projected independently.
    lower, upper : float
        The bounds; infinities stand for none.

    Returns
    -------
    ndarray of shape (N, n)

    Examples
    --------
    >>> projection_bounds([[-0.5, 0.25, 3.0]], lower=0.0, upper=1.0)
    array([[0.  , 0.25, 1.  ]])
    """
    check_bounds(lower, upper)
    array = members(values)
    return np.clip(array, lower, upper, out=array)
