"""The order in which an epoch goes through the training sets."""

import numpy as np
import numpy.typing as npt

# Sets that stay together where there are many, and from how many on.
TOGETHER, MANY = 32, 10_000


class EpochOrder:
    """Random orders, a new one for every epoch.

    A few sets are drawn one by one. Many are arranged at random once, and an epoch draws runs of neighbours in this
    arrangement: memory is read in runs, which takes the same time per set however many there are, where reading single
    sets here and there takes more than twice as long. Two sets are in one run by chance alone.

    Attributes
    ----------
    arrangement : ndarray of int64, shape (n,), optional
        The sets as they are to stand in memory; None: as they are.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self._n, self._rng = n, rng
        self.arrangement: npt.NDArray[np.int64] | None = rng.permutation(n) if n >= MANY else None

    def draw(self) -> npt.NDArray[np.int64]:
        """Return the places in the arrangement, in the order of an epoch."""
        if self.arrangement is None:
            return self._rng.permutation(self._n)
        runs = self._rng.permutation(-(-self._n // TOGETHER))
        order = (TOGETHER * runs[:, None] + np.arange(TOGETHER)).ravel()
        return order[order < self._n]
