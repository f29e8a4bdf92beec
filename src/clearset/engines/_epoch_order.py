"""The order in which an epoch goes through the training sets."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Sets that stay together where there are many, and from how many on.
TOGETHER, MANY = 32, 10_000


class EpochOrder:
    """Random orders, a new one for every epoch.

    A few sets are drawn one by one. Many are arranged at random once, and an epoch draws runs of neighbours in this
    arrangement: memory is read in runs, which takes the same time per set however many there are, where reading single
    sets here and there takes more than twice as long. Two sets are in one run by chance alone.

    Parameters
    ----------
    n : int
        The number of sets.
    rng : Generator
        What is random comes from here.
    arranges : bool, default=True
        Whether sets may be put in another order in memory; if not, their numbers are drawn in the same orders.

    Attributes
    ----------
    arrangement : ndarray of int64, shape (n,), optional
        The sets as they are to stand in memory; None: as they are.
    """

    def __init__(self, n: int, rng: np.random.Generator, *, arranges: bool = True) -> None:
        self._n, self._rng = n, rng
        random = rng.permutation(n) if n >= MANY else None
        self._sets = None if arranges else random
        self.arrangement: npt.NDArray[np.int64] | None = random if arranges else None

    def draw(self) -> npt.NDArray[np.int64]:
        """Return the places in the arrangement, in the order of an epoch."""
        if self._n < MANY:
            return self._rng.permutation(self._n)
        runs = self._rng.permutation(-(-self._n // TOGETHER))
        order = (TOGETHER * runs[:, None] + np.arange(TOGETHER)).ravel()
        order = order[order < self._n]
        return order if self._sets is None else self._sets[order]


class Block(NamedTuple):
    """A run of sets, and the order in which they are gone through, counted from the first of them."""

    start: int
    stop: int
    order: npt.NDArray[np.int64]


class BlockOrder:
    """Random orders of sets that stand in random order already, a new one for every epoch.

    An epoch goes through blocks of neighbours one after the other, in random order, so that only one of them need be in
    memory, and within a block through runs of neighbours as `EpochOrder` does.

    Parameters
    ----------
    n : int
        The number of sets.
    block : int
        The sets of a block, approximately.
    batch_size : int
        The sets of a step; those of one step are in one block.
    rng : Generator
        What is random comes from here.

    Attributes
    ----------
    block : int
        The sets of a block.
    """

    def __init__(self, n: int, block: int, batch_size: int, rng: np.random.Generator) -> None:
        self._n, self._rng = n, rng
        self.block = batch_size * max(1, round(block / batch_size))
        self._together = TOGETHER if n >= MANY else 1

    def draw(self) -> Iterator[Block]:
        """Yield the blocks of an epoch."""
        for number in self._rng.permutation(-(-self._n // self.block)).tolist():
            start, stop = number * self.block, min((number + 1) * self.block, self._n)
            runs = self._rng.permutation(-(-(stop - start) // self._together))
            order = (self._together * runs[:, None] + np.arange(self._together)).ravel()
            yield Block(start, stop, order[order < stop - start])
