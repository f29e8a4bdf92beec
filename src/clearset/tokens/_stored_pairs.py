"""Counting the pairs of items of stored rows: the first step from items to larger tokens."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.sets import offsets_from_sizes, runs
from clearset.tokens._codes import Coded, Float64, Int32, Int64, Joining
from clearset.tokens._key_counts import Counted, KeyCounts, check_keys
from clearset.tokens._stored_rows import Block, StoredRows

_PAIRS_AT_ONCE = 1 << 18


class Pairs(NamedTuple):
    """Pairs of a first item and a later one of the same row."""

    places: Int64  # where the first item stands among the codes of the block
    rows: Int64  # the row
    firsts: Int64
    seconds: Int64


def pairs_of(coded: Coded, joining: Joining, low: int, high: int) -> Iterator[Pairs]:
    """Yield the pairs whose first item is in [low, high), in pieces; all pairs of a place are in one piece."""
    codes, offsets = coded
    places = np.flatnonzero((codes >= low) & (codes < high))
    rows = np.searchsorted(offsets, places, side="right") - 1
    starts = places + 1
    if joining.kind == "crosses":
        left = offsets_from_sizes(codes < joining.boundary)
        starts = (offsets[:-1] + left[offsets[1:]] - left[offsets[:-1]])[rows]
    sizes = offsets[rows + 1] - starts
    ends = np.cumsum(sizes)
    start = 0
    while start < len(places):
        before = ends[start] - sizes[start]
        stop = max(int(np.searchsorted(ends, before + _PAIRS_AT_ONCE, side="right")), start + 1)
        piece = slice(start, stop)
        seconds, _ = runs(starts[piece], sizes[piece])
        at = np.repeat(places[piece], sizes[piece])
        yield Pairs(
            at, np.repeat(rows[piece], sizes[piece]), codes[at].astype(np.int64), codes[seconds].astype(np.int64)
        )
        start = stop


class PairTable:
    """A cell for every pair whose first item is frequent: frequent items, which have most pairs, have few partners.

    Codes go from rare to frequent, and the second item of a pair is the more frequent one, or on the right side.

    Parameters
    ----------
    joining : Joining
        How items are joined.
    n_items : int
        The number of codes.
    cell_bytes, most_bytes : int
        What a cell takes, and what all of them may take.
    """

    def __init__(self, joining: Joining, n_items: int, cell_bytes: int, most_bytes: int) -> None:
        n_firsts = min(joining.boundary, n_items) if joining.kind == "crosses" else n_items
        self._seconds = np.arange(1, n_firsts + 1)  # the least second item of each first one
        if joining.kind == "crosses":
            self._seconds = np.full(n_firsts, joining.boundary)
        cells = np.cumsum((n_items - self._seconds)[::-1])
        self.first = n_firsts - int(np.searchsorted(cells * cell_bytes, most_bytes, side="right"))
        self.n_firsts = n_firsts
        self._starts = offsets_from_sizes(n_items - self._seconds[self.first :])

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self._starts[-1])

    def cells_of(self, pairs: Pairs) -> Int64:
        """Return the cells of pairs whose first items are from `first` on."""
        return self._starts[pairs.firsts - self.first] + pairs.seconds - self._seconds[pairs.firsts]

    def keys_of(self, cells: Int64, n_items: int) -> Int64:
        """Return first x n_items + second of cells."""
        places = np.searchsorted(self._starts, cells, side="right") - 1
        firsts = places + self.first
        return firsts * n_items + cells - self._starts[places] + self._seconds[firsts]


class CountedPairs(NamedTuple):
    """Frequent pairs, by keys first x n_items + second; the number of each by its cell, -1 for rare ones."""

    counted: Counted
    table: PairTable
    numbers: Int32


def count_pairs(
    rows: StoredRows, joining: Joining, n_items: int, n_channels: int, *, min_count: int, memory: int
) -> CountedPairs:
    """Count the pairs of all rows."""
    check_keys(n_items * n_items, n_channels)
    cell_bytes = 4 + 8 * n_channels * rows.n_parts if rows.n_parts else 4 * n_channels + 4
    table = PairTable(joining, n_items, cell_bytes, memory // 6)
    others = KeyCounts(n_channels, rows.n_parts, memory // 24)
    counts = np.zeros(table.n_cells if rows.n_parts else 0, np.uint32)
    sums: npt.NDArray[Any] = np.zeros(table.n_cells * n_channels, np.uint32)
    if rows.n_parts:
        sums = np.zeros((rows.n_parts, table.n_cells * n_channels))
    for block in rows.blocks():
        for pairs in pairs_of(block.coded, joining, 0, table.first):
            others.add(pairs.firsts * n_items + pairs.seconds, pairs.rows, block.channels, block.parts)
        for pairs in pairs_of(block.coded, joining, table.first, table.n_firsts):
            cells = table.cells_of(pairs)
            numbers = cells * n_channels + block.channels[pairs.rows]
            if block.parts is None:
                np.add.at(sums, numbers, np.uint32(1))
                continue
            np.add.at(counts, cells, np.uint32(1))
            for part, added in enumerate(block.parts.T):
                np.add.at(sums[part], numbers, added[pairs.rows])
    rare = others.at_least(min_count)
    dense, cells = _frequent(table, counts, sums, n_items, n_channels, min_count)
    numbers_of = np.full(table.n_cells, -1, np.int32)
    numbers_of[cells] = np.arange(len(rare.keys), len(rare.keys) + len(cells), dtype=np.int32)
    together = (np.concatenate(columns) for columns in zip(rare, dense, strict=True))
    return CountedPairs(Counted(*together), table, numbers_of)


def _frequent(
    table: PairTable,
    counts: npt.NDArray[np.uint32],
    sums: npt.NDArray[Any],
    n_items: int,
    n_channels: int,
    min_count: int,
) -> tuple[Counted, Int64]:
    if sums.ndim == 1:
        by_cell = sums.reshape(table.n_cells, n_channels)
        counts = by_cell.sum(axis=1, dtype=np.uint32)
        cells = np.flatnonzero(counts >= min_count)
        kept: npt.NDArray[Any] = by_cell[cells]
    else:
        cells = np.flatnonzero(counts >= min_count)
        kept = np.moveaxis(sums.reshape(len(sums), table.n_cells, n_channels)[:, cells], 0, 2)
    return Counted(table.keys_of(cells, n_items), counts[cells].astype(np.int64), kept), cells


def rows_of_frequent_pairs(
    block: Block, pairs: CountedPairs, joining: Joining, n_items: int, low: int, high: int, base: int
) -> Iterator[Block]:
    """Yield a row for each first item in [low, high) of each row: the pairs that it begins, if they are frequent.

    Pairs are numbered from `base` on. Rows with fewer than two of them are left out: they hold no larger token.
    """
    counted, table, numbers_of = pairs
    for piece in pairs_of(block.coded, joining, low, high):
        if low >= table.first:
            numbers = numbers_of[table.cells_of(piece)].astype(np.int64)
        else:
            keys = piece.firsts * n_items + piece.seconds
            places = np.searchsorted(counted.keys, keys)
            numbers = np.where(np.append(counted.keys, -1)[places] == keys, places, -1)
        known = numbers >= 0
        numbers, at, rows = numbers[known], piece.places[known], piece.rows[known]
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        sizes = np.diff(starts, append=len(at))
        enough = sizes > 1
        codes = (numbers[np.repeat(enough, sizes)] - base).astype(np.int32)
        of_rows = rows[starts[enough]]
        parts: Float64 | None = None if block.parts is None else block.parts[of_rows]
        yield Block(Coded(codes, offsets_from_sizes(sizes[enough])), block.channels[of_rows], parts)
