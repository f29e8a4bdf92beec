"""Mining rows that need not fit into memory, in passes over them; the result is that of `mine_parts`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.sets import offsets_from_sizes
from clearset.tokens._codes import MAX_TOKENS, Coded, Int32, Int64, Joining, Mined, Sums, TokenLimitError
from clearset.tokens._key_counts import KeyCounts, check_keys
from clearset.tokens._mining import mine_parts
from clearset.tokens._scratch import ScratchNumbers
from clearset.tokens._stored_pairs import CountedPairs, count_pairs, rows_of_frequent_pairs
from clearset.tokens._stored_rows import Block, StoredRows

# What mining at once takes: codes, the kernel's copy of them, and their occurrences; and offsets and channels.
_CODE_BYTES, _ROW_BYTES = 28, 40


class _Level(NamedTuple):
    """Tokens of one size, as in `Mined`; parents are numbered within the tokens of the size before."""

    items: Int32
    parents: Int64
    counts: Int64
    sums: Sums


def mine_stored(
    rows: StoredRows,
    joining: Joining,
    n_items: int,
    n_channels: int,
    *,
    min_count: int = 1,
    threads: int = 1,
    memory: int,
) -> Mined:
    """Count every token that occurs in at least ``min_count`` rows as `mine_parts` does, within some memory.

    Rows that fit are mined at once. Otherwise items are counted in one pass and pairs of items in a second one. Larger
    subsets are mined from the frequent pairs, so many first items at a time as fit; n-grams grow by one word a pass. In
    n-grams a code of -1 is a rare word.
    """
    min_count = min(max(min_count, 1), MAX_TOKENS)
    options: dict[str, Any] = {"min_count": min_count, "threads": threads}
    if rows.n_codes * _CODE_BYTES + rows.n_rows * (_ROW_BYTES + 8 * rows.n_parts) <= memory // 2:
        coded, channels, parts = rows.whole()
        return mine_parts(_gaps_named(coded, n_items, min_count), joining, channels, n_channels, parts, **options)
    levels = [_items(rows, n_items, n_channels, min_count)]
    if joining.kind == "ngrams":
        levels += _ngrams(rows, joining, levels[0], n_items, n_channels, min_count, memory)
    elif joining.max_items > 1:
        pairs = count_pairs(rows, joining, n_items, n_channels, min_count=min_count, memory=memory)
        firsts, seconds = np.divmod(pairs.counted.keys, n_items)
        parents = np.searchsorted(levels[0].items, firsts)
        levels.append(_Level(seconds.astype(np.int32), parents, pairs.counted.counts, pairs.counted.sums))
        if joining.max_items > 2 and len(seconds):
            levels += _larger(rows, joining, pairs, n_items, n_channels, memory, options)
    return _put_together(levels, memory)


def _gaps_named(coded: Coded, n_items: int, min_count: int) -> Coded:
    """Give rare words codes of their own, each in too few rows to be part of a token."""
    gaps = coded.codes < 0
    if not gaps.any():
        return coded
    return Coded(
        np.where(gaps, n_items + coded.rows // max(min_count - 1, 1), coded.codes).astype(np.int32), coded.offsets
    )


def _items(rows: StoredRows, n_items: int, n_channels: int, min_count: int) -> _Level:
    counts = np.zeros(n_items, np.int64)
    sums: npt.NDArray[Any] = np.zeros((n_items, n_channels), np.uint32)
    if rows.n_parts:
        sums = np.zeros((n_items, n_channels, rows.n_parts))
    for coded, channels, parts in rows.blocks():
        # One word at a time, n-grams are items that a row may repeat.
        mined = mine_parts(coded.keep(coded.codes >= 0), Joining("ngrams", 1), channels, n_channels, parts)
        counts[mined.items] += mined.counts
        sums[mined.items] += mined.sums
    items = np.flatnonzero(counts >= min_count)
    return _Level(items.astype(np.int32), np.full(len(items), -1), counts[items], sums[items])


def _ngrams(
    rows: StoredRows, joining: Joining, words: _Level, n_items: int, n_channels: int, min_count: int, memory: int
) -> Iterator[_Level]:
    """Yield the n-grams of 2 words, of 3, and so on, as long as there are frequent ones."""
    # The n-gram that begins at each place of the codes, by its number among those of its size; -1 for a rare one.
    numbers_of = np.full(n_items + 1, -1, np.int32)
    numbers_of[words.items] = np.arange(len(words.items), dtype=np.int32)
    begun, n_begun = ScratchNumbers(np.int32), len(words.items)
    for coded, *_ in rows.blocks():
        begun.append(numbers_of[coded.codes])
    for order in range(2, joining.max_items + 1):
        check_keys(n_begun * n_items, n_channels)
        counts = KeyCounts(n_channels, rows.n_parts, memory // 20)
        for block, keys, places in _longer(rows, begun, order, n_items):
            counts.add(keys, block.coded.rows[places], block.channels, block.parts, may_repeat=True)
        found = counts.at_least(min_count)
        if not len(found.keys):
            break
        parents, items = np.divmod(found.keys, n_items)
        yield _Level(items.astype(np.int32), parents, found.counts, found.sums)
        n_begun = len(items)
        if order < joining.max_items:
            known = np.append(found.keys, -1)
            for start, (block, keys, places) in zip(rows.starts(), _longer(rows, begun, order, n_items), strict=True):
                numbers = np.searchsorted(found.keys, keys)
                grown = np.full(len(block.coded.codes), -1, np.int32)
                grown[places] = np.where(known[numbers] == keys, numbers, -1)
                begun.write(start, grown)


def _longer(rows: StoredRows, begun: ScratchNumbers, order: int, n_items: int) -> Iterator[tuple[Block, Int64, Int64]]:
    """Yield for each block the n-grams of `order` words, by begun one x n_items + last word, and where they begin."""
    for start, block in zip(rows.starts(), rows.blocks(), strict=True):
        codes, offsets = block.coded
        numbers = begun.read(start, start + len(codes))
        ends = np.repeat(offsets[1:], block.coded.sizes)
        places = np.flatnonzero((numbers >= 0) & (np.arange(len(codes)) + order <= ends))
        places = places[codes[places + order - 1] >= 0]
        yield block, numbers[places].astype(np.int64) * n_items + codes[places + order - 1], places


def _larger(
    rows: StoredRows,
    joining: Joining,
    pairs: CountedPairs,
    n_items: int,
    n_channels: int,
    memory: int,
    options: dict[str, Any],
) -> list[_Level]:
    """Return the tokens of 3 items and more, size by size: what is frequent among the pairs that begin with an item."""
    keys, counts = pairs.counted.keys, pairs.counted.counts
    inner = replace(joining, max_size=None if joining.max_size is None else joining.max_size - 1)
    firsts = keys // n_items
    costs = np.bincount(firsts, counts * (_CODE_BYTES + (_ROW_BYTES + 8 * rows.n_parts) / 2), minlength=n_items)
    found: list[list[_Level]] = []
    for low, high in _passes(costs, pairs.table.first, memory // 4):
        base, end = np.searchsorted(keys, [low * n_items, high * n_items]).tolist()
        if end - base < 2:
            continue
        chosen = StoredRows(rows.n_parts)
        for block in rows.blocks():
            for piece in rows_of_frequent_pairs(block, pairs, joining, n_items, low, high, base):
                chosen.append(piece)
        mined = mine_stored(chosen, inner, end - base, n_channels, **options, memory=memory)
        _add_larger(found, mined, base, keys % n_items)
    return [_Level(*(np.concatenate(columns) for columns in zip(*parts, strict=True))) for parts in found]


def _passes(costs: npt.NDArray[Any], boundary: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut first items into ranges that cost at most so much, or are a single item; none reaches over the boundary."""
    ends = np.cumsum(costs)
    low = 0
    while low < len(costs):
        before = ends[low] - costs[low]
        high = max(int(np.searchsorted(ends, before + most, side="right")), low + 1)
        if low < boundary:
            high = min(high, boundary)
        yield low, high
        low = high


