"""Counting tokens size by size: those of one more item, in examples that need not be all there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearset.sets import offsets_from_sizes
from clearset.tokens._codes import Coded, Int32, Int64, Joining
from clearset.tokens._mining import mine_parts
from clearset.tokens._token_index import TokenIndex

_MOST_PAIRS = 1 << 23  # of neighbours or siblings that are looked at together


class FrequentTokens(NamedTuple):
    """The tokens found so far, as a prefix tree; see `Mined`. Those of one item are all codes, in order."""

    joining: Joining
    items: Int32
    parents: Int32
    levels: Int64

    @classmethod
    def of_items(cls, joining: Joining, n_codes: int) -> FrequentTokens:
        """Begin with every item."""
        items = np.arange(n_codes, dtype=np.int32)
        return cls(joining, items, np.full(n_codes, -1, np.int32), np.unique([0, n_codes]))

    @property
    def n_codes(self) -> int:
        """The number of items."""
        return int(self.levels[1]) if len(self.levels) > 1 else 0

    @property
    def last(self) -> slice:
        """The tokens of the largest size."""
        return slice(int(self.levels[-2]), int(self.levels[-1]))

    def can_grow(self) -> bool:
        """Return whether there may be larger tokens."""
        return 1 < len(self.levels) <= self.joining.max_items

    def grown(self, keys: Int64) -> FrequentTokens:
        """Return the tree with further tokens, by their keys, which ascend."""
        if not len(keys):
            return self
        parents, items = np.divmod(keys, self.n_codes)
        return self._replace(
            items=np.concatenate([self.items, items.astype(np.int32)]),
            parents=np.concatenate([self.parents, parents.astype(np.int32)]),
            levels=np.append(self.levels, self.levels[-1] + len(keys)),
        )

    def finder(self, last_only: bool = False) -> TokenIndex:
        """Return what finds these tokens, or only the largest ones, in examples."""
        masks = np.ones(len(self.items), np.uint32)
        if last_only:
            masks[: self.last.start] = 0
        return TokenIndex(self.joining, self.items, self.parents, self.levels, masks)


class Candidates:
    """Counts the tokens of one more item than the largest ones known.

    Only tokens are counted that consist of two known ones: of the two subsets that share all items but the last, or of
    the two n-grams that begin at neighbouring places. A token's key is the number of the token without its last item,
    times the number of items, plus the last item.

    Examples
    --------
    >>> tokens = FrequentTokens.of_items(Joining("subsets", None), 3)
    >>> examples = Coded.from_rows([[0, 1, 2], [0, 1]])
    >>> keys, counts = next(Candidates(tokens).count(examples))
    >>> keys.tolist(), counts.tolist()
    ([1, 2, 5], [2, 1, 1])
    """

    def __init__(self, tokens: FrequentTokens) -> None:
        self._tokens = tokens
        self._n_codes, self._items = tokens.n_codes, tokens.items
        self._pairs = Joining(tokens.joining.kind, 2, tokens.joining.boundary)
        grows = len(tokens.levels) > 2
        in_order = tokens.joining.kind == "ngrams"
        self._index = tokens.finder(last_only=True) if grows and not in_order else None
        self._keys = tokens.parents.astype(np.int64) * self._n_codes + tokens.items if grows and in_order else None

    def count(self, coded: Coded) -> Iterator[tuple[Int64, Int64]]:
        """Yield keys, ascending, and in how many examples each token is; a key may come again."""
        rows = self._rows(coded)
        in_order = self._pairs.kind == "ngrams"
        n_pairs = rows.sizes if in_order else rows.sizes * (rows.sizes - 1) // 2
        for start, stop in _pieces(n_pairs):
            keys, counts = self._count_pairs(rows.take(np.arange(start, stop)))
            if len(keys):
                yield keys, counts

    def _rows(self, coded: Coded) -> Coded:
        """Return rows of the largest known tokens, by number, any two of which may make a larger one."""
        if self._index is not None:
            found = self._index.find(coded, cover=False)
            # Of each example those with one parent stand together: they differ in the last item only.
            parents = self._tokens.parents[found.tokens].astype(np.int64)
            rows = np.repeat(np.arange(coded.n_rows), np.diff(found.offsets))
            begins = np.flatnonzero((np.diff(parents, prepend=-1) != 0) | (np.diff(rows, prepend=-1) != 0))
            return Coded(found.tokens, np.append(begins, len(found.tokens)))
        return coded if self._keys is None else Coded(self._ngrams(coded, self._keys), coded.offsets)

    def _ngrams(self, coded: Coded, keys: Int64) -> Int32:
        """Return the largest known n-gram that begins at each place, -1 where there is none."""
        nodes = coded.codes.astype(np.int64)
        ends = coded.offsets[1:][coded.rows]
        levels = self._tokens.levels
        for size in range(2, len(levels)):
            places = np.arange(len(nodes)) + size - 1
            inside = (places < ends) & (nodes >= 0)
            last = np.where(inside, coded.codes[np.minimum(places, len(nodes) - 1)], -1)
            wanted = np.where(last >= 0, nodes * self._n_codes + last, -1)
            found = levels[size - 1] + np.searchsorted(keys[levels[size - 1] : levels[size]], wanted)
            known = keys[np.minimum(found, levels[size] - 1)] == wanted
            nodes = np.where(known & (wanted >= 0), found, -1)
        return nodes.astype(np.int32)

    def _count_pairs(self, rows: Coded) -> tuple[Int64, Int64]:
        # -1 becomes the first code, so that what is not known still parts its neighbours.
        numbers, codes = np.unique(np.append(-1, rows.codes), return_inverse=True)
        if self._pairs.kind == "crosses":  # the boundary is a code of the vocabulary
            numbers, codes = np.arange(-1, self._n_codes), np.append(0, rows.codes + 1)
        joining = Joining(self._pairs.kind, 2, self._pairs.boundary + 1)
        numbered = Coded(codes[1:].astype(np.int32), rows.offsets)
        mined = mine_parts(numbered, joining, np.zeros(rows.n_rows, np.int32), 1)
        pairs = slice(*mined.levels[1:3]) if len(mined.levels) > 2 else slice(0, 0)
        first, second = numbers[mined.items[mined.parents[pairs]]], numbers[mined.items[pairs]]
        known = (first >= 0) & (second >= 0)
        keys = first[known] * np.int64(self._n_codes) + self._items[second[known]]
        return keys.astype(np.int64), mined.counts[pairs][known]


def _pieces(n_pairs: Int64) -> Iterator[tuple[int, int]]:
    """Cut rows into runs of about `_MOST_PAIRS` pairs."""
    before = offsets_from_sizes(n_pairs)
    bounds = np.searchsorted(before, np.arange(_MOST_PAIRS, before[-1], _MOST_PAIRS))
    edges = np.unique(np.concatenate([[0], bounds, [len(n_pairs)]])).tolist()
    return pairwise(edges)
