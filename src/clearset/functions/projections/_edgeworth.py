"""Edgeworth trust: the more of one feature, the more another one counts."""

from collections.abc import Sequence

import numpy as np

from clearset.functions.projections._halfspaces import HalfSpaces
from clearset.functions.projections._vertices import check_trust, neighbours, vertices


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
