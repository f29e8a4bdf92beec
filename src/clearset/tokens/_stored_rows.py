"""Rows of codes in scratch files, read back block by block."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from clearset.sets import offsets_from_sizes
from clearset.tokens._codes import Coded, Float64, Int32, Run
from clearset.tokens._scratch import Place, ScratchNumbers, nowhere


class Block(NamedTuple):
    """Neighbouring rows of codes; the channel of each, and the parts that it adds to sums, if there are some."""

    coded: Coded
    channels: Int32
    parts: Float64 | None


class StoredRows:
    """Rows of codes in scratch files, with the channel of each and the parts that it adds to sums.

    Parameters
    ----------
    n_parts : int
        The number of parts; 0 where rows are only counted.
    place : callable
        Returns where a file of a name is to stay; None makes it one without a name.

    Examples
    --------
    >>> rows = StoredRows(0)
    >>> rows.append(Block(Coded.from_rows([[0, 2], [1]]), np.array([0, 1], np.int32), None))
    >>> rows.append(Block(Coded.from_rows([[2]]), np.array([1], np.int32), None))
    >>> [block.coded.codes.tolist() for block in rows.blocks()], rows.whole().coded.offsets.tolist()
    ([[0, 2, 1], [2]], [0, 2, 3, 4])
    """

    def __init__(self, n_parts: int, place: Place = nowhere) -> None:
        self.n_parts = n_parts
        self.codes, self._sizes, self._channels = (
            ScratchNumbers(np.int32, place(name)) for name in ("codes", "sizes", "channels")
        )
        self._parts = ScratchNumbers(np.float64, place("parts"))
        self._ends: list[tuple[int, int]] = [(0, 0)]  # rows and codes up to the end of each block

    def kept(self) -> tuple[dict[str, ScratchNumbers], dict[str, Any]]:
        """Return all rows, as numbers by name and JSON values."""
        numbers = {"codes": self.codes, "sizes": self._sizes, "channels": self._channels, "parts": self._parts}
        return numbers, {"n_parts": self.n_parts, "ends": self._ends}

    @classmethod
    def of_kept(cls, numbers: Mapping[str, ScratchNumbers], document: Mapping[str, Any]) -> "StoredRows":
        """Return the rows of what `kept` returned."""
        rows = cls(int(document["n_parts"]))
        rows.codes, rows._sizes = numbers["codes"], numbers["sizes"]
        rows._channels, rows._parts = numbers["channels"], numbers["parts"]
        rows._ends = [(int(row), int(code)) for row, code in document["ends"]]
        return rows

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._sizes)

    @property
    def n_codes(self) -> int:
        """The number of codes of all rows."""
        return len(self.codes)

    def append(self, block: Block) -> None:
        """Add rows; they are read back in blocks as they were added."""
        if not block.coded.n_rows:
            return
        self.codes.append(block.coded.codes)
        self._sizes.append(block.coded.sizes)
        self._channels.append(block.channels)
        if block.parts is not None:
            self._parts.append(block.parts.ravel())
        self._ends.append((self.n_rows, self.n_codes))

    def blocks(self) -> Iterator[Block]:
        """Read the rows back, block by block."""
        for (row, code), (row_end, code_end) in zip(self._ends[:-1], self._ends[1:], strict=True):
            yield self._read(row, row_end, code, code_end)

    def of(self, run: Run) -> "StoredRows":
        """Return the same rows without the items of other kinds, the codes counted from the first of the run."""
        rows = StoredRows(self.n_parts)
        for block in self.blocks():
            rows.append(block._replace(coded=run.of(block.coded)))
        return rows

    def starts(self) -> list[int]:
        """Return where the codes of each block begin among all."""
        return [code for _, code in self._ends[:-1]]

    def whole(self) -> Block:
        """Read all rows at once."""
        return self._read(0, self.n_rows, 0, self.n_codes)

    def _read(self, row: int, row_end: int, code: int, code_end: int) -> Block:
        coded = Coded(self.codes.read(code, code_end), offsets_from_sizes(self._sizes.read(row, row_end)))
        parts = None
        if self.n_parts:
            parts = self._parts.read(row * self.n_parts, row_end * self.n_parts).reshape(-1, self.n_parts)
        return Block(coded, self._channels.read(row, row_end), parts)
