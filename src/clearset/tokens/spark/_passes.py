"""What executors do with the rows that they hold: functions from Arrow batches to Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from clearset.tokens._candidates import Candidates, FrequentTokens
from clearset.tokens._codes import Coded, Float64, Int32, Int64, Joining, Run
from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel
from clearset.tokens._mining import mine_parts
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import as_bytes, encode, places_in, unique_sorted
from clearset.tokens.spark._labels import LabelColumns

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

_ROWS_AT_ONCE = 1 << 16  # of examples that are counted together
_ROWS_OF_RESULT = 1 << 18  # of a batch that goes back to Spark

Batches = Iterable[pa.RecordBatch]
Contribute = Callable[[pa.Table], Float64]


class Source(NamedTuple):
    """How rows are read: which columns hold the items, who takes them apart, and what the labels are."""

    columns: tuple[str, ...]
    reader: Tokenizer
    in_order: bool  # whether the order of items matters
    labels: LabelColumns

    def items(self, table: pa.Table) -> tuple[pa.LargeStringArray, Coded]:
        """Return the distinct items of some rows, and the rows in their numbers."""
        return encode(self.reader.parts(table.select(list(self.columns))))


def extents(batches: Batches, contribute: Contribute) -> Iterator[pa.RecordBatch]:
    """Tell how large and how fine contributions are: a row for all of the batches."""
    found = [Extent.of(contribute(table)) for table in _tables(batches)]
    if found:
        n, tops, lows = Extent.joined(found)
        yield pa.RecordBatch.from_pydict({"n": [n], "tops": [tops], "lows": [lows]})


def label_sums(
    batches: Batches, contribute: Contribute, labels: LabelColumns, exact: ExactSums
) -> Iterator[pa.RecordBatch]:
    """Add up contributions by class: a row of all sums for all of the batches."""
    total = np.zeros((labels.n_channels, len(exact.columns)))
    for table in _tables(batches):
        total += sums_by_channel(exact.split(contribute(table)), labels.channels(table), labels.n_channels)
    yield pa.RecordBatch.from_pydict({"sums": [total.ravel()]})


def item_counts(batches: Batches, source: Source) -> Iterator[pa.RecordBatch]:
    """Count in how many rows each item is."""
    for table in _tables(batches):
        vocabulary, coded = source.items(table)
        counts = np.bincount(unique_sorted(coded, len(vocabulary)).codes, minlength=len(vocabulary))
        yield from _cut(pa.RecordBatch.from_pydict({"item": vocabulary, "count": counts}))


def encoded(
    batches: Batches, source: Source, vocabulary: pa.LargeStringArray, centre: float | None, exact: ExactSums | None
) -> Iterator[pa.RecordBatch]:
    """Return rows as codes of the vocabulary, the place of the label, and the parts of what they add to sums."""
    find = _finder(vocabulary)
    for table in _tables(batches):
        strings, coded = source.items(table)
        codes = find(strings)[coded.codes]
        coded = Coded(codes, coded.offsets)
        if not source.in_order:
            coded = unique_sorted(coded.keep(codes >= 0), len(vocabulary))
        columns = {"codes": pa.ListArray.from_arrays(coded.offsets.astype(np.int32), coded.codes)}
        columns["channel"] = pa.array(source.labels.channels(table))
        if exact is not None:
            contributions = source.labels.contributions(table, centre)
            assert contributions is not None  # noqa: S101
            columns |= {f"part{i}": pa.array(part) for i, part in enumerate(exact.split(contributions).T)}
        yield from _cut(pa.RecordBatch.from_pydict(columns))


def candidate_counts(batches: Batches, tokens: FrequentTokens, run: Run | None) -> Iterator[pa.RecordBatch]:
    """Count the tokens of one more item in encoded rows: of a run of items, or of all."""
    candidates = Candidates(tokens)
    for table in _tables(batches):
        coded = _coded(table)
        for keys, counts in candidates.count(coded if run is None else run.of(coded)):
            yield from _cut(pa.RecordBatch.from_pydict({"key": keys, "count": counts}))


def token_sums(batches: Batches, tokens: FrequentTokens, n_channels: int) -> Iterator[pa.RecordBatch]:
    """Add up what encoded rows add to their tokens; sums of 0 are left out."""
    index = tokens.finder()
    for table in _tables(batches):
        found = Coded(*index.find(_coded(table), cover=False))
        parts = [table[name].to_numpy() for name in table.column_names if name.startswith("part")]
        mined = mine_parts(
            found,
            Joining("subsets", 1),
            table["channel"].to_numpy(),
            n_channels,
            np.stack(parts, axis=1) if parts else None,
        )
        sums = mined.sums.reshape(len(mined.items), n_channels, len(parts) or 1)
        rows, channels = np.nonzero(sums.any(axis=2))
        amounts = sums[rows, channels] if parts else sums[rows, channels].astype(np.int64)
        columns = {"token": mined.items[rows], "channel": channels.astype(np.int32)}
        columns |= {f"part{i}": amount for i, amount in enumerate(amounts.T)}
        yield from _cut(pa.RecordBatch.from_pydict({name: pa.array(part) for name, part in columns.items()}))


def _tables(batches: Batches) -> Iterator[pa.Table]:
    """Put batches together to tables of some rows."""
    pending: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in batches:
        if len(batch):
            pending.append(batch)
            n_rows += len(batch)
        if n_rows >= _ROWS_AT_ONCE:
            yield pa.Table.from_batches(pending)
            pending, n_rows = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(batch), _ROWS_OF_RESULT):
        yield batch.slice(start, _ROWS_OF_RESULT)


def _coded(table: pa.Table) -> Coded:
    lists = table["codes"].combine_chunks()
    offsets: Int64 = lists.offsets.to_numpy().astype(np.int64)
    codes: Int32 = lists.values.to_numpy()[offsets[0] : offsets[-1]]
    return Coded(codes, offsets - offsets[0])


def _finder(vocabulary: pa.LargeStringArray) -> Callable[[pa.LargeStringArray], Int32]:
    """Return a function that finds the places of strings, -1 where one is not there."""
    if _native is None:
        return lambda strings: places_in(strings, vocabulary)
    table = _native.Vocabulary(*as_bytes(vocabulary))
    return lambda strings: table.encode(*as_bytes(strings), np.array([0, len(strings)]), True)[0]
