"""What training has shown: where its data lie, and what the set function says of them on average."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# One in so many of the training sets is enough to learn from, and so is this number of them.
_ENOUGH = 50


def enough(n: float) -> float:
    """Return how many of n cases have to show something, for it to be learned from them.

    Parameters
    ----------
    n : float
        The number of cases in all.

    Returns
    -------
    float
        One in 50 of them, but at least 1 and at most 50.

    Examples
    --------
    >>> from clearset.functions import enough
    >>> enough(30), enough(500), enough(1_000_000)
    (1.0, 10.0, 50.0)
    """
    return min(max(n / _ENOUGH, 1.0), float(_ENOUGH))


@dataclass(frozen=True, eq=False, repr=False)
class Support:
    """Where the training data lie, and so how far a prediction may leave the base rate.

    Parameters
    ----------
    base : ndarray of shape (C, K)
        The mean scores that stand for the base rate, which is the average prediction for the training sets. Scores are
        shown as distances from it.
    tokens : int
        The smallest number of tokens that enough training sets had. Mean scores of smaller sets are shrunk to the base.
    counts : ndarray of shape (S,)
        How many training sets have their values at each slot of the calibrators; a set with several tokens, and a value
        between two keypoints, count in parts.
    alone : float, optional
        How much the score of a token counts that is alone in its set; more tokens count more, and `tokens` of them in
        full. By default ``1 / tokens``, as if tokens that score the base rate filled the set up.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.functions import Support
    >>> support = Support(np.array([[0.1]]), 4, np.zeros(3))
    >>> support.shrunk(np.array([[[0.5]], [[0.5]]]), np.array([1, 4])).ravel()
    array([0.2, 0.5])
    """

    base: FloatArray
    tokens: int
    counts: FloatArray
    alone: float | None = None

    def __repr__(self) -> str:
        base = np.array2string(self.base.ravel(), precision=3, threshold=5)
        return f"Support(base {base}, from {self.tokens} tokens on)"

    @classmethod
    def unknown(cls, n_outputs: int, width: int, n_slots: int) -> "Support":
        """Return what is assumed of a function of which nothing is known: a score of 0 is the base rate."""
        return cls(np.zeros((n_outputs, width)), 1, np.zeros(n_slots))

    def shrunk(self, means: FloatArray, sizes: npt.NDArray[np.integer]) -> FloatArray:
        """Shrink the mean scores ``(B, C, K)`` of sets that are smaller than supported to the base."""
        if self.tokens < 2 or not (small := sizes < self.tokens).any():
            return means
        means = means.copy()
        shares = self.shares(sizes[small]).reshape(-1, 1, 1)
        means[small] = self.base + shares * (means[small] - self.base)
        return means

    def shares(self, sizes: npt.NDArray[np.integer]) -> FloatArray:
        """Return how much mean scores count in sets of these sizes, ``(B,)``: from 0 without tokens to 1."""
        if self.tokens < 2:
            return np.ones(len(sizes))
        return np.asarray(np.interp(sizes, [0, 1, self.tokens], [0.0, self.share_of_one, 1.0]))

    @property
    def share_of_one(self) -> float:
        """How much the score of a token counts that is alone in its set."""
        return 1.0 / self.tokens if self.alone is None else self.alone

    def usual(self, calibration: FloatArray, slots: slice) -> FloatArray:
        """Return what calibrators make of a feature on average, ``(C * K,)``; the slots are those of the feature."""
        counts = self.counts[slots]
        shares = counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1.0 / max(len(counts), 1))
        return np.asarray(calibration[:, slots] @ shares)
