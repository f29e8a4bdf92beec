"""Sums of floats that have the same bits in whatever order and pieces they are added up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from clearset.tokens._codes import Float64, Int32, Int64

_BITS = 53  # whole numbers up to 2^53 are exact as floats
_MOST_PARTS = 3
_LEAST_EXPONENT = -1074  # every float is a multiple of 2^-1074
_NO_TOP, _NO_LOW = -1075, 1025  # of a column of zeros


class Extent(NamedTuple):
    """How large and how fine the contributions of some examples are, column by column.

    Parameters
    ----------
    n : int
        The number of examples.
    tops : ndarray of int64, shape (W,)
        All contributions are less than 2^top in absolute value.
    lows : ndarray of int64, shape (W,)
        All contributions are multiples of 2^low.

    Examples
    --------
    >>> Extent.of(np.array([[3.0], [-0.75]]))
    Extent(n=2, tops=array([2]), lows=array([-2]))
    """

    n: int
    tops: Int64
    lows: Int64

    @classmethod
    def of(cls, contributions: Float64) -> Extent:
        """Return the extent of contributions, (B, W)."""
        mantissas, exponents = np.frexp(contributions)
        counted = (mantissas != 0) & np.isfinite(contributions)
        whole = np.ldexp(np.where(counted, mantissas, 0.5), _BITS).astype(np.int64)
        zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # the number of zeros at the end
        tops = np.where(counted, exponents, _NO_TOP).max(axis=0, initial=_NO_TOP)
        lows = np.where(counted, exponents - _BITS + zeros, _NO_LOW).min(axis=0, initial=_NO_LOW)
        return cls(len(contributions), tops.astype(np.int64), lows.astype(np.int64))

    @classmethod
    def joined(cls, extents: Iterable[Extent]) -> Extent:
        """Return the extent of the examples of several extents, of which there is at least one."""
        n, tops, lows = zip(*extents, strict=True)
        return cls(sum(n), np.max(tops, axis=0), np.min(lows, axis=0))


class ExactSums(NamedTuple):
    """Splits contributions into parts the sums of which are exact.

    A part is a multiple of a power of two, so coarse that the sum over all examples is a whole multiple of at most
    2^53. What is left is the next part, on a finer grid. Three parts at most; what they leave is less than 2^-100 of
    the largest contribution for a million examples, and less than 2^-70 for a billion.

    Parameters
    ----------
    columns : tuple of int
        The column of each part.
    exponents : tuple of int
        Its values are multiples of two to this power.

    Examples
    --------
    >>> values = np.array([[0.1], [0.2], [0.3], [1e16], [-1e16]])
    >>> exact = ExactSums.of(Extent.of(values))
    >>> exact.join(exact.split(values).sum(axis=0)), exact.join(exact.split(values[::-1]).sum(axis=0))
    (array([0.6]), array([0.6]))
    """

    columns: tuple[int, ...]
    exponents: tuple[int, ...]

    @classmethod
    def of(cls, extent: Extent) -> ExactSums:
        """Choose the grids for the contributions of all examples: as many as are needed."""
        bits = _BITS - max(extent.n - 1, 0).bit_length()
        parts = []
        for column, (top, low) in enumerate(zip(extent.tops.tolist(), extent.lows.tolist(), strict=True)):
            for _ in range(_MOST_PARTS):
                exponent = max(top - bits, _LEAST_EXPONENT)
                parts.append((column, exponent))
                top = exponent - 1  # the next part is at most half a step of this grid
                if exponent <= low:
                    break
        columns, exponents = zip(*parts, strict=True)
        return cls(columns, exponents)

    def split(self, contributions: Float64) -> Float64:
        """Return the parts of contributions, (B, W), as (B, P)."""
        parts = np.empty((len(contributions), len(self.columns)))
        before = -1
        for part, (column, exponent) in enumerate(zip(*self, strict=True)):
            if column != before:
                rest, before = contributions[:, column], column
            parts[:, part] = np.ldexp(np.rint(np.ldexp(rest, -exponent)), exponent)
            with np.errstate(invalid="ignore"):
                rest = np.where(np.isfinite(rest), rest - parts[:, part], 0.0)
        return parts

    def join(self, sums: Float64) -> Float64:
        """Return sums of contributions, (..., W), from sums of their parts, (..., P)."""
        joined = np.zeros((*sums.shape[:-1], self.columns[-1] + 1))
        for part in reversed(range(len(self.columns))):  # the finest first
            joined[..., self.columns[part]] += sums[..., part]
        return joined


def sums_by_channel(parts: Float64, channels: Int32 | None, n_channels: int) -> Float64:
    """Add up parts, (B, P), to (n_channels, P); without channels all are of the first."""
    places = np.zeros(len(parts), np.int32) if channels is None else channels
    added = [np.bincount(places, weights=column, minlength=n_channels) for column in parts.T]
    return np.stack(added, axis=1)
