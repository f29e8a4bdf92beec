"""The tokens of examples in scratch files, and in another order than they were found in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from clearset.sets import ArrangedSets, ScratchArray, offsets_from_sizes, runs_of_sets
from clearset.tokens._codes import Float64, Found, Int32, Int64
from clearset.tokens._scratch import ScratchNumbers
from clearset.tokens._token_reader import Occurrences

# Tokens that are read at once.
_AT_ONCE = 1 << 19


@dataclass(frozen=True, eq=False)
class Reading:
    """How occurrences are made of the rows of `TokenRows` that stand for them."""

    sizes: Int32  # the number of items of each token
    n_tokens: int  # the number of rows of one view

    def occurrences(
        self, rows: npt.NDArray[Any], offsets: Int64, n_items: npt.NDArray[Any], details: Mapping[str, Float64]
    ) -> Occurrences:
        """Return the tokens of examples."""
        rows = rows.view(np.int32)
        tokens = rows % np.int32(self.n_tokens)
        return Occurrences(Found(tokens, offsets), rows, self.sizes[tokens], n_items, details)


class StoredOccurrences:
    """The tokens of examples that were found a few examples at a time: four bytes each in a scratch file.

    Parameters
    ----------
    reading : Reading
        What the rows say of tokens.
    details : sequence of str
        The names of what examples tell of tokens; eight bytes each.
    """

    def __init__(self, reading: Reading, details: Sequence[str]) -> None:
        self.reading = reading
        self._rows = ScratchNumbers(np.uint32)
        self._details = {name: ScratchNumbers(np.float64) for name in details}
        self._sizes: list[npt.NDArray[np.int32]] = []
        self._items: list[npt.NDArray[np.int32]] = []

    def append(self, found: Occurrences) -> None:
        """Add the tokens of further examples."""
        self._rows.append(found.rows)
        for name, numbers in self._details.items():
            numbers.append(found.details[name])
        self._sizes.append(found.counts.astype(np.int32))
        self._items.append(found.n_items.astype(np.int32))

    @property
    def details(self) -> Mapping[str, ScratchNumbers]:
        """What examples tell of tokens, by name."""
        return self._details

    @cached_property
    def offsets(self) -> Int64:
        """Where the tokens of each example begin, ``(B + 1,)``; all of them must have come."""
        offsets = offsets_from_sizes(np.concatenate(self._sizes))
        self._sizes = []
        return offsets

    @property
    def counts(self) -> Int64:
        """The number of tokens of each example, ``(B,)``."""
        return np.diff(self.offsets)

    @cached_property
    def n_items(self) -> npt.NDArray[np.int32]:
        """The number of items of each example, ``(B,)``; all of them must have come."""
        items, self._items = np.concatenate(self._items), []
        return items

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all examples together."""
        return len(self._rows)

    def of_sets(self, name: str) -> Float64:
        """Return a feature of the examples, ``(B,)``."""
        return np.asarray(self.n_items if name == "items" else self.counts, dtype=np.float64)

    def between(self, start: int, stop: int) -> Occurrences:
        """Return the tokens of a run of examples."""
        offsets = self.offsets[start : stop + 1]
        part = slice(int(offsets[0]), int(offsets[-1]))
        details = {name: numbers.read(part.start, part.stop) for name, numbers in self._details.items()}
        rows = self._rows.read(part.start, part.stop)
        return self.reading.occurrences(rows, offsets - offsets[0], self.n_items[start:stop], details)

    def pieces(self, most_tokens: int) -> Iterator[Occurrences]:
        """Return runs of examples with about `most_tokens` tokens, at least one example each."""
        return (self.between(start, stop) for start, stop in runs_of_sets(self.offsets, most_tokens))

    def whole(self) -> Occurrences:
        """Return the tokens of all examples."""
        return self.between(0, len(self.offsets) - 1)

    def at(self, tokens: Int64) -> Occurrences:
        """Return some of the tokens, rising, each as if it were an example of its own of as many items."""
        found, start = [], 0
        for piece in self.pieces(_AT_ONCE):
            low, high = np.searchsorted(tokens, [start, start + piece.n_tokens])
            found.append(piece.at(tokens[low:high] - start))
            start += piece.n_tokens
        return Occurrences.joined(found)


AnyOccurrences: TypeAlias = Occurrences | StoredOccurrences


@dataclass(frozen=True, eq=False)
class ArrangedOccurrences:
    """The tokens of some examples in an order of their own, in memory or in scratch files.

    Made by `arrange`.
    """

    reading: Reading
    rows: npt.NDArray[np.uint32] | ScratchArray
    details: Mapping[str, npt.NDArray[np.float64] | ScratchArray]
    offsets: Int64
    n_items: npt.NDArray[Any]

    def between(self, start: int, stop: int) -> Occurrences:
        """Return the tokens of a run of examples."""
        offsets = self.offsets[start : stop + 1]
        part = slice(int(offsets[0]), int(offsets[-1]))
        details = {name: np.asarray(numbers[part]) for name, numbers in self.details.items()}
        rows = np.ascontiguousarray(self.rows[part])
        return self.reading.occurrences(rows, offsets - offsets[0], self.n_items[start:stop], details)


def arrange(
    occurrences: AnyOccurrences, reading: Reading, examples: npt.NDArray[np.integer], max_memory: float
) -> ArrangedOccurrences:
    """Put the tokens of some examples in the order of these.

    Parameters
    ----------
    occurrences : Occurrences or StoredOccurrences
        The tokens of all examples.
    reading : Reading
        What rows say of tokens.
    examples : ndarray of shape (n,)
        Which examples, in their order.
    max_memory : float
        Bytes that the tokens may take in memory.
    """
    counts, names = np.diff(occurrences.offsets), tuple(occurrences.details)
    share = max_memory / (1 + 2 * len(names))
    rows = ArrangedSets(counts, examples, 1, np.uint32, share)
    details = {name: ArrangedSets(counts, examples, 1, np.float64, 2 * share) for name in names}
    first = 0
    for piece in occurrences.pieces(_AT_ONCE):
        rows.add_numbers(first, piece.offsets, piece.rows.astype(np.uint32))
        for name, arranged in details.items():
            arranged.add_numbers(first, piece.offsets, piece.details[name])
        first += len(piece.counts)
    finished = {name: arranged.finished() for name, arranged in details.items()}
    return ArrangedOccurrences(reading, rows.finished(), finished, rows.offsets, occurrences.n_items[examples])
