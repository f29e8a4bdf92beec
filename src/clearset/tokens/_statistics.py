"""Statistics of tokens: counts, weights, and the means, variances and intervals of their labels."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.tokens._codes import BoolArray, Float64, Int32, Int64, Sums
from clearset.tokens._confidence_intervals import student, wilson
from clearset.tokens._tokenizers import Tokenizer


class Kinds(NamedTuple):
    """The kinds of T tokens.

    Parameters
    ----------
    names : tuple of str
        The kinds.
    numbers : ndarray of uint8, shape (T,)
        The place of each token's kind among them.
    """

    names: tuple[str, ...]
    numbers: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, tokenizer: Tokenizer, vocabulary: pa.LargeStringArray, items: Int32) -> "Kinds | None":
        """Return the kinds of tokens that have these items, one of each; None where all are of one kind."""
        if not tokenizer.kinds:
            return None
        ends = [run.end for run in tokenizer.runs(vocabulary)]
        return cls(tokenizer.kinds, np.searchsorted(ends, items, side="right").astype(np.uint8))


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of T tokens, computed from sums when they are needed; filters read them.

    Parameters
    ----------
    held : ndarray of int64, shape (T,)
        The number of examples that hold the token.
    sums : ndarray, shape (T, C) or (T, 3)
        Of classes the weight of the examples of each; of a number the sums of w, w (y - centre) and w (y - centre)².
    sizes : ndarray of int32, shape (T,)
        The number of items of the token.
    passes : ndarray of bool, shape (T,)
        Whether the token passes the filters.
    centre : float or None, default=None
        The number that was subtracted from the labels; None for classes.
    scale : tuple of two ints, default=(1, 1)
        Counts and weights are multiplied by the first number of examples and divided by the second.
    kinds : Kinds or None, default=None
        The kinds of the tokens; None where all are of one.

    Examples
    --------
    >>> import clearset as cs
    >>> table = cs.TokenTable.build([["a"], ["a"], ["a", "b"]], [0, 1, 1], cs.Items())
    >>> table.statistics.counts.tolist(), table.statistics.means.round(3).tolist()
    ([1, 3], [1.0, 0.667])
    """

    held: Int64
    sums: Sums
    sizes: Int32
    passes: BoolArray
    centre: float | None = None
    scale: tuple[int, int] = (1, 1)
    kinds: Kinds | None = None

    def __len__(self) -> int:
        return len(self.held)

    def take(self, tokens: npt.NDArray[Any]) -> "Statistics":
        """Return the statistics of some tokens."""
        return replace(
            self,
            held=self.held.take(tokens),
            sums=self.sums.take(tokens, axis=0),
            sizes=self.sizes.take(tokens),
            passes=self.passes.take(tokens),
            kinds=None if self.kinds is None else self.kinds._replace(numbers=self.kinds.numbers.take(tokens)),
        )

    def of_kind(self, name: str) -> BoolArray:
        """Return which tokens are of a kind; raise a ValueError where there is no such kind."""
        names = () if self.kinds is None else self.kinds.names
        if self.kinds is None or name not in names:
            raise ValueError(f"There are no tokens of the kind {name!r}; there are: {', '.join(names) or 'no kinds'}.")
        return np.asarray(self.kinds.numbers == names.index(name))

    @cached_property
    def counts(self) -> npt.NDArray[Any]:
        """The number of examples that hold the token, (T,); where it is scaled it need not be whole."""
        return self.held if self.scale == (1, 1) else self._scaled(self.held)

    @cached_property
    def weights(self) -> Float64:
        """The weight of these examples, (T,)."""
        return self._scaled(self._weights)

    @cached_property
    def class_weights(self) -> Float64 | None:
        """The weight of the examples of each class, (T, C); None for a number."""
        return None if self.centre is not None else self._scaled(self.sums)

    @cached_property
    def means(self) -> Float64:
        """The mean label: of a number, or of two classes the share of the second, (T,); else all shares, (T, C)."""
        if self.centre is not None:
            return self._averaged(self.sums[:, 1]) + self.centre
        return self._averaged(self.sums[:, 1] if self.sums.shape[1] == 2 else self.sums)

    @cached_property
    def variances(self) -> Float64:
        """The variance, (T,): of a number by n - 1, NaN for one example; of classes half the sum of p (1 - p)."""
        # For two classes that is p (1 - p).
        if self.centre is None:
            shares = self._averaged(self.sums)
            return np.asarray((shares * (1 - shares)).sum(axis=1) / 2)
        first, second = self._averaged(self.sums[:, 1]), self._averaged(self.sums[:, 2])
        spread = np.maximum(second - first * first, 0.0)
        return np.where(self.held > 1, spread * (self.held / np.maximum(self.held - 1, 1)), np.nan)

    def intervals(self, level: float = 0.95) -> tuple[Float64, Float64]:
        """Return lower and upper ends of the mean label's confidence interval, of the shape of `means`."""
        # Wilson's of classes, Student's of numbers, both by the number of examples.
        if self.centre is not None:
            return student(self.means, self.variances, self.counts, level)
        return wilson(self.means, self.counts[:, None] if self.means.ndim == 2 else self.counts, level)

    def interval_widths(self, level: float = 0.95) -> Float64:
        """Return the widths of the intervals, (T,); of several classes the largest."""
        low, high = self.intervals(level)
        width: Float64 = high - low
        return width.max(axis=1, initial=0.0) if width.ndim == 2 else width

    @cached_property
    def _weights(self) -> Float64:
        weights = self.sums.sum(axis=1) if self.centre is None else self.sums[:, 0]
        return weights.astype(np.float64)

    def _averaged(self, sums: npt.NDArray[Any]) -> Float64:
        """Divide sums by the weights; NaN where these are 0, or so small beside others that nothing is left of them."""
        weights = np.where(self._weights > 0, self._weights, np.nan)
        return np.asarray(sums / (weights if sums.ndim == 1 else weights[:, None]))

    def _scaled(self, values: npt.NDArray[Any]) -> Float64:
        # Multiplied first: where the quotient is whole it is then exact.
        numerator, denominator = self.scale
        return np.asarray(values.astype(np.float64) * numerator / denominator)
