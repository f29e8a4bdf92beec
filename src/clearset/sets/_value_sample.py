"""A sample of the values of a feature, the same in whatever pieces and order they come."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._offsets import FloatArray, IntArray

Keys = npt.NDArray[np.uint64]
Gather = Callable[[npt.NDArray[Any]], list[npt.NDArray[Any]]]
"""Gives what each of several processes has; alone, a list of one."""

# Up to this many values all are kept. Of more, the share of values below a quantile of the sample is off by less than
# 0.0061 with a probability of 95% (Dvoretzky, Kiefer and Wolfowitz), and by less than 0.0086 with 99.9%.
MOST_VALUES = 50_000


def token_keys(first_set: int, offsets: IntArray) -> Keys:
    """Return a number for each token that stands for it: its set and its place there."""
    sizes = np.diff(offsets)
    starts = (np.arange(first_set, first_set + len(sizes)) << 24) - offsets[:-1]
    return np.asarray(np.repeat(starts, sizes) + np.arange(offsets[-1]), np.int64).view(np.uint64)


def set_keys(first_set: int, n_sets: int) -> Keys:
    """Return a number for each set that stands for it."""
    return (np.arange(first_set, first_set + n_sets) << 24).astype(np.int64).view(np.uint64)


def mixed(keys: Keys) -> Keys:
    """Return numbers that look random, always the same for the same keys."""
    values = keys + np.uint64(0x9E3779B97F4A7C15)
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


class ValueSample:
    """Those of all values whose keys mix to the least numbers, and the smallest and the largest value.

    Samples of parts can be put together: the result is the sample of the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets._value_sample import ValueSample, mixed, set_keys
    >>> sample, keys = ValueSample(), set_keys(0, 3)
    >>> sample.add(keys, mixed(keys), np.array([5.0, 4.0, 1.0]), None)
    >>> sample.values()
    (array([5., 4., 1.]), None)
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Keys, Keys, FloatArray, FloatArray]] = []
        self._ends: list[tuple[Keys, Keys, FloatArray, FloatArray]] = []
        self._limit = np.uint64(0xFFFFFFFFFFFFFFFF)
        self._held, self._weighted = 0, False
        self.count = 0

    def add(self, keys: Keys, order: Keys, values: FloatArray, weights: FloatArray | None) -> None:
        """Add values that are not missing, with their keys and what these mix to."""
        if not len(values):
            return
        self._weighted |= weights is not None
        weights = np.broadcast_to(1.0, len(values)) if weights is None else weights
        self.count += len(values)
        ends = [int(values.argmin()), int(values.argmax())]
        self._ends.append((keys[ends], order[ends], values[ends], weights[ends]))
        if self._limit < np.uint64(0xFFFFFFFFFFFFFFFF):
            near = np.flatnonzero(order <= self._limit)
            keys, order, values, weights = keys[near], order[near], values[near], weights[near]
        elif len(order) > 4 * MOST_VALUES:
            # Nearly always enough, and much less to sort.
            guess = np.uint64(int(2**64 * (2 * MOST_VALUES / len(order))))
            if len(near := np.flatnonzero(order <= guess)) >= MOST_VALUES:
                keys, order, values, weights = keys[near], order[near], values[near], weights[near]
        self._parts.append((keys.copy(), order.copy(), values.copy(), weights.copy()))
        self._held += len(keys)
        if self._held > 2 * MOST_VALUES:
            self._shrink()

    def gathered(self, gather: Gather) -> "ValueSample":
        """Return the sample of what all processes have; each of them calls this."""
        if self.count:
            self._shrink()
        empty = (np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0), np.empty(0))
        parts, ends = (
            list(zip(*(gather(column) for column in (held[0] if held else empty)), strict=True))
            for held in (self._parts, self._ends)
        )
        facts = gather(np.array([self.count, self._weighted, self._held], np.int64))
        whole = ValueSample()
        for part, end, (count, weighted, held) in zip(parts, ends, facts, strict=True):
            if count:
                whole._parts.append(part)
                whole._ends.append(end)
                whole._held += int(held)
                whole._weighted |= bool(weighted)
                whole.count += int(count)
        return whole

    def values(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the sample in the order of the keys, and the weights if there are any."""
        if not self.count:
            return np.empty(0), None
        self._shrink()
        keys, _, values, weights = self._parts[0]
        if self.count > len(values):
            _, _, end_values, end_weights = self._ends[0]
            values, weights = np.append(values, end_values), np.append(weights, end_weights)
            keys = np.append(keys, self._ends[0][0])
        order = np.argsort(keys, kind="stable")
        return values[order], weights[order] if self._weighted else None

    def _shrink(self) -> None:
        keys, order, values, weights = _joined(self._parts)
        if len(order) > MOST_VALUES:
            kept = np.argpartition(order, MOST_VALUES - 1)[:MOST_VALUES]
            keys, order, values, weights = keys[kept], order[kept], values[kept], weights[kept]
            self._limit = order.max()
        self._parts, self._held = [(keys, order, values, weights)], len(keys)
        keys, order, values, weights = _joined(self._ends)
        # Of equal values the one with the least key, so that the order of pieces does not matter.
        by_value = np.lexsort([keys, values]), np.lexsort([keys, -values])
        ends = [int(by_value[0][0]), int(by_value[1][0])]
        self._ends = [(keys[ends], order[ends], values[ends], weights[ends])]


def _joined(parts: list[tuple[Keys, Keys, FloatArray, FloatArray]]) -> tuple[Keys, Keys, FloatArray, FloatArray]:
    keys, order, values, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return keys, order, values, weights
