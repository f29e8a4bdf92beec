"""Lattices that are monotone in some of their features."""

from collections.abc import Sequence

import numpy as np

from clearset.functions.projections._halfspaces import HalfSpaces
from clearset.functions.projections._vertices import neighbours, vertices


def monotone_rows(sizes: Sequence[int], directions: Sequence[int]) -> HalfSpaces:
    """Return a row for each two neighbouring vertices along each monotone feature.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices along each feature; vertices stand in C order.
    directions : sequence of int
        +1 where the lattice never falls along a feature, -1 where it never rises, 0 where it may do either.

    Returns
    -------
    HalfSpaces

    Examples
    --------
    >>> monotone_rows((2, 2), (0, 1)).indices
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    grid = vertices(sizes)
    if len(directions) != grid.ndim or not set(directions) <= {-1, 0, 1}:
        raise ValueError(
            f"Directions are {tuple(directions)} for {grid.ndim} features. Give +1, -1 or 0 for each of them."
        )
    pairs, signs = [np.empty((0, 2), np.int32)], [np.empty(0)]
    for feature, direction in enumerate(directions):
        if direction:
            low, high = neighbours(grid, feature)
            pairs.append(np.stack([low.ravel(), high.ravel()], axis=1))
            signs.append(np.full(low.size, float(direction)))
    return HalfSpaces(np.concatenate(pairs), np.concatenate(signs)[:, None] * np.array([-1.0, 1.0]))
