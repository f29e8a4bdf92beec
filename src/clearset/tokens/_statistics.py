"""What is known about each token: counts, weights, means, variances and intervals of the label."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.tokens._coded import Float64, Int32
from clearset.tokens._intervals import student, wilson

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of T tokens; filters look at these.

    Parameters
    ----------
    counts : ndarray, shape (T,)
        The number of examples that hold the token. Outside a fold it is brought to the size of all examples, and need
        not be whole.
    weights : ndarray, shape (T,)
        The weight of these examples.
    sizes : ndarray of int32, shape (T,)
        The number of items of the token.
    means : ndarray, shape (T,) or (T, C)
        The mean label: of a number, or of two classes the share of the second; of other numbers of classes all shares.
    variances : ndarray, shape (T,)
        Of a number the sample variance (by n - 1, NaN for one example). Of classes half the sum of p (1 - p), which is
        p (1 - p) for two.
    class_weights : ndarray, shape (T, C), or None
        The weight of the examples of each class.
    passes : ndarray of bool, shape (T,)
        Whether the token passes the filters.
    """

    counts: npt.NDArray[Any]
    weights: Float64
    sizes: Int32
    means: Float64
    variances: Float64
    class_weights: Float64 | None
    passes: BoolArray

    @classmethod
    def of_classes(
        cls, counts: npt.NDArray[Any], class_weights: npt.NDArray[Any], sizes: Int32
    ) -> "Statistics":
        """Make statistics of the weight of each class, (T, C)."""
        class_weights = class_weights.astype(np.float64)
        weights = class_weights.sum(axis=1)
        with np.errstate(invalid="ignore"):
            shares = class_weights / weights[:, None]
        means = shares[:, 1] if shares.shape[1] == 2 else shares
        variances = (shares * (1 - shares)).sum(axis=1) / 2
        return cls(counts, weights, sizes, means, variances, class_weights, counts > 0)

    @classmethod
    def of_numbers(cls, counts: npt.NDArray[Any], sums: Float64, centre: float, sizes: Int32) -> "Statistics":
        """Make statistics of the sums of w, w (y - centre) and w (y - centre)², (T, 3)."""
        weights, first, second = (np.ascontiguousarray(sums[:, power]) for power in range(3))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = first / weights
            spread = np.maximum(second / weights - mean * mean, 0.0)
            variances = np.where(counts > 1, spread * (counts / (counts - 1)), np.nan)
        return cls(counts, weights, sizes, mean + centre, variances, None, counts > 0)

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, tokens: npt.NDArray[Any]) -> "Statistics":
        """Return the statistics of some tokens."""
        classes = None if self.class_weights is None else self.class_weights[tokens]
        return Statistics(
            self.counts[tokens],
            self.weights[tokens],
            self.sizes[tokens],
            self.means[tokens],
            self.variances[tokens],
            classes,
            self.passes[tokens],
        )

    def scaled(self, factor: float) -> "Statistics":
        """Bring counts and weights to another number of examples; means stay."""
        classes = None if self.class_weights is None else self.class_weights * factor
        return replace(
            self, counts=self.counts * factor, weights=self.weights * factor, class_weights=classes
        )

    def intervals(self, level: float = 0.95) -> tuple[Float64, Float64]:
        """Return lower and upper ends of the mean label's confidence interval, of the shape of `means`.

        Wilson's of classes, Student's of numbers, both by the number of examples.
        """
        if self.class_weights is None:
            return student(self.means, self.variances, self.counts, level)
        return wilson(self.means, self.counts[:, None] if self.means.ndim == 2 else self.counts, level)

    def interval_widths(self, level: float = 0.95) -> Float64:
        """Return the widths of the intervals, (T,); of several classes the largest."""
        low, high = self.intervals(level)
        width: Float64 = high - low
        return width.max(axis=1, initial=0.0) if width.ndim == 2 else width
