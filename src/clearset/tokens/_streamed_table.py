"""Counting the tokens of examples that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import FileRows, Labels, Task, read_weights
from clearset.tokens._build_folder import BuildFolder
from clearset.tokens._codes import BoolArray, Coded, Float64, Joining, Mined, Run, TokenLimitError
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._counting import (
    Described,
    all_filtered,
    counted_parts,
    kept_tokens,
    least_outside,
    sizes_outside,
    statistics_of,
)
from clearset.tokens._filters import Filter
from clearset.tokens._item_counts import ItemCounts
from clearset.tokens._kept_passes import KeptPasses, Vocabulary
from clearset.tokens._mining import mine_parts
from clearset.tokens._mining_passes import mine_stored
from clearset.tokens._runs import mine_runs
from clearset.tokens._scratch import Place
from clearset.tokens._statistics import Statistics
from clearset.tokens._stored_rows import Block, StoredRows
from clearset.tokens._streamed_columns import Batch, StreamedColumns
from clearset.tokens._streamed_labels import StreamedLabels, Totals, without_items
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import alphabetical_ranks, as_bytes, encode, flat, places_in, unique_sorted

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

# A table of rows takes one part in so many of the memory.
_PIECES = 80
# What a token takes in a view, and for each class: counts and sums, features, and where they stand between keypoints.
_VIEW_BYTES, _CLASS_BYTES = 72, 28


@dataclass(frozen=True, eq=False)
class StreamedTokens:
    """The tokens of a stream, as a `TokenTable` holds them."""

    vocabulary: pa.LargeStringArray
    index: TokenIndex
    statistics: Statistics
    classes: npt.NDArray[Any] | None
    prior: Float64 | float
    task: Task
    n_examples: int


class Counting(NamedTuple):
    """How tokens are counted."""

    tokenizer: Tokenizer
    filters: tuple[Filter, ...]
    threads: int
    memory: int


class Folds(NamedTuple):
    """The fold of each row, and how many folds there are; without folds none."""

    of_rows: npt.NDArray[np.integer] | None = None
    number: int = 0


def count_streamed(
    columns: StreamedColumns, task: str, how: Counting, folder: BuildFolder | None = None
) -> StreamedTokens:
    """Count the tokens of a stream in two passes over it.

    The first pass counts items and reads labels. The second one writes the codes of frequent items to scratch files,
    which are mined as `mine_stored` says. All sums are exact, so that the order and the size of batches do not matter.
    Passes that a folder holds are not made again.
    """
    bytes_at_once, passes = min(how.memory // 80, 1 << 26), KeptPasses(folder)

    def read() -> tuple[StreamedLabels, Vocabulary]:
        labels = StreamedLabels(task, passes.place)
        return labels, _vocabulary_of(_first_pass(columns, labels, how, bytes_at_once), how)

    labels, vocabulary = passes.first(task, read)
    if not labels.n_rows:
        raise ValueError("All weights are 0, so that there are no examples. Give some of them weight.")
    lists = _lists_of_columns(columns, how.tokenizer, bytes_at_once)
    return _count(lists, vocabulary, labels.totals(), labels.task, how, Folds(), passes)[0]


def cross_fit_streamed(
    rows: FileRows, labels: Labels, weights: Float64 | None, how: Counting, folds: Folds
) -> tuple[StreamedTokens, tuple[Statistics, ...]]:
    """Count the tokens of rows whose labels and folds are in memory; see `cross_fit`."""
    items = ItemCounts(how.memory // 20)
    for table in rows.tables(_PIECES):
        _count_items(how.tokenizer.parts(table), items)
    values = labels.values

    def labelled(start: int, stop: int) -> CountedExamples:
        some = None if weights is None else weights[start:stop]
        return without_items(labels._replace(values=values[start:stop]), some)

    lists = (how.tokenizer.parts(table) for table in rows.tables(_PIECES))
    vocabulary, totals = _vocabulary_of(items, how), Totals.of(labelled, len(rows))
    return _count(lists, vocabulary, totals, labels.task, how, folds, KeptPasses())


def _count(
    lists: Iterator[pa.LargeListArray],
    vocabulary_of: Vocabulary,
    totals: Totals,
    task: Task,
    how: Counting,
    folds: Folds,
    passes: KeptPasses,
) -> tuple[StreamedTokens, tuple[Statistics, ...]]:
    """Count the tokens of lists of items, whose items were counted before."""
    tokenizer, filters, threads, memory = how
    n, n_classes, n_folds = totals.n_rows, totals.n_channels, folds.number
    outside = sizes_outside(folds.of_rows, n_folds, n)
    leasts = least_outside(filters, task, outside, n, tokenizer)
    vocabulary = vocabulary_of(min(leasts))
    runs, n_channels = tokenizer.runs(vocabulary), max(n_folds, 1) * n_classes

    def mine(rows: StoredRows) -> Mined:
        def of_run(run: Run, least: int) -> Mined:
            chosen = rows if len(runs) == 1 else rows.of(run)
            known = run.joining, run.end - run.first, n_channels
            return mine_stored(chosen, *known, min_count=least, threads=threads, memory=memory)

        return mine_runs(runs, leasts, of_run)

    mined = passes.mined(lambda: _store(lists, tokenizer, vocabulary, totals, folds, passes.place), mine)
    _check_views(len(mined.items), n_folds, n_classes, memory)
    described = Described.of(mined, vocabulary, tokenizer)
    everything, rest = statistics_of(mined, described, totals.exact, n_classes, n_folds, totals.centre)
    everything, rest = all_filtered(everything, rest, outside, n, filters)
    vocabulary, index, statistics, out_of_fold = kept_tokens(mined, everything, rest, vocabulary, tokenizer)
    tokens = StreamedTokens(vocabulary, index, statistics, totals.classes, totals.prior, task, n)
    return tokens, out_of_fold


def _check_views(n_tokens: int, n_folds: int, n_classes: int, memory: int) -> None:
    """Raise an error if statistics outside of folds, and what a set function reads of them, would not fit."""
    needed = n_tokens * (n_folds + 1) * (_VIEW_BYTES + _CLASS_BYTES * n_classes)
    if n_folds and needed > memory // 2:
        raise TokenLimitError(
            f"{n_tokens:,} tokens with statistics outside of {n_folds} folds take about {needed:,} bytes, more than "
            f"half of the {memory:,} bytes that are left of max_memory. Ask for more examples per token, such as a "
            "higher MinCount, use fewer folds (cross_fit), or allow more memory."
        )


def _first_pass(columns: StreamedColumns, labels: StreamedLabels, how: Counting, bytes_at_once: int) -> ItemCounts:
    """Read all labels, and count items."""
    items = ItemCounts(how.memory // 20)
    for batch in columns.batches(bytes_at_once):
        try:
            kept = labels.add(batch.labels, batch.weights)
            lists = _parts(how.tokenizer, batch, kept)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"In the rows from {batch.first_row:,} on: {error}") from error
        _count_items(lists, items)
    return items


def _count_items(lists: pa.LargeListArray, items: ItemCounts) -> None:
    strings, coded = encode(lists)
    # One word at a time, n-grams are items that an example may repeat.
    counted = mine_parts(coded, Joining("ngrams", 1), np.zeros(coded.n_rows, np.int32), 1)
    items.add(strings.take(pa.array(counted.items)), counted.counts)


def _lists_of_columns(
    columns: StreamedColumns, tokenizer: Tokenizer, bytes_at_once: int
) -> Iterator[pa.LargeListArray]:
    for batch in columns.batches(bytes_at_once):
        weights = read_weights(batch.weights, len(batch.labels))
        yield _parts(tokenizer, batch, None if weights is None else weights > 0)


def _parts(tokenizer: Tokenizer, batch: Batch, kept: BoolArray | None) -> pa.LargeListArray:
    lists = tokenizer.parts(batch.items)
    return lists if kept is None else lists.filter(pa.array(kept))


def _vocabulary_of(items: ItemCounts, how: Counting) -> Vocabulary:
    return lambda least: _vocabulary(items, least, how.tokenizer, how.memory)


def _vocabulary(items: ItemCounts, least: int, tokenizer: Tokenizer, memory: int) -> pa.LargeStringArray:
    """Return the frequent items in the order of `CountedExamples.canonical`: from rare to frequent."""
    tables, n_bytes = [], 0
    for table in items.at_least(least):
        tables.append(table)
        n_bytes += table.nbytes
        _check_size(sum(map(len, tables)), least, n_bytes, memory)
    together = pa.concat_tables(tables).combine_chunks()
    strings = _array(together["item"])
    order = np.lexsort([alphabetical_ranks(strings), together["count"].to_numpy(), tokenizer.ranks(strings)])
    return strings.take(pa.array(order))


def _check_size(n_items: int, least: int, n_bytes: int, memory: int) -> None:
    if n_bytes > memory // 6:
        raise TokenLimitError(
            f"At least {n_items:,} items are in {least:,} examples or more, and they alone take {n_bytes:,} bytes; "
            f"max_memory is {memory:,}. Ask for more examples per token, such as a higher MinCount, or allow more "
            "memory."
        )


def _array(column: pa.ChunkedArray) -> pa.LargeStringArray:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _store(
    lists: Iterator[pa.LargeListArray],
    tokenizer: Tokenizer,
    vocabulary: pa.LargeStringArray,
    totals: Totals,
    folds: Folds,
    place: Place,
) -> StoredRows:
    """Write the codes of known items to scratch files, with the channel of each row and what it adds to sums."""
    n_parts = totals.n_parts + bool(folds.number) if totals.n_parts else 0
    rows, encode_known, start = StoredRows(n_parts, place), _encoder(vocabulary, tokenizer), 0
    for part in lists:
        coded = encode_known(part)
        stop = start + coded.n_rows
        channels, parts = totals.channels_and_parts(start, stop)
        if folds.of_rows is not None:
            channels = folds.of_rows[start:stop].astype(np.int32) * np.int32(totals.n_channels) + channels
        rows.append(Block(coded, channels, None if parts is None else counted_parts(parts, folds.number)))
        start = stop
    return rows


def _encoder(vocabulary: pa.LargeStringArray, tokenizer: Tokenizer) -> Callable[[pa.LargeListArray], Coded]:
    """Return a function from lists of strings to rows of codes: of known items, or with -1 for unknown words."""
    if _native is None:
        return lambda lists: _encoded(lists, vocabulary, tokenizer)
    finder = _native.Vocabulary(*as_bytes(vocabulary))

    def encoded(lists: pa.LargeListArray) -> Coded:
        strings, offsets = flat(lists)
        codes, ends, _ = finder.encode(*as_bytes(strings), offsets, tokenizer.in_order)
        return Coded(codes, ends)

    return encoded


def _encoded(lists: pa.LargeListArray, vocabulary: pa.LargeStringArray, tokenizer: Tokenizer) -> Coded:
    strings, coded = encode(lists)
    coded = Coded(places_in(strings, vocabulary)[coded.codes], coded.offsets)
    return coded if tokenizer.in_order else unique_sorted(coded.keep(coded.codes >= 0), len(vocabulary))
