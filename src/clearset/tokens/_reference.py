"""Mining and finding in NumPy: the same as the compiled module does, but slower."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearset.sets import offsets_from_sizes, runs
from clearset.tokens._codes import Coded, Float64, Found, Int32, Int64, Joining, Mined, Sums

if TYPE_CHECKING:
    from clearset.tokens._token_index import TokenIndex

_BATCH = 1 << 20  # occurrences that are looked at together
_BATCH_ROWS = 1 << 10


class _Occurrences(NamedTuple):
    """Where tokens of one size occur."""

    tokens: Int64
    rows: Int64
    places: Int64  # of the last item
    before: Int64  # which occurrence of the tokens without their last item this one has grown from

    def take(self, which: NDArray[np.generic] | slice) -> _Occurrences:
        return _Occurrences(*(column[which] for column in self))


def mine(
    coded: Coded, joining: Joining, channels: Int32, n_channels: int, adding: Float64 | None, min_count: int, limit: int
) -> Mined | int:
    """Count tokens as `clearset.tokens._mining.mine` says; return only their number once it exceeds the limit."""
    # Batches of tokens are grown depth first, so that few occurrences are in memory at a time. The batches of one size
    # still come in the order of their tokens.
    coded = _frequent_items(coded, joining, min_count)
    n_codes = int(coded.codes.max(initial=0)) + 1
    blocks: list[list[tuple[Int64, Int64, Int64, Sums]]] = []  # items, parents, counts, sums; size by size
    sizes: list[int] = []
    total = 0
    pending = [(0, _every_item(coded, 0))]
    while pending:
        level, occurrences = pending.pop()
        if level:
            occurrences = _grow(coded, joining, occurrences)
        keys = occurrences.tokens * n_codes + coded.codes[occurrences.places]
        order = np.argsort(keys, kind="stable")
        keys, counts, occurrences = _survivors(keys[order], occurrences.take(order), min_count)
        if not len(keys):
            continue
        total += len(keys)
        if total > limit:
            return total
        if level == len(blocks):
            blocks.append([])
            sizes.append(0)
        sums = _sum_up(occurrences, len(keys), channels, n_channels, adding)
        blocks[level].append((keys % n_codes, keys // n_codes, counts, sums))
        if level + 1 < joining.max_items:
            occurrences = occurrences._replace(tokens=occurrences.tokens + sizes[level])
            pending += [(level + 1, batch) for batch in reversed(_batches(coded, joining, occurrences))]
        sizes[level] += len(keys)
    return _put_together(blocks, sizes, n_channels, adding)


def _frequent_items(coded: Coded, joining: Joining, min_count: int) -> Coded:
    """Leave out rare items; in n-grams they become -1, which ends a run."""
    n_codes = int(coded.codes.max(initial=0)) + 1
    once = np.unique(coded.rows * n_codes + coded.codes) % n_codes
    keep = np.bincount(once, minlength=n_codes)[coded.codes] >= min_count
    if joining.kind == "ngrams":
        return Coded(np.where(keep, coded.codes, np.int32(-1)), coded.offsets)
    return coded.keep(keep)


def _every_item(coded: Coded, token: int) -> _Occurrences:
    places = np.flatnonzero(coded.codes >= 0)
    zeros = np.zeros_like(places)
    return _Occurrences(zeros + token, coded.rows[places], places, zeros)


def _following(coded: Coded, joining: Joining, occurrences: _Occurrences) -> Int64:
    """Return the number of places where the next item of each occurrence may be."""
    rest = coded.offsets[occurrences.rows + 1] - occurrences.places - 1
    return np.minimum(rest, 1) if joining.kind == "ngrams" else rest


def _grow(coded: Coded, joining: Joining, occurrences: _Occurrences) -> _Occurrences:
    """Return all occurrences with one more item, under the numbers of the tokens that they extend."""
    following = _following(coded, joining, occurrences)
    before = np.repeat(np.arange(len(following)), following)
    grown = occurrences.take(before)
    places, _ = runs(occurrences.places + 1, following)
    if joining.kind == "crosses":
        left, right = coded.codes[grown.places], coded.codes[places]
        good = (left < joining.boundary) & (right >= joining.boundary)
    else:
        good = coded.codes[places] >= 0
    return _Occurrences(grown.tokens[good], grown.rows[good], places[good], before[good])


def _survivors(keys: Int64, occurrences: _Occurrences, min_count: int) -> tuple[Int64, Int64, _Occurrences]:
    """Return the sorted keys that occur in enough rows, their counts, and their occurrences, numbered by key."""
    new_key = np.diff(keys, prepend=-1) != 0
    new_row = new_key | (np.diff(occurrences.rows, prepend=-1) != 0)
    numbers = np.cumsum(new_key) - 1
    counts = np.bincount(numbers[new_row])
    enough = counts >= min_count
    stay = enough[numbers]
    renumbered = np.cumsum(enough) - 1
    left = occurrences._replace(tokens=renumbered[numbers]).take(stay)
    return keys[new_key][enough], counts[enough], left


def _sum_up(occurrences: _Occurrences, n_tokens: int, channels: Int32, n_channels: int, adding: Float64 | None) -> Sums:
    """Add up the rows of each token, in their order and each once."""
    tokens, rows = occurrences.tokens, occurrences.rows
    once = (np.diff(tokens, prepend=-1) != 0) | (np.diff(rows, prepend=-1) != 0)
    cells = tokens[once] * n_channels + channels[rows[once]]
    n_cells = n_tokens * n_channels
    if adding is None:
        return np.bincount(cells, minlength=n_cells).astype(np.uint32).reshape(n_tokens, n_channels)
    columns = [np.bincount(cells, column[rows[once]], n_cells) for column in adding.T]
    return np.stack(columns, axis=1).reshape(n_tokens, -1)


def _batches(coded: Coded, joining: Joining, occurrences: _Occurrences) -> list[_Occurrences]:
    """Cut occurrences, between tokens, so that about ``_BATCH`` grow out of each part."""
    last = np.append(np.diff(occurrences.tokens) != 0, True)
    ends = np.flatnonzero(last) + 1
    grown = np.cumsum(_following(coded, joining, occurrences))[ends - 1]
    cuts = ends[np.append(np.diff(grown // _BATCH) != 0, True)]
    starts = np.concatenate([[0], cuts[:-1]])
    return [occurrences.take(slice(start, end)) for start, end in zip(starts, cuts, strict=True)]


def _put_together(
    blocks: list[list[tuple[Int64, Int64, Int64, Sums]]], sizes: list[int], n_channels: int, adding: Float64 | None
) -> Mined:
    levels = offsets_from_sizes(np.array(sizes, np.int64))
    if not blocks:
        shape = (0, n_channels if adding is None else n_channels * adding.shape[1])
        none = np.zeros(0, np.int32)
        sums = np.zeros(shape, np.uint32 if adding is None else np.float64)
        return Mined(none, none, levels, np.zeros(0, np.int64), sums)
    items, parents, counts, sums = (
        np.concatenate(column) for column in zip(*(block for level in blocks for block in level), strict=True)
    )
    parents += np.repeat([-1, *levels[:-2]], sizes)
    return Mined(items.astype(np.int32), parents.astype(np.int32), levels, counts, sums)


def find(index: TokenIndex, coded: Coded, views: NDArray[np.uint8] | None, cover: bool, limit: int) -> Found | None:
    """Find tokens as `clearset.tokens._token_index.TokenIndex.find` says, some rows at a time; None past the limit."""
    keys = index.parents.astype(np.int64) * index.n_codes + index.items
    parts = []
    total = 0
    for start in range(0, coded.n_rows, _BATCH_ROWS):
        offsets = coded.offsets[start : start + _BATCH_ROWS + 1]
        part = Coded(coded.codes[offsets[0] : offsets[-1]], offsets - offsets[0])
        part_views = None if views is None else views[start : start + _BATCH_ROWS]
        parts.append(_find(index, keys, part, part_views, cover))
        total += len(parts[-1][0])
        if total > limit:
            return None
    tokens = np.concatenate([np.zeros(0, np.int32), *(tokens for tokens, _ in parts)])
    return Found(tokens, offsets_from_sizes(np.concatenate([np.zeros(0, np.int64), *(n for _, n in parts)])))


def _find(
    index: TokenIndex, keys: Int64, coded: Coded, views: NDArray[np.uint8] | None, cover: bool
) -> tuple[Int32, Int64]:
    """Return the tokens of rows, ascending and each once, and the number of tokens of each row."""
    coded = Coded(np.where(coded.codes < index.n_codes, coded.codes, np.int32(-1)), coded.offsets)
    walked = []
    occurrences = _every_item(coded, -1)
    for level in range(index.n_levels):
        if level:
            occurrences = _grow(coded, index.joining, occurrences)
        wanted = occurrences.tokens * index.n_codes + coded.codes[occurrences.places]
        nodes = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        occurrences = occurrences._replace(tokens=nodes).take(keys[nodes] == wanted)
        walked.append(occurrences)
    n_tokens = len(index)
    covered = np.zeros(len(coded.codes), bool)
    found = [np.zeros(0, np.int64)]
    for level in reversed(range(len(walked))):
        occurrences = walked[level]
        view = 0 if views is None else views[occurrences.rows]
        chosen = (index.masks[occurrences.tokens] >> np.asarray(view, np.uint32)) & 1 == 1
        if cover:
            places = _places(walked, level)
            _, same = np.unique(occurrences.rows * n_tokens + occurrences.tokens, return_inverse=True)
            uncovered = np.bincount(same, ~covered[places].all(axis=1))
            chosen &= uncovered[same] > 0
            covered[places[chosen]] = True
        found.append((occurrences.rows * n_tokens + occurrences.tokens)[chosen])
    unique = np.unique(np.concatenate(found))
    return (unique % n_tokens).astype(np.int32), np.bincount(unique // n_tokens, minlength=coded.n_rows)


def _places(walked: list[_Occurrences], level: int) -> Int64:
    """Return the places of all items of the occurrences of one size, (n, size)."""
    which = np.arange(len(walked[level].tokens))
    columns = []
    for occurrences in reversed(walked[: level + 1]):
        columns.append(occurrences.places[which])
        which = occurrences.before[which]
    return np.stack(columns, axis=1)
