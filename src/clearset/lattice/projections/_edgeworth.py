"""Edgeworth trust: the more of one feature, the more another one counts."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from clearset.lattice.projections._constraints import ConstraintSet
from clearset.lattice.projections._halfspaces import HalfSpaces
from clearset.lattice.projections._members import Array
from clearset.lattice.projections._vertices import check_trust, neighbours, vertices


def edgeworth_rows(sizes: Sequence[int], main: int, by: int, direction: int = 1) -> HalfSpaces:
    r"""Return rows that keep the slope along ``main`` from falling as ``by`` grows.

    For all neighbouring vertices, with m the place along ``main`` and b along ``by``,

    .. math:: direction \cdot [(f_{m+1,b+1} - f_{m,b+1}) - (f_{m+1,b} - f_{m,b})] \ge 0.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices along each feature; vertices stand in C order.
    main, by : int
        The feature that is trusted and the one that says how far.
    direction : {1, -1}
        The direction in which the lattice is monotone along ``main``.

    Returns
    -------
    HalfSpaces

    Examples
    --------
    >>> rows = edgeworth_rows((2, 2), main=0, by=1)
    >>> rows.residuals([[0.0, 0.0, 1.0, 3.0]])
    array([[2.]])
    """
    grid = vertices(sizes)
    check_trust(sizes, main, by, direction)
    lines = np.moveaxis(grid, (main, by), (0, 1))
    corners = [corner for side in neighbours(lines, 0) for corner in neighbours(side, 1)]
    indices = np.stack([corner.ravel() for corner in corners], axis=1)
    return HalfSpaces(indices, np.tile(direction * np.array([1.0, -1.0, -1.0, 1.0]), (len(indices), 1)))


def projection_edgeworth(
    values: npt.ArrayLike,
    sizes: Sequence[int],
    main: int,
    by: int,
    direction: int = 1,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> Array:
    """Project onto lattices whose slope along ``main`` never falls as ``by`` grows, within bounds.

    Parameters
    ----------
    values : array-like of shape (N, prod(sizes))
        Members of a batch, projected independently.
    sizes, main, by, direction
        As for :func:`edgeworth_rows`.
    lower, upper : float
        Bounds of all vertices; infinities stand for none.

    Returns
    -------
    ndarray of shape (N, prod(sizes))
        Feasible without any rounding error.

    Examples
    --------
    >>> projection_edgeworth([[0.0, 0.0, 1.0, 0.0]], (2, 2), main=0, by=1).round(6)
    array([[ 0.25, -0.25,  0.75,  0.25]])
    """
    rows = edgeworth_rows(sizes, main, by, direction)
    return ConstraintSet({"edgeworth": rows}, lower, upper, vertices(sizes).size).project_exactly(values)
