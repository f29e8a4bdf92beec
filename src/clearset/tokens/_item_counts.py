"""Counting distinct items of which there may be more than memory holds."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.tokens._codes import Int64
from clearset.tokens._scratch import unnamed_file
from clearset.tokens._vocabulary import as_bytes

_PARTITIONS = 64
_MOST_DEPTH = 9  # then all 60 bits of the hash were used
_TEXT_AT_ONCE = 1 << 19  # bytes that are hashed at once
_SCHEMA = pa.schema([("item", pa.large_string()), ("count", pa.int64())])


class ItemCounts:
    """Counts of items, added up over batches.

    What does not fit into `most_bytes` is written to scratch files, each item to one of several by its hash, and added
    up file by file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> counts = ItemCounts(1 << 20)
    >>> counts.add(pa.array(["salt", "lime"], pa.large_string()), np.array([3, 1]))
    >>> counts.add(pa.array(["lime"], pa.large_string()), np.array([1]))
    >>> [part.to_pydict() for part in counts.at_least(3)]
    [{'item': ['salt'], 'count': [3]}]
    """

    def __init__(self, most_bytes: int, depth: int = 0) -> None:
        self._most_bytes, self._depth = most_bytes, depth
        self._pending: list[pa.Table] = []
        self._bytes = 0
        self._files: list[_TableFile] = []

    def add(self, items: pa.LargeStringArray, counts: Int64) -> None:
        """Add the counts of some items."""
        self._add(pa.table([items, pa.array(counts)], schema=_SCHEMA))

    def at_least(self, least: int) -> Iterator[pa.Table]:
        """Yield the items that were counted at least so often, and their counts; nothing is left here."""
        if self._files:
            self._spill()
        else:
            pending, self._pending = self._pending, []
            yield _frequent(_added(pending), least)
        while self._files:
            file = self._files.pop()
            if file.n_bytes <= 2 * self._most_bytes or self._depth == _MOST_DEPTH:
                yield _frequent(_added(list(file.tables())), least)
            else:
                parts = ItemCounts(self._most_bytes, self._depth + 1)
                for table in file.tables():
                    parts._add(table)
                yield from parts.at_least(least)

    def _add(self, table: pa.Table) -> None:
        self._pending.append(table)
        self._bytes += table.nbytes
        if self._bytes <= self._most_bytes:
            return
        together = _added(self._pending)
        self._pending, self._bytes = [together], together.nbytes
        if self._bytes > self._most_bytes // 2:
            self._spill()

    def _spill(self) -> None:
        if not self._files:
            self._files = [_TableFile() for _ in range(_PARTITIONS)]
        together, self._pending, self._bytes = _added(self._pending), [], 0
        items = together["item"].chunk(0)
        # The bits of the hash that say the file differ from one depth to the next.
        numbers = _hash(items) >> np.uint64(6 * self._depth) & np.uint64(_PARTITIONS - 1)
        order = np.argsort(numbers.astype(np.uint8), kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(_PARTITIONS, dtype=np.uint64), side="right")
        start = 0
        for file, end in zip(self._files, ends.tolist(), strict=True):
            if end > start:
                file.write(together.take(pa.array(order[start:end])))
            start = end


class _TableFile:
    """Tables in a file without a name."""

    def __init__(self) -> None:
        self._file = unnamed_file(self)
        self._writer = pa.ipc.new_stream(self._file, _SCHEMA)
        self.n_bytes = 0

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)
        self.n_bytes += table.nbytes

    def tables(self) -> Iterator[pa.Table]:
        self._writer.close()
        self._file.seek(0)
        for batch in pa.ipc.open_stream(self._file):
            yield pa.Table.from_batches([batch])


def _added(tables: list[pa.Table]) -> pa.Table:
    """Add up the counts of equal items."""
    if not tables:
        return _SCHEMA.empty_table()
    together = pa.concat_tables(tables).combine_chunks()
    if not len(together):
        return together
    items = together["item"].chunk(0).dictionary_encode()
    counts = np.bincount(items.indices.to_numpy(), weights=together["count"].to_numpy())  # exact: below 2^53
    return pa.table([items.dictionary, pa.array(counts.astype(np.int64))], schema=_SCHEMA)


def _frequent(table: pa.Table, least: int) -> pa.Table:
    return table.filter(pc.greater_equal(table["count"], least))


def _hash(items: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """Return a number for each string, by all pairs of neighbouring bytes."""
    text, begins = as_bytes(items)
    hashes = np.empty(len(items), np.uint64)
    start = 0
    while start < len(items):
        stop = int(np.searchsorted(begins, begins[start] + _TEXT_AT_ONCE, side="right")) - 1
        stop = min(max(stop, start + 1), len(items))
        piece = text[begins[start] : begins[stop]].astype(np.uint16)
        ends = begins[start : stop + 1] - begins[start]
        pairs = piece << np.uint16(8)
        pairs[:-1] |= piece[1:]
        last = ends[1:][np.diff(ends) > 0] - 1
        pairs[last] = piece[last]  # nothing of the string behind
        sums = np.zeros(len(piece) + 1, np.uint64)
        np.cumsum(_MIXED[pairs], out=sums[1:])
        hashes[start:stop] = sums[ends[1:]] - sums[ends[:-1]]  # exact in numbers modulo 2^64
        start = stop
    return _mix(hashes)


def _mix(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


_MIXED = _mix(np.arange(1, 2**16 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
