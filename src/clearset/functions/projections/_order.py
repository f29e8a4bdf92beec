"""Partial orders, such as those declared on categories."""

from collections.abc import Sequence

import numpy as np

from clearset.functions.projections._halfspaces import HalfSpaces


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
