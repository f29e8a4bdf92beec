"""Rows of item codes, and how tokens are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clearset.sets import gather, offsets_from_sizes

Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Float64: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Sums: TypeAlias = NDArray[Any]  # uint32 counts, or float64

MAX_TOKENS = 2**31 - 1  # tokens and positions are numbered in 32 bits


class TokenLimitError(ValueError):
    """There would be more tokens than memory, or the numbers of tokens, allow.

    Examples
    --------
    >>> import clearset as cs
    >>> basket = [f"item {number}" for number in range(40)]
    >>> try:
    ...     cs.TokenTable.build([basket, basket], [0.0, 1.0], cs.Subsets())
    ... except cs.TokenLimitError as error:
    ...     print("refused before memory is full")
    refused before memory is full
    """


class Coded(NamedTuple):
    """Rows of item codes: those of row b are ``codes[offsets[b]:offsets[b + 1]]``.

    Parameters
    ----------
    codes : ndarray of int32, shape (N,)
        Codes of all rows, one row after the other.
    offsets : ndarray of int64, shape (B + 1,)
        Where each row begins; the last entry is N.

    Examples
    --------
    >>> coded = Coded.from_rows([[0, 2], [], [1]])
    >>> coded.codes.tolist(), coded.offsets.tolist()
    ([0, 2, 1], [0, 2, 2, 3])
    """

    codes: Int32
    offsets: Int64

    @classmethod
    def from_rows(cls, rows: list[list[int]]) -> Coded:
        """Return rows of codes in flat form."""
        offsets = offsets_from_sizes(np.array([len(row) for row in rows], np.int64))
        return cls(np.array([code for row in rows for code in row], np.int32), offsets)

    def take(self, rows: NDArray[np.integer]) -> Coded:
        """Return the rows with the given indices, in that order."""
        places, offsets = gather(self.offsets, rows)
        return Coded(self.codes[places], offsets)

    def keep(self, kept: BoolArray) -> Coded:
        """Return the rows without the codes that are not to be kept."""
        return Coded(self.codes[kept], offsets_from_sizes(kept)[self.offsets])

    def check(self) -> None:
        """Raise a ValueError unless the offsets cut the codes into rows."""
        fits = len(self.offsets) and self.offsets[0] == 0 and self.offsets[-1] == len(self.codes)
        if not fits or np.count_nonzero(self.offsets[1:] < self.offsets[:-1]):
            raise ValueError(
                f"offsets must rise from 0 to the number of codes, {len(self.codes)}; received {self.offsets}."
            )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Int64:
        """The number of codes of every row."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def rows(self) -> Int64:
        """The row that each code stands in."""
        return np.repeat(np.arange(self.n_rows), self.sizes)


@dataclass(frozen=True)
class Joining:
    """How the items of an example are joined to tokens: to subsets, to n-grams, or to crosses.

    Of subsets, an example's items are unique and ascending. N-grams are runs of neighbours of items in any order, which
    may repeat. Crosses are single items, and pairs of one item below `boundary` and one at or above it.

    Examples
    --------
    >>> Joining("crosses", None, boundary=4).max_items
    2
    """

    kind: Literal["subsets", "ngrams", "crosses"]
    max_size: int | None  # the most items of a token; None for all sizes (n-grams need a number)
    boundary: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("subsets", "ngrams", "crosses"):
            raise ValueError(f"kind is {self.kind!r}; choose 'subsets', 'ngrams' or 'crosses'.")
        if self.max_size is not None and self.max_size < 1:
            raise ValueError(f"max_size is {self.max_size}; a token has at least 1 item, or use None for all sizes.")
        if self.boundary < 0:
            raise ValueError(f"boundary is {self.boundary}; it is the first code of the right side, 0 or more.")
        if self.kind == "ngrams" and self.max_size is None:
            raise ValueError("max_size is None; n-grams need the largest number of items, such as 3.")

    @property
    def max_items(self) -> int:
        """The most items that a token can have."""
        most = MAX_TOKENS if self.max_size is None else min(self.max_size, MAX_TOKENS)
        return min(most, 2) if self.kind == "crosses" else most


class Run(NamedTuple):
    """Items of one kind: their codes, from the first up to the end, and how they are joined, counted from the first."""

    first: int
    end: int
    joining: Joining

    def of(self, coded: Coded) -> Coded:
        """Return rows without the items of other kinds, the codes counted from the first."""
        kept = coded.keep((coded.codes >= self.first) & (coded.codes < self.end))
        return Coded(kept.codes - np.int32(self.first), kept.offsets)


class Mined(NamedTuple):
    """Tokens as a prefix tree, sorted by (size, parent, item), with their counts.

    Sums are the weights of the examples, channel by channel: uint32 counts, (n, n_channels), where there are no
    weights, else float64. With values they are the sums of w, w * y and w * y * y, (n, n_channels, 3).
    """

    items: Int32  # the last item of each token
    parents: Int32  # the token without its last item; -1 for tokens of one item
    levels: Int64  # where the tokens of each size begin, and where they end
    counts: Int64  # the number of examples that hold each token
    sums: Sums


class Found(NamedTuple):
    """Tokens of each example: those of example b are ``tokens[offsets[b]:offsets[b + 1]]``, ascending."""

    tokens: Int32
    offsets: Int64


class EncodedSets(NamedTuple):
    """Examples in the codes of a table: their known items, and how many items they have, known or not."""

    coded: Coded
    n_items: Int64
