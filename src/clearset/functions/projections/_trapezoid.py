"""Trapezoid trust: the more of one feature, the wider the range that another one spans."""

from collections.abc import Sequence

import numpy as np

from clearset.functions.projections._halfspaces import HalfSpaces
from clearset.functions.projections._vertices import check_trust, neighbours, vertices


def trapezoid_rows(sizes: Sequence[int], main: int, by: int, direction: int = 1) -> HalfSpaces:
    """Return rows that let the range along ``main`` only widen as ``by`` grows.

    With direction +1 the value at the low end of ``main`` never rises, and the value at its high end never
    falls, as ``by`` grows; with direction -1 it is the other way round.

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
    >>> rows = trapezoid_rows((2, 2), main=0, by=1)
    >>> rows.residuals([[0.0, -1.0, 1.0, 3.0]])
    array([[1., 2.]])
    """
    grid = vertices(sizes)
    check_trust(sizes, main, by, direction)
    lines = np.moveaxis(grid, (main, by), (0, 1))
    ends = [neighbours(lines[end], 0) for end in (0, -1)]
    indices = np.concatenate([np.stack([before.ravel(), after.ravel()], axis=1) for before, after in ends])
    signs = direction * np.repeat([-1.0, 1.0], len(indices) // 2)
    return HalfSpaces(indices, signs[:, None] * np.array([-1.0, 1.0]))
