"""Counting the tokens of examples that need not fit into memory."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Task, read_weights
from clearset.tokens._codes import BoolArray, Coded, Float64, Joining, TokenLimitError
from clearset.tokens._counting import filtered, kept_tokens, sizes_of
from clearset.tokens._filters import Filter, least_count
from clearset.tokens._item_counts import ItemCounts
from clearset.tokens._mining import mine_parts
from clearset.tokens._mining_passes import mine_stored
from clearset.tokens._statistics import Statistics
from clearset.tokens._stored_rows import Block, StoredRows
from clearset.tokens._streamed_columns import Batch, StreamedColumns
from clearset.tokens._streamed_labels import StreamedLabels, Totals
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import alphabetical_ranks, as_bytes, encode, flat, places_in, unique_sorted

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


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


def count_streamed(
    columns: StreamedColumns, tokenizer: Tokenizer, filters: tuple[Filter, ...], task: str, threads: int, memory: int
) -> StreamedTokens:
    """Count the tokens of a stream in two passes over it.

    The first pass counts items and reads labels. The second one writes the codes of frequent items to scratch files,
    which are mined as `mine_stored` says. All sums are exact, so that the order and the size of batches do not matter.
    """
    bytes_at_once = min(memory // 80, 1 << 26)
    labels, items = _first_pass(columns, tokenizer, task, bytes_at_once, memory)
    if not labels.n_rows:
        raise ValueError("All weights are 0, so that there are no examples. Give some of them weight.")
    least = max([1, *(least_count(part, labels.task) for part in filters)])
    vocabulary = _vocabulary(items, least, tokenizer, memory)
    totals = labels.totals()
    rows = _second_pass(columns, tokenizer, vocabulary, totals, bytes_at_once)
    mined = mine_stored(
        rows,
        tokenizer.joining(vocabulary),
        len(vocabulary),
        totals.n_channels,
        min_count=least,
        threads=threads,
        memory=memory,
    )
    del rows
    sizes = sizes_of(mined, vocabulary, tokenizer)
    everything = Statistics(mined.counts, totals.joined(mined.sums), sizes, mined.counts > 0, totals.centre)
    vocabulary, index, statistics, _ = kept_tokens(mined, filtered(everything, filters), (), vocabulary, tokenizer)
    return StreamedTokens(vocabulary, index, statistics, totals.classes, totals.prior, labels.task, labels.n_rows)


def _first_pass(
    columns: StreamedColumns, tokenizer: Tokenizer, task: str, bytes_at_once: int, memory: int
) -> tuple[StreamedLabels, ItemCounts]:
    labels, items = StreamedLabels(task), ItemCounts(memory // 20)
    for batch in columns.batches(bytes_at_once):
        try:
            kept = labels.add(batch.labels, batch.weights)
            lists = _parts(tokenizer, batch, kept)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"In the rows from {batch.first_row:,} on: {error}") from error
        strings, coded = encode(lists)
        # One word at a time, n-grams are items that an example may repeat.
        counted = mine_parts(coded, Joining("ngrams", 1), np.zeros(coded.n_rows, np.int32), 1)
        items.add(strings.take(pa.array(counted.items)), counted.counts)
    return labels, items


def _parts(tokenizer: Tokenizer, batch: Batch, kept: BoolArray | None) -> pa.LargeListArray:
    lists = tokenizer.parts(batch.items)
    return lists if kept is None else lists.filter(pa.array(kept))


def _vocabulary(items: ItemCounts, least: int, tokenizer: Tokenizer, memory: int) -> pa.LargeStringArray:
    """Return the frequent items in the order of `CountedExamples.canonical`: from rare to frequent."""
    tables, n_bytes = [], 0
    for table in items.at_least(least):
        tables.append(table)
        n_bytes += table.nbytes
        _check_size(sum(map(len, tables)), least, n_bytes, memory)
    together = pa.concat_tables(tables).combine_chunks()
    strings = _array(together["item"])
    order = np.lexsort([alphabetical_ranks(strings), together["count"].to_numpy(), tokenizer.sides(strings)])
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


def _second_pass(
    columns: StreamedColumns, tokenizer: Tokenizer, vocabulary: pa.LargeStringArray, totals: Totals, bytes_at_once: int
) -> StoredRows:
    rows, encode_known, start = StoredRows(totals.n_parts), _encoder(vocabulary, tokenizer), 0
    for batch in columns.batches(bytes_at_once):
        weights = read_weights(batch.weights, len(batch.labels))
        kept = None if weights is None else weights > 0
        coded = encode_known(_parts(tokenizer, batch, kept))
        stop = start + coded.n_rows
        rows.append(Block(coded, *totals.channels_and_parts(start, stop)))
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
