"""Rows of item codes, and how tokens are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Float64: TypeAlias = NDArray[np.float64]
Sums: TypeAlias = NDArray[Any]  # uint32 counts, or float64

MAX_TOKENS = 2**31 - 1  # tokens and positions are numbered in 32 bits


class TokenLimitError(ValueError):
    """There would be more tokens than memory, or the numbers of tokens, allow."""


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
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return cls(np.array([code for row in rows for code in row], np.int32), offsets)

    def check(self) -> None:
        """Raise a ValueError unless the offsets cut the codes into rows."""
        fits = len(self.offsets) and self.offsets[0] == 0 and self.offsets[-1] == len(self.codes)
        if not fits or (np.diff(self.offsets) < 0).any():
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
        return np.diff(self.offsets)

    @property
    def rows(self) -> Int64:
        """The row that each code stands in."""
        return np.repeat(np.arange(self.n_rows), self.sizes)


@dataclass(frozen=True)
class Joining:
    """How the items of an example are joined to tokens.

    Parameters
    ----------
    kind : {"subsets", "ngrams", "crosses"}
        ``"subsets"``: an example's items are unique and ascending, its tokens are their subsets.
        ``"ngrams"``: items stand in any order and may repeat, tokens are runs of neighbours.
        ``"crosses"``: single items, and pairs of one item below ``boundary`` and one at or above it.
    max_size : int or None
        The most items of a token; None for all sizes (n-grams need a number).
    boundary : int, default=0
        The first code of the right side, for crosses.

    Examples
    --------
    >>> Joining("crosses", None, boundary=4).max_items
    2
    """

    kind: Literal["subsets", "ngrams", "crosses"]
    max_size: int | None
    boundary: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("subsets", "ngrams", "crosses"):
            raise ValueError(f"kind is {self.kind!r}; choose 'subsets', 'ngrams' or 'crosses'.")
        if self.max_size is not None and self.max_size < 1:
            raise ValueError(
                f"max_size is {self.max_size}; a token has at least 1 item, or use None for all sizes."
            )
        if self.boundary < 0:
            raise ValueError(
                f"boundary is {self.boundary}; it is the first code of the right side, 0 or more."
            )
        if self.kind == "ngrams" and self.max_size is None:
            raise ValueError("max_size is None; n-grams need the largest number of items, such as 3.")

    @property
    def max_items(self) -> int:
        """The most items that a token can have."""
        most = MAX_TOKENS if self.max_size is None else min(self.max_size, MAX_TOKENS)
        return min(most, 2) if self.kind == "crosses" else most


class Mined(NamedTuple):
    """Tokens as a prefix tree, sorted by (size, parent, item), with their counts.

    Parameters
    ----------
    items : ndarray of int32, shape (n,)
        The last item of each token.
    parents : ndarray of int32, shape (n,)
        The token without its last item; -1 for tokens of one item.
    levels : ndarray of int64, shape (n_levels + 1,)
        Where the tokens of each size begin; the last entry is n.
    counts : ndarray of int64, shape (n,)
        The number of examples that hold each token.
    sums : ndarray, shape (n, n_channels) or (n, n_channels, 3)
        Weights of these examples, channel by channel: uint32 counts without weights, else float64. With values the
        sums of w, w * y and w * y * y.
    """

    items: Int32
    parents: Int32
    levels: Int64
    counts: Int64
    sums: Sums


class Found(NamedTuple):
    """Tokens of each example: those of example b are ``tokens[offsets[b]:offsets[b + 1]]``, ascending."""

    tokens: Int32
    offsets: Int64
