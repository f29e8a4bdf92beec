"""Projections onto chains: values that never fall (or never rise) along consecutive columns."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from clearset.lattice.projections._members import Array, check_bounds, members

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


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
    starts, stops, lower, upper, directions
        As of :class:`Chains`.

    Returns
    -------
    ndarray of shape (N, S)

    Examples
    --------
    >>> projection_chains([[2.0, 1.0, 7.0, 1.0, 2.0]], [0, 3], [2, 5], directions=[1, -1])
    array([[1.5, 1.5, 7. , 1.5, 1.5]])
    """
    array = members(values)
    chains = Chains(starts, stops, lower, upper, directions)
    chains.check_size(array.shape[1])
    chains.project(array)
    return array


class Chains:
    """Chains within a row, checked once for the many projections of a training.

    Parameters
    ----------
    starts, stops : array-like of int of shape (C,)
        Chain c is the columns ``starts[c]`` to ``stops[c] - 1``. Chains stand from left to right and do not
        overlap. Columns outside all chains are only clipped.
    lower, upper : float
        Bounds of all columns; infinities stand for none.
    directions : array-like of int of shape (C,), optional
        +1 for a chain that never falls (the default), -1 for one that never rises.

    Examples
    --------
    >>> values = np.array([[2.0, 1.0, 7.0]])
    >>> Chains([0], [2]).project(values)
    >>> values
    array([[1.5, 1.5, 7. ]])
    """

    def __init__(
        self,
        starts: npt.ArrayLike,
        stops: npt.ArrayLike,
        lower: float = -np.inf,
        upper: float = np.inf,
        directions: npt.ArrayLike | None = None,
    ) -> None:
        check_bounds(lower, upper)
        self.lower, self.upper = lower, upper
        self._starts = np.asarray(starts, dtype=np.int64, order="C")
        self._stops = np.asarray(stops, dtype=np.int64, order="C")
        default = np.ones_like(self._starts)
        self._directions = (
            default if directions is None else np.asarray(directions, dtype=np.int64, order="C")
        )
        self._check()

    def project(self, values: Array) -> None:
        """Project ``values (N, S)``, contiguous and finite, in place."""
        if _native is not None:
            _native.project_chains(
                values, self._starts, self._stops, self._directions, self.lower, self.upper
            )
            return
        for start, stop, sign in zip(self._starts, self._stops, self._directions, strict=True):
            chains = values[:, start:stop] if sign > 0 else values[:, start:stop][:, ::-1]
            # A chain that is in order stays as it is, to the last bit.
            for member in np.flatnonzero((np.diff(chains, axis=1) < 0).any(axis=1)):
                chains[member] = isotonic_regression(chains[member]).x
        np.clip(values, self.lower, self.upper, out=values)

    def check_size(self, size: int) -> None:
        """Raise unless all chains lie within ``size`` columns."""
        if self._stops.size and self._stops[-1] > size:
            raise ValueError(
                f"Chains stop at {self._stops.tolist()}. "
                f"Give them from left to right, without overlap, within the {size} columns."
            )

    def _check(self) -> None:
        starts, stops, directions = self._starts, self._stops, self._directions
        if not (starts.ndim == 1 and starts.shape == stops.shape == directions.shape):
            raise ValueError(
                f"Starts, stops and directions have shapes {starts.shape}, {stops.shape} and {directions.shape}. "
                "Give one entry of each per chain."
            )
        edges = np.stack([starts, stops], axis=1).ravel()
        if edges.size and (edges[0] < 0 or (edges[1:] < edges[:-1]).any()):
            raise ValueError(
                f"Chains start at {starts.tolist()} and stop at {stops.tolist()}. "
                "Give them from column 0 on, from left to right, without overlap."
            )
        if (np.abs(directions) != 1).any():
            raise ValueError(
                f"Directions are {directions.tolist()}. Give +1 (never falls) or -1 (never rises)."
            )
