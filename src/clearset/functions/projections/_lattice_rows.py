"""Rows of half-spaces that constrain lattices: monotone features, and two kinds of trust."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from clearset.functions.projections._halfspaces import HalfSpaces

Vertices = npt.NDArray[np.int32]


def monotone_rows(sizes: Sequence[int], directions: Sequence[int]) -> HalfSpaces:
    """Return a row for each two neighbouring vertices along each monotone feature.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices along each feature; vertices stand in C order.
    directions : sequence of int
        For each feature 1 where the lattice never falls along it, -1 where it never rises, 0 where it may do either.

    Returns
    -------
    HalfSpaces
        The rows.

    Examples
    --------
    >>> monotone_rows((2, 2), (0, 1)).indices
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    grid = _vertices(sizes)
    if len(directions) != grid.ndim or not set(directions) <= {-1, 0, 1}:
        raise ValueError(
            f"Directions are {tuple(directions)} for {grid.ndim} features. Give +1, -1 or 0 for each of them."
        )
    pairs, signs = [np.empty((0, 2), np.int32)], [np.empty(0)]
    for feature, direction in enumerate(directions):
        if direction:
            low, high = _neighbours(grid, feature)
            pairs.append(np.stack([low.ravel(), high.ravel()], axis=1))
            signs.append(np.full(low.size, float(direction)))
    return HalfSpaces(np.concatenate(pairs), np.concatenate(signs)[:, None] * np.array([-1.0, 1.0]))


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
    direction : {1, -1}, default=1
        The direction in which the lattice is monotone along ``main``.

    Returns
    -------
    HalfSpaces
        The rows.

    Examples
    --------
    >>> edgeworth_rows((2, 2), main=0, by=1).residuals([[0.0, 0.0, 1.0, 3.0]])
    array([[2.]])
    """
    lines = _lines(sizes, main, by, direction)
    corners = [corner for side in _neighbours(lines, 0) for corner in _neighbours(side, 1)]
    indices = np.stack([corner.ravel() for corner in corners], axis=1)
    return HalfSpaces(indices, np.tile(direction * np.array([1.0, -1.0, -1.0, 1.0]), (len(indices), 1)))


def trapezoid_rows(sizes: Sequence[int], main: int, by: int, direction: int = 1) -> HalfSpaces:
    """Return rows that let the range along ``main`` only widen as ``by`` grows.

    With direction +1 the value at the low end of ``main`` never rises, and the value at its high end never falls, as
    ``by`` grows; with direction -1 it is the other way round.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices along each feature; vertices stand in C order.
    main, by : int
        The feature that is trusted and the one that says how far.
    direction : {1, -1}, default=1
        The direction in which the lattice is monotone along ``main``.

    Returns
    -------
    HalfSpaces
        The rows.

    Examples
    --------
    >>> trapezoid_rows((2, 2), main=0, by=1).residuals([[0.0, -1.0, 1.0, 3.0]])
    array([[1., 2.]])
    """
    lines = _lines(sizes, main, by, direction)
    ends = [_neighbours(lines[end], 0) for end in (0, -1)]
    indices = np.concatenate([np.stack([before.ravel(), after.ravel()], axis=1) for before, after in ends])
    signs = direction * np.repeat([-1.0, 1.0], len(indices) // 2)
    return HalfSpaces(indices, signs[:, None] * np.array([-1.0, 1.0]))


def _vertices(sizes: Sequence[int]) -> Vertices:
    """Return the vertices' numbers, in C order, as an array with one axis per feature."""
    if not sizes or min(sizes) < 2:
        raise ValueError(f"The lattice sizes are {tuple(sizes)}. Give each feature at least 2 vertices.")
    return np.arange(prod(sizes), dtype=np.int32).reshape(tuple(sizes))


def _neighbours(grid: Vertices, feature: int) -> tuple[Vertices, Vertices]:
    """Return all vertices but the last along a feature, and the next one of each."""
    lines = np.moveaxis(grid, feature, 0)
    return lines[:-1], lines[1:]


def _lines(sizes: Sequence[int], main: int, by: int, direction: int) -> Vertices:
    """Return the vertices with the features of a trust first, which must be two of them, with a direction."""
    grid, features = _vertices(sizes), range(len(sizes))
    if main not in features or by not in features or main == by:
        raise ValueError(
            f"main is feature {main} and by is feature {by} of a lattice of {len(sizes)}. "
            f"Give two different features from 0 to {len(sizes) - 1}."
        )
    if direction not in (-1, 1):
        raise ValueError(f"The direction of the main feature is {direction!r}. Give +1 or -1.")
    return np.moveaxis(grid, (main, by), (0, 1))
