"""Projection onto chains: values that never fall along consecutive columns."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from clearset.functions.projections._checks import Array, check_bounds

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


class Chains:
    r"""Chains within a row, checked once for the many projections of a training.

    The projection onto :math:`\{x : lower \le x_1 \le x_2 \le \dots \le x_n \le upper\}` pools adjacent violators, then
    clips. The clip is exact: it keeps the order; it keeps equal values equal, so that every multiplier of the unbounded
    projection stays complementary; and what it adds points inwards at a bound that is reached. These are the optimality
    conditions of the bounded problem.

    Parameters
    ----------
    starts, stops : array-like of int of shape (C,)
        Chain c is the columns ``starts[c]`` to ``stops[c] - 1``. Chains stand from left to right and do not overlap.
        Columns outside all chains are only clipped.
    lower, upper : float, default=-inf and inf
        Bounds of all columns; infinities stand for none.

    Examples
    --------
    >>> values = np.array([[2.0, 1.0, 7.0]])
    >>> Chains([0], [2]).project(values)
    >>> values
    array([[1.5, 1.5, 7. ]])
    """

    def __init__(
        self, starts: npt.ArrayLike, stops: npt.ArrayLike, lower: float = -np.inf, upper: float = np.inf
    ) -> None:
        check_bounds(lower, upper)
        self.lower, self.upper = lower, upper
        self._starts = np.asarray(starts, dtype=np.int64, order="C")
        self._stops = np.asarray(stops, dtype=np.int64, order="C")
        self._check()

    @property
    def ranges(self) -> npt.NDArray[np.int64]:
        """Start and stop of every chain, ``(C, 2)``."""
        return np.stack([self._starts, self._stops], axis=1)

    def project(self, values: Array) -> None:
        """Project ``values (N, S)``, contiguous and finite, in place."""
        if _native is not None:
            _native.project_chains(values, self._starts, self._stops, self.lower, self.upper)
            return
        for start, stop in zip(self._starts, self._stops, strict=True):
            chains = values[:, start:stop]
            # A chain that is in order stays as it is, to the last bit.
            for member in np.flatnonzero((np.diff(chains, axis=1) < 0).any(axis=1)):
                chains[member] = isotonic_regression(chains[member]).x
        np.clip(values, self.lower, self.upper, out=values)

    def _check(self) -> None:
        starts, stops = self._starts, self._stops
        if starts.ndim != 1 or starts.shape != stops.shape:
            raise ValueError(
                f"Starts and stops have shapes {starts.shape} and {stops.shape}. Give one entry of each per chain."
            )
        edges = np.stack([starts, stops], axis=1).ravel()
        if edges.size and (edges[0] < 0 or (edges[1:] < edges[:-1]).any()):
            raise ValueError(
                f"Chains start at {starts.tolist()} and stop at {stops.tolist()}. "
                "Give them from column 0 on, from left to right, without overlap."
            )
