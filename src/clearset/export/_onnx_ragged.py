"""Sets of several tokens in ONNX: which set a token stands in, and sums over sets."""

from __future__ import annotations

import numpy as np

from clearset.export._onnx_graph import Value


def repeated(counts: Value) -> tuple[Value, Value]:
    """Return ``[0] * counts[0] + [1] * counts[1] + ...``, all counts at least 1, and where each run begins."""
    starts, n = counts.running_total() - counts, counts.total(0, keep=True)
    zeros, ones = (counts.graph.constant(each) for each in (0, 1))
    firsts = zeros.expanded(n).apply("ScatterElements", starts, ones.expanded(counts.shape()), axis=0)
    return firsts.running_total() - 1, starts


class TokenSets:
    """B sets of tokens, of which an empty one has got one token in the place of nothing: T in all.

    What belongs to sets has B entries in its last axis, and what belongs to tokens T.

    Parameters
    ----------
    offsets : Value of shape (B + 1,)
        Where the given tokens of each set begin.
    """

    def __init__(self, offsets: Value) -> None:
        self.given = offsets.slice(1, 2**62) - offsets.slice(0, -1)
        self.sizes = self.given.apply("Max", 1)
        self.set_of, self._starts = repeated(self.sizes)
        self.real = self.spread(self.given) > 0
        places = self.spread(offsets.slice(0, -1) - self._starts) + self.set_of.shape().numbers()
        self._source = self.real.where(places, offsets.slice(-1, 2**62))

    def with_nothing(self, values: Value, nothing: float) -> Value:
        """Return what belongs to tokens of what belongs to given tokens; `nothing` where there is none."""
        return values.joined(np.array([nothing])).gather(self._source)

    def places(self, *, from_end: bool) -> Value:
        """Return the place of each token in its set, counted from the end or the start; NaN where there is none."""
        numbers = self.set_of.shape().numbers() - self.spread(self._starts)
        found = self.spread(self.sizes) - 1 - numbers if from_end else numbers
        return self.real.where(found.cast(np.float64), np.nan)

    def given_tokens(self, values: Value, axis: int = 0) -> Value:
        """Return what belongs to given tokens of what belongs to tokens."""
        return values.kept(self.real, axis)

    def spread(self, values: Value) -> Value:
        """Return what belongs to tokens of what belongs to their sets."""
        return values.gather(self.set_of, -1)

    def total(self, values: Value) -> Value:
        """Add up what the tokens of each set have."""
        return total_by(values, self.set_of, self.sizes.shape())

    def means(self, scores: Value) -> Value:
        """Average scores, none beyond 1, so that the order of tokens does not matter.

        They are rounded to a grid on which sums of up to 16,384 of them are exact; see ``native/lanes.h``.
        """
        doublings = (self.sizes.axes_added(0) > 2 ** np.arange(12)[:, None]).cast(np.int64).total(0)
        grid = self.spread(self.sizes.graph.constant(3.0 * 2.0 ** np.arange(13)).gather(doublings))
        return self.total((scores + grid) - grid) / self.sizes.cast(np.float64)


class SetsOfOne:
    """Sets of one token each: what belongs to sets and what belongs to tokens is the same."""

    def __init__(self, n: Value) -> None:
        self.sizes = n.graph.constant(1).expanded(n)

    def places(self, *, from_end: bool) -> Value:  # noqa: ARG002
        """Return the place of each token, which is the only one of its set."""
        return self.sizes.graph.constant(0.0).expanded(self.sizes.shape())

    def spread(self, values: Value) -> Value:
        """Return what belongs to tokens."""
        return values

    def total(self, values: Value) -> Value:
        """Return what belongs to sets."""
        return values

    def means(self, scores: Value) -> Value:
        """Return the scores."""
        return scores


def total_by(values: Value, groups: Value, n: Value) -> Value:
    """Add up the last axis by groups, of which there are n."""
    zeros = values.graph.constant(np.float64(0.0)).expanded(values.shape(0, -1), n)
    places = groups.expanded(values.shape())
    return zeros.apply("ScatterElements", places, values, axis=-1, reduction="add")


def count_by(groups: Value, n: Value) -> Value:
    """Count the members of n groups."""
    zeros, ones = groups.graph.constant(0).expanded(n), groups.graph.constant(1).expanded(groups.shape())
    return zeros.apply("ScatterElements", groups, ones, axis=0, reduction="add")
