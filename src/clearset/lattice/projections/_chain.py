"""Projections onto chains: values that never fall (or never rise) along consecutive columns."""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from clearset.lattice.projections._members import Array, check_bounds, members

try:
    _native: Any = import_module("clearset._native")
except ImportError:
    _native = None


def projection_chain(values: npt.ArrayLike, lower: float = -np.inf, upper: float = np.inf) -> Array:
    r"""Project onto :math:`\{x : lower \le x_1 \le x_2 \le \dots \le x_n \le upper\}`.

    Pool adjacent violators, then clip. The clip is exact: it keeps the order; it keeps equal values equal, so
    that every multiplier of the unbounded projection stays complementary; and what it adds points inwards at
    a bound that is reached. These are the optimality conditions of the bounded problem.

    Parameters
    ----------
    values : array-like of shape (N, n)
        Members of a batch, projected independently.
    lower, upper : float
        Bounds of all values; infinities stand for none.

    Returns
    -------
    ndarray of shape (N, n)

    Examples
    --------
    >>> projection_chain([[0.0, 3.0, 1.0, 9.0]], upper=5.0)
    array([[0., 2., 2., 5.]])
    """
    array = members(values)
    return projection_chains(array, [0], [array.shape[1]], lower, upper)


def projection_chains(
    values: npt.ArrayLike,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    lower: float = -np.inf,
    upper: float = np.inf,
    directions: npt.ArrayLike | None = None,
) -> Array:
    """Project onto several chains within each row, as :func:`projection_chain` does for one.

    Parameters
    ----------
    values : array-like of shape (N, S)
        Members of a batch, projected independently.
    starts, stops : array-like of int of shape (C,)
        Chain c is the columns ``starts[c]`` to ``stops[c] - 1``. Chains stand from left to right and do not
        overlap. Columns outside all chains are only clipped.
    lower, upper : float
        Bounds of all columns; infinities stand for none.
    directions : array-like of int of shape (C,), optional
        +1 for a chain that never falls (the default), -1 for one that never rises.

    Returns
    -------
    ndarray of shape (N, S)

    Examples
    --------
    >>> projection_chains([[2.0, 1.0, 7.0, 1.0, 2.0]], [0, 3], [2, 5], directions=[1, -1])
    array([[1.5, 1.5, 7. , 1.5, 1.5]])
    """
    check_bounds(lower, upper)
    array = members(values)
    first, last = np.asarray(starts, dtype=np.int64), np.asarray(stops, dtype=np.int64)
    signs = np.ones_like(first) if directions is None else np.asarray(directions, dtype=np.int64)
    _check_chains(first, last, signs, array.shape[1])
    if _native is not None:
        _native.project_chains(array, first, last, signs, lower, upper)
        return array
    for start, stop, sign in zip(first, last, signs, strict=True):
        chains = array[:, start:stop] if sign > 0 else array[:, start:stop][:, ::-1]
        # A chain that is in order stays as it is, to the last bit.
        for member in np.flatnonzero((np.diff(chains, axis=1) < 0).any(axis=1)):
            chains[member] = isotonic_regression(chains[member]).x
    return np.clip(array, lower, upper, out=array)


def _check_chains(
    starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64], directions: npt.NDArray[np.int64], size: int
) -> None:
    if not (starts.ndim == 1 and starts.shape == stops.shape == directions.shape):
        raise ValueError(
            f"Starts, stops and directions have shapes {starts.shape}, {stops.shape} and {directions.shape}. "
            "Give one entry of each per chain."
        )
    edges = np.stack([starts, stops], axis=1).ravel()
    if edges.size and (edges[0] < 0 or edges[-1] > size or (edges[1:] < edges[:-1]).any()):
        raise ValueError(
            f"Chains start at {starts.tolist()} and stop at {stops.tolist()}. "
            f"Give them from left to right, without overlap, within the {size} columns."
        )
    if (np.abs(directions) != 1).any():
        raise ValueError(f"Directions are {directions.tolist()}. Give +1 (never falls) or -1 (never rises).")