def _add_larger(found: list[list[_Level]], mined: Mined, base: int, seconds: Int64) -> None:
    """Add the tokens of a pass, whose items are pairs numbered from `base` on, to those found before."""
    for size in range(2, len(mined.levels)):
        start, end = mined.levels[size - 1], mined.levels[size]
        parents = mined.parents[start:end].astype(np.int64)
        if size == 2:
            parents = base + mined.items[parents].astype(np.int64)
        else:
            parents += sum(len(part.items) for part in found[size - 3][:-1]) - mined.levels[size - 2]
        items = seconds[base + mined.items[start:end]].astype(np.int32)
        if len(found) < size - 1:
            found.append([])
        found[size - 2].append(_Level(items, parents, mined.counts[start:end], mined.sums[start:end]))


def _put_together(levels: Sequence[_Level], memory: int) -> Mined:
    levels = [levels[0], *(level for level in levels[1:] if len(level.items))]
    starts = offsets_from_sizes(np.array([len(level.items) for level in levels], np.int64))
    _check_size(int(starts[-1]), 2 * sum(sum(column.nbytes for column in level) for level in levels), memory)
    shifts = [0, *starts[:-2].tolist()]
    parents = [
        level.parents + (shift if place else 0) for place, (level, shift) in enumerate(zip(levels, shifts, strict=True))
    ]
    return Mined(
        np.concatenate([level.items for level in levels]),
        np.concatenate(parents).astype(np.int32),
        starts if starts[-1] else starts[:1],
        np.concatenate([level.counts for level in levels]),
        np.concatenate([level.sums for level in levels]),
    )


def _check_size(n_tokens: int, n_bytes: int, memory: int) -> None:
    if n_tokens > MAX_TOKENS or n_bytes > memory:
        raise TokenLimitError(
            f"These examples have {n_tokens:,} tokens, whose table takes {n_bytes:,} bytes while it is made; "
            f"max_memory allows {memory:,}. Ask for more examples per token (a higher MinCount, a stricter "
            "MaxInterval), lower max_size, or allow more memory."
        )
