"""Tokenizers of two columns of items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.tokens._codes import BoolArray, Joining
from clearset.tokens._item_columns import read_pair
from clearset.tokens._tokenizers import Tokenizer, keep_size
from clearset.tokens._vocabulary import tagged, without


@dataclass(frozen=True, repr=False)
class _TwoColumns(Tokenizer):
    """Tokenizers of two columns, each named or at a position."""

    left: str | int = 0
    right: str | int = 1

    def __post_init__(self) -> None:
        for name, value in (("left", self.left), ("right", self.right)):
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise TypeError(f"{name} is {value!r}; give the name of a column or its position (0, 1, ...).")
            if isinstance(value, int) and value < 0:
                raise ValueError(f"{name} is {value}; positions count from 0.")
        if self.left == self.right:
            raise ValueError(f"left and right are both {self.left!r}. Two columns are needed.")

    @property
    def sides(self) -> tuple[str | int, ...]:
        """Both columns."""
        return self.left, self.right


@dataclass(frozen=True, repr=False)
class Cross(_TwoColumns):
    """Items of two columns, and every pair of an item of the one and an item of the other.

    Items are written with their column, ``"left=apple"``.

    Parameters
    ----------
    left : str or int, default=0
        The first column, by name or position.
    right : str or int, default=1
        The second column.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.Cross().parts([(["apple"], ["pear", "plum"])]).to_pylist()
    [['left=apple', 'right=pear', 'right=plum']]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        left, right = self._tags
        if left.startswith(right) or right.startswith(left):
            raise ValueError(
                f"Items of columns {self.left!r} and {self.right!r} would both begin with {min(left, right)!r}. "
                "Rename a column, or give both as positions."
            )

    @property
    def _tags(self) -> tuple[str, str]:
        left = self.left if isinstance(self.left, str) else "left"
        right = self.right if isinstance(self.right, str) else "right"
        return f"{left}=", f"{right}="

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the items of both columns, each with its column's name."""
        return tagged(self._tags, [column.sets() for column in read_pair(X, self.left, self.right)])

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:
        """Tokens are items, and pairs of a left and a right one."""
        return Joining("crosses", 2, boundary=int(np.count_nonzero(~self.ranks(vocabulary))))

    def ranks(self, vocabulary: pa.LargeStringArray) -> BoolArray:
        """Return which items are of the right column."""
        right: BoolArray = pc.starts_with(vocabulary, self._tags[1]).to_numpy(zero_copy_only=False)
        return right


@dataclass(frozen=True, repr=False)
class Difference(_TwoColumns):
    """Items of one column that are not in the other, and their subsets.

    Parameters
    ----------
    left : str or int, default=0
        The column whose items are taken, by name or position.
    right : str or int, default=1
        The column whose items are left out.
    max_size : int or None, default=1
        The most items of a token; None for all sizes.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.Difference().parts([(["apple", "pear"], ["pear"])]).to_pylist()
    [['apple']]
    """

    max_size: int | None = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_size is not None:
            keep_size(self, "max_size", " or None for all sizes")

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the items of the left column that the right one lacks."""
        left, right = read_pair(X, self.left, self.right)
        return without(left.sets(), right.sets())

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:  # noqa: ARG002
        """Tokens are subsets of the difference."""
        return Joining("subsets", self.max_size)
