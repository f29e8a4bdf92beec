"""Counts and sums by key, where there may be more keys than memory holds."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.tokens._codes import MAX_TOKENS, Float64, Int32, Int64, Sums, TokenLimitError
from clearset.tokens._scratch import ScratchNumbers

_READ_AT_ONCE = 1 << 16


class Counted(NamedTuple):
    """Keys, ascending, the number of rows that have each, and the sums of these rows as in `Mined`."""

    keys: Int64
    counts: Int64
    sums: Sums


class _Entries(NamedTuple):
    """Sorted numbers key x channels + channel, how many rows have each, and the sums of their parts, (n, P)."""

    numbers: Int64
    counts: npt.NDArray[np.uint32]
    parts: Float64

    @property
    def n_bytes(self) -> int:
        return sum(column.nbytes for column in self)


class KeyCounts:
    """Counts rows by key and channel.

    What does not fit into `most_bytes` is written to scratch files as sorted runs, which are merged range by range.

    Examples
    --------
    >>> counts = KeyCounts(n_channels=2, n_parts=0, most_bytes=1 << 20)
    >>> counts.add(np.array([7, 5, 7]), np.array([0, 1, 2]), np.array([0, 0, 1], np.int32), None)
    >>> keys, counted, sums = counts.at_least(2)
    >>> keys.tolist(), counted.tolist(), sums.tolist()
    ([7], [2], [[1, 1]])
    """

    def __init__(self, n_channels: int, n_parts: int, most_bytes: int) -> None:
        self._n_channels, self._n_parts, self._most_bytes = n_channels, n_parts, most_bytes
        self._pending: list[_Entries] = []
        self._bytes = 0
        self._runs: list[_Run] = []

    def add(
        self, keys: Int64, rows: Int64, channels: Int32, parts: Float64 | None, *, may_repeat: bool = False
    ) -> None:
        """Count the keys that rows have; where one row may repeat a key, rows ascend, and it counts once."""
        if may_repeat and len(keys):
            order = np.argsort(keys, kind="stable")
            keys, rows = keys[order], rows[order]
            new = np.concatenate([[True], (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])])
            keys, rows = keys[new], rows[new]
        numbers = keys * self._n_channels + channels[rows]
        if parts is None:
            numbers.sort()
            values = np.zeros((len(numbers), 0))
        else:
            order = np.argsort(numbers, kind="stable")
            numbers, values = numbers[order], parts[rows[order]]
        entries = _added(numbers, np.ones(len(numbers), np.uint32), values)
        self._pending.append(entries)
        self._bytes += entries.n_bytes
        if self._bytes > self._most_bytes:
            together = _merged(self._pending, self._n_parts)
            self._pending, self._bytes = [together], together.n_bytes
            if self._bytes > self._most_bytes // 2:
                self._spill()

    def at_least(self, least: int) -> Counted:
        """Return the keys that at least so many rows have; nothing is left here."""
        if self._runs:
            self._spill()
        found = [self._dense(entries, least) for entries in self._ranges()]
        keys, counts, sums = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return Counted(keys, counts, sums)

    def _spill(self) -> None:
        if self._pending:
            self._runs.append(_Run(_merged(self._pending, self._n_parts), self._n_parts))
        self._pending, self._bytes = [], 0

    def _ranges(self) -> Iterator[_Entries]:
        """Yield all entries, added up, in ranges of keys; all channels of a key are in one range."""
        if not self._runs:
            yield _merged(self._pending, self._n_parts)
            return
        # Samples of the runs tell where to cut so that every range fits.
        samples = np.sort(np.concatenate([run.samples for run in self._runs]))
        entry_bytes = 12 + 8 * self._n_parts
        n_ranges = 1 + 2 * sum(map(len, self._runs)) * entry_bytes // self._most_bytes
        cuts = samples[np.linspace(0, len(samples) - 1, n_ranges + 1).astype(np.int64)[1:-1]]
        for cut in [*np.unique(cuts // self._n_channels * self._n_channels).tolist(), None]:
            yield _merged([run.read_below(cut) for run in self._runs], self._n_parts)
        self._runs = []

    def _dense(self, entries: _Entries, least: int) -> Counted:
        keys, channels = np.divmod(entries.numbers, self._n_channels)
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.add.reduceat(entries.counts.astype(np.int64), starts) if len(starts) else np.zeros(0, np.int64)
        enough = counts >= least
        kept = np.repeat(enough, np.diff(starts, append=len(keys)))
        places = (np.cumsum(enough) - 1)[np.cumsum(np.diff(keys, prepend=-1) != 0) - 1][kept]
        n = int(np.count_nonzero(enough))
        sums: npt.NDArray[Any]
        if self._n_parts:
            sums = np.zeros((n, self._n_channels, self._n_parts))
            sums[places, channels[kept]] = entries.parts[kept]
        else:
            sums = np.zeros((n, self._n_channels), np.uint32)
            sums[places, channels[kept]] = entries.counts[kept]
        return Counted(keys[starts][enough], counts[enough], sums)


def check_keys(n_keys: int, n_channels: int) -> None:
    """Raise an error if keys, with their channels, do not fit into 64 bits."""
    if n_keys * n_channels > np.iinfo(np.int64).max:
        raise TokenLimitError(
            f"{n_keys:,} combinations of a token and an item, with {n_channels:,} classes, are more than can be "
            f"numbered. Ask for more examples per token, such as a higher MinCount, so that fewer than {MAX_TOKENS:,} "
            "tokens are left."
        )


class _Run:
    """Sorted entries in scratch files, which are read from the first to the last."""

    def __init__(self, entries: _Entries, n_parts: int) -> None:
        self._numbers, self._counts = ScratchNumbers(np.int64), ScratchNumbers(np.uint32)
        self._parts, self._n_parts = ScratchNumbers(np.float64), n_parts
        self._numbers.append(entries.numbers)
        self._counts.append(entries.counts)
        self._parts.append(entries.parts.ravel())
        self.samples = entries.numbers[:: max(1, len(entries.numbers) // 1024)].copy()  # a view would keep all of them
        self._place = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def read_below(self, cut: int | None) -> _Entries:
        """Return the next entries, those whose numbers are below a cut."""
        start, stop = self._place, len(self)
        while cut is not None and self._place < len(self):
            numbers = self._numbers.read(self._place, self._place + _READ_AT_ONCE)
            below = int(np.searchsorted(numbers, cut))
            self._place += below
            if below < len(numbers):
                stop = self._place
                break
        self._place = stop
        parts = self._parts.read(start * self._n_parts, stop * self._n_parts).reshape(stop - start, self._n_parts)
        return _Entries(self._numbers.read(start, stop), self._counts.read(start, stop), parts)


def _merged(pieces: list[_Entries], n_parts: int) -> _Entries:
    if not pieces:
        return _Entries(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros((0, n_parts)))
    if len(pieces) == 1:
        return pieces[0]
    numbers = np.concatenate([piece.numbers for piece in pieces])
    order = np.argsort(numbers, kind="stable")
    counts = np.concatenate([piece.counts for piece in pieces])[order]
    return _added(numbers[order], counts, np.concatenate([piece.parts for piece in pieces])[order])


def _added(numbers: Int64, counts: npt.NDArray[np.uint32], parts: Float64) -> _Entries:
    """Add up the entries of equal numbers, which are sorted."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    if len(starts) == len(numbers):
        return _Entries(numbers, counts, parts)
    sums = np.add.reduceat(parts, starts, axis=0) if parts.shape[1] else np.zeros((len(starts), 0))
    return _Entries(numbers[starts], np.add.reduceat(counts, starts, dtype=np.uint32), sums)
