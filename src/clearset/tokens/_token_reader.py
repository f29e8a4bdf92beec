"""The reader: from strings to the tokens of examples, as a set function reads them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.sets import Binning, CrossedPositions, offsets_from_sizes, runs_of_sets
from clearset.tokens._codes import MAX_TOKENS, BoolArray, Float64, Found, Int32, Int64
from clearset.tokens._features import PER_SET, WHOLE
from clearset.tokens._item_details import details_of_tokens, read_details
from clearset.tokens._statistics import Statistics
from clearset.tokens._table import TokenTable
from clearset.tokens._token_rows import TokenRows


class Occurrences(NamedTuple):
    """The tokens of examples."""

    found: Found  # the numbers of the tokens, and where those of each example begin
    rows: Int64  # the row of `TokenRows` that belongs to each token
    sizes: Int32  # the number of items of each token
    n_items: Int64  # the number of items of each example
    details: Mapping[str, Float64]  # the details of each token; see `read_details`

    @property
    def counts(self) -> Int64:
        """The number of tokens of each example, ``(B,)``."""
        return self.found.offsets[1:] - self.found.offsets[:-1]

    def of_sets(self, name: str) -> Float64:
        """Return a feature of the examples, ``(B,)``."""
        return np.asarray(self.n_items if name == "items" else self.counts, dtype=np.float64)

    def of_tokens(self, name: str) -> Float64:
        """Return a feature that a token has in its example, ``(T,)``."""
        if name == WHOLE:
            return np.asarray(self.sizes == np.repeat(self.n_items, self.counts), dtype=np.float64)
        return self.details[name]

    @property
    def offsets(self) -> Int64:
        """Where the tokens of each example begin, ``(B + 1,)``."""
        return self.found.offsets

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all examples together."""
        return len(self.rows)

    def at(self, tokens: Int64) -> "Occurrences":
        """Return some of the tokens, rising, each as if it were an example of its own of as many items."""
        sets = np.searchsorted(self.offsets, tokens, side="right") - 1
        return Occurrences(
            Found(self.found.tokens[tokens], np.arange(len(tokens) + 1)),
            self.rows[tokens],
            self.sizes[tokens],
            self.n_items[sets],
            {name: detail[tokens] for name, detail in self.details.items()},
        )

    def whole(self) -> "Occurrences":
        """Return the tokens of all examples."""
        return self

    def pieces(self, most_tokens: int) -> Iterator["Occurrences"]:
        """Return runs of examples with about `most_tokens` tokens, at least one example each; one run without any."""
        offsets = self.found.offsets
        if not len(self.counts):
            yield self
        for start, stop in runs_of_sets(offsets, most_tokens):
            tokens = slice(int(offsets[start]), int(offsets[stop]))
            yield Occurrences(
                Found(self.found.tokens[tokens], offsets[start : stop + 1] - offsets[start]),
                self.rows[tokens],
                self.sizes[tokens],
                self.n_items[start:stop],
                {name: detail[tokens] for name, detail in self.details.items()},
            )

    @classmethod
    def joined(cls, parts: Sequence["Occurrences"]) -> "Occurrences":
        """Return the tokens of examples whose parts follow each other."""
        if len(parts) == 1:
            return parts[0]
        offsets, start = [np.zeros(1, np.int64)], 0
        for part in parts:
            offsets.append(part.found.offsets[1:] + start)
            start += int(part.found.offsets[-1])
        return cls(
            Found(np.concatenate([part.found.tokens for part in parts]), np.concatenate(offsets)),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            np.concatenate([part.n_items for part in parts]),
            {name: np.concatenate([part.details[name] for part in parts]) for name in parts[0].details},
        )


@dataclass(frozen=True, eq=False)
class TokenReader:
    """Finds the tokens of examples, and their statistics.

    Parameters
    ----------
    table : TokenTable
        The tokens and their statistics.
    names : sequence of str
        The features that a set function reads, the value first.
    cover : bool
        Whether a token is left out if larger tokens of the example cover its items.
    shrinkage : float, default=1.0
        The weight of the prior in every mean, as a number of examples.
    details : sequence of str, default=()
        The columns of X with a number for each item.
    out_of_fold : sequence of Statistics, default=()
        The statistics outside of each fold, from `cross_fit`; only training needs them.
    """

    table: TokenTable
    names: Sequence[str]
    cover: bool
    shrinkage: float = 1.0
    details: Sequence[str] = ()
    out_of_fold: Sequence[Statistics] = ()

    @cached_property
    def rows(self) -> TokenRows:
        """The statistics of tokens as a set function reads them, for every view."""
        return TokenRows.of(self.table, self.out_of_fold, self.names, self.shrinkage)

    def find(
        self, X: Any, views: npt.NDArray[np.integer] | None = None, threads: int = 1, most: int | None = None
    ) -> Occurrences:
        """Find the tokens of examples; raise a `TokenLimitError` where there are more than `most` of them."""
        # The statistics that each example sees are its view: 0 for those of the table, fold + 1 for those outside of a
        # fold.
        items, columns = read_details(X, self.details)
        encoded = self.table.encode(items)
        most = MAX_TOKENS if most is None else most
        found = self.table.find(encoded, self.cover, views, threads, most)
        rows = found.tokens.astype(np.int64)
        if views is not None:
            rows += self.rows.n_tokens * np.repeat(views.astype(np.int64), np.diff(found.offsets))
        told = details_of_tokens(self.table, items, columns, found)
        return Occurrences(found, rows, self.sizes[found.tokens], encoded.n_items, told)

    @property
    def sizes(self) -> Int32:
        """The number of items of each token, also of those that pass only without a fold, which come last."""
        return (self.out_of_fold[0] if len(self.out_of_fold) else self.table.statistics).sizes

    def alone(self, tokens: npt.NDArray[np.integer]) -> Occurrences:
        """Return examples of one token of the table each; without details, which only examples tell."""
        n = len(tokens)
        sizes, rows = self.table.sizes[tokens], tokens.astype(np.int64)
        found = Found(tokens.astype(np.int32), np.arange(n + 1))
        return Occurrences(found, rows, sizes, sizes.astype(np.int64), {})

    def placer(self, binning: Binning) -> "TokenPlacer":
        """Return the placer for a set function that reads the table with its corrections."""
        corrected = np.full(len(self.table), -1, np.int32)
        if self.table.corrections is not None:
            corrected = self.table.corrections.places(len(self.table))
        return TokenPlacer(binning, self.rows, corrected, np.float64)


@dataclass(eq=False)
class TokenPlacer:
    """Places the tokens of examples between keypoints.

    The features of tokens that do not depend on their examples are placed once.

    Parameters
    ----------
    binning : Binning
        The value first, then the plain features.
    rows : TokenRows
        The statistics of tokens.
    corrected : ndarray of int32, shape (n_tokens,)
        The correction of each token of the table, -1 for none.
    dtype : dtype
        The type of fractions, values and keypoints.
    unit : float, default=1.0
        The unit of the values and corrections.
    """

    binning: Binning
    rows: TokenRows
    corrected: Int32
    dtype: npt.DTypeLike
    unit: float = 1.0

    def __post_init__(self) -> None:
        # Counted from the first keypoint, so that single precision tells large labels apart.
        keypoints = np.asarray(self.binning.keypoints[0])
        self._values = ((self.rows.values - self.first) / self.unit).astype(self.dtype)
        self._keypoints = ((keypoints - self.first) / self.unit).astype(self.dtype)
        self._own = {name: self.binning.place(name, own, self.dtype) for name, own in self.rows.own.items()}

    @property
    def first(self) -> float:
        """The value's first keypoint."""
        return float(np.asarray(self.binning.keypoints[0])[0])

    def place(self, occurrences: Occurrences) -> CrossedPositions:
        """Place the tokens of examples."""
        # An example without tokens gets one whose value and own features are missing; features of the set stay.
        counts = occurrences.counts
        sizes, offsets = counts, occurrences.found.offsets
        present: BoolArray | slice = slice(None)
        if np.count_nonzero(counts) < len(counts):
            sizes = np.maximum(counts, 1)
            offsets = offsets_from_sizes(sizes)
            present = np.ones(offsets[-1], dtype=bool)
            present[offsets[:-1][counts == 0]] = False
        names = [feature.name for feature in self.binning.features[1:]]
        shape = (len(names), int(offsets[-1]))
        slots, fractions = np.empty(shape, np.int32), np.zeros(shape, self.dtype)
        for d, name in enumerate(names):
            if name in PER_SET:
                slot, fraction = self.binning.place(name, occurrences.of_sets(name), self.dtype)
                slots[d], fractions[d] = np.repeat(slot, sizes), np.repeat(fraction, sizes)
                continue
            if name in self._own:
                slot, fraction = self._own[name]
                slot, fraction = slot[occurrences.rows], fraction[occurrences.rows]
            else:
                slot, fraction = self.binning.place(name, occurrences.of_tokens(name), self.dtype)
            slots[d] = self.binning.slots_of(name).stop
            slots[d, present], fractions[d, present] = slot, fraction
        if isinstance(present, slice):
            rows, corrected = occurrences.rows.astype(np.int32), self.corrected[occurrences.found.tokens]
        else:
            rows, corrected = np.full((2, shape[1]), -1, np.int32)
            rows[present], corrected[present] = occurrences.rows, self.corrected[occurrences.found.tokens]
        return CrossedPositions(slots, fractions, offsets, rows, corrected, self._values, self._keypoints)
