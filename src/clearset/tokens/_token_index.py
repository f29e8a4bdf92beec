"""A prefix tree of tokens, which finds the tokens of examples."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearset.sets import offsets_from_sizes
from clearset.tokens import _reference
from clearset.tokens._codes import MAX_TOKENS, Coded, Found, Int32, Int64, Joining, TokenLimitError

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


class TokenIndex:
    """Finds the tokens of a table in examples, by walking only branches that exist.

    `items` and `parents` are the last item and the parent of each node of the prefix tree, sorted as in `Mined`, and
    `levels` says where the nodes of each size begin. Bit b of `masks` says that the node is a token of view b.

    Examples
    --------
    >>> tokens = Coded.from_rows([[0], [1], [0, 1], [2]])
    >>> index, nodes = TokenIndex.from_tokens(Joining("subsets", 2), tokens, np.ones(4, np.uint32))
    >>> nodes.tolist()
    [0, 1, 3, 2]
    >>> index.find(Coded.from_rows([[0, 1, 2]])).tokens.tolist()
    [2, 3]
    >>> index.find(Coded.from_rows([[0, 1, 2]]), cover=False).tokens.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self, joining: Joining, items: Int32, parents: Int32, levels: Int64, masks: NDArray[np.uint32]
    ) -> None:
        self.joining = joining
        self.items = np.ascontiguousarray(items, np.int32)
        self.parents = np.ascontiguousarray(parents, np.int32)
        self.levels = np.ascontiguousarray(levels, np.int64)
        self.masks = np.ascontiguousarray(masks, np.uint32)
        self._check()
        # Parents ascend from the second level on, so that the children of a node stand together.
        n, roots = len(self.items), int(self.levels[min(1, self.n_levels)])
        children = roots + np.searchsorted(self.parents[roots:], np.arange(n + 1))
        self.child_offsets = children.astype(np.int32)
        self.first = np.full(int(self.items[:roots].max(initial=-1)) + 1, -1, np.int32)
        self.first[self.items[:roots]] = np.arange(roots)
        self.n_codes = int(self.items.max(initial=-1)) + 1

    def _check(self) -> None:
        """See that the arrays are a prefix tree, for walking trusts them."""
        items, parents, levels = self.items, self.parents, self.levels
        fits = len(items) == len(parents) == len(self.masks) and len(levels) > 0
        fits = fits and levels[0] == 0 and levels[-1] == len(items) and bool((np.diff(levels) > 0).all())
        if fits and len(items):
            starts, ends = levels[:-1], levels[1:] - 1
            rising = (np.diff(parents) > 0) | ((np.diff(parents) == 0) & (np.diff(items) > 0))
            fits = parents[0] == parents[ends[0]] == -1 and items.min() >= 0 and bool(rising.all())
            # As parents rise, the first and the last of a size tell whether all are of the size before.
            fits = fits and bool((parents[starts[1:]] >= starts[:-1]).all() and (parents[ends[1:]] <= ends[:-1]).all())
        if not fits:
            raise ValueError(
                f"items, parents, levels and masks ({len(items)}, {len(parents)}, {len(levels)} and {len(self.masks)} "
                "entries) are no prefix tree sorted by (size, parent, item). Take them from mine() or from_tokens()."
            )

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"TokenIndex({self.joining}, {np.count_nonzero(self.masks):,} tokens, {len(self):,} nodes)"

    @property
    def n_levels(self) -> int:
        """The size of the largest tokens."""
        return len(self.levels) - 1

    @cached_property
    def token_nodes(self) -> Int32:
        """The nodes that are tokens: those of view 0 first, then those of other views only."""
        full = (self.masks & 1).astype(np.bool_)
        other = ~full & (self.masks != 0)
        return np.concatenate([np.flatnonzero(full), np.flatnonzero(other)]).astype(np.int32)

    @classmethod
    def from_tokens(cls, joining: Joining, tokens: Coded, masks: NDArray[np.uint32]) -> tuple[TokenIndex, Int32]:
        """Build the prefix tree of tokens, whose items ascend except in n-grams; return it and each token's node."""
        # Views of a token given twice are joined. Prefixes that were missing have the mask 0.
        sizes = tokens.sizes
        if len(sizes) and sizes.min() == 0:
            raise ValueError(f"Token {int(sizes.argmin())} has no items; a token has at least one.")
        within = np.diff(tokens.rows) == 0
        if joining.kind != "ngrams" and (np.diff(tokens.codes)[within] <= 0).any():
            raise ValueError(f"The items of a token must ascend for {joining.kind}. Sort them, and drop repeats.")
        n_codes = int(tokens.codes.max(initial=0)) + 1
        nodes = np.full(tokens.n_rows, -1, np.int64)
        keys, starts = [np.zeros(0, np.int64)], [0]
        longer = np.arange(tokens.n_rows)
        for level in range(int(sizes.max(initial=0))):
            longer = longer[sizes[longer] > level]
            new, which = np.unique(
                nodes[longer] * n_codes + tokens.codes[tokens.offsets[longer] + level], return_inverse=True
            )
            nodes[longer] = starts[-1] + which
            keys.append(new)
            starts.append(starts[-1] + len(new))
        if starts[-1] > MAX_TOKENS:
            raise TokenLimitError(f"{starts[-1]:,} tokens and their prefixes are more than {MAX_TOKENS:,}.")
        parents, items = np.divmod(np.concatenate(keys), n_codes)
        joined = np.zeros(starts[-1], np.uint32)
        np.bitwise_or.at(joined, nodes, np.asarray(masks, np.uint32))
        levels = np.array(starts, np.int64)
        index = cls(joining, items.astype(np.int32), parents.astype(np.int32), levels, joined)
        return index, nodes.astype(np.int32)

    def restrict(self, masks: NDArray[np.uint32]) -> tuple[TokenIndex, Int64]:
        """Return the tree with other views, without the nodes that neither are a token nor lead to one."""
        # Second comes the number that each node of the smaller tree has in this one.
        keep = np.asarray(masks) != 0
        for start, end in zip(self.levels[-2:0:-1], self.levels[:1:-1], strict=True):
            keep[self.parents[start:end][keep[start:end]]] = True
        kept = np.flatnonzero(keep)
        numbers = np.append(np.cumsum(keep) - 1, -1)  # the parent -1 stays -1
        levels = np.unique(np.searchsorted(kept, self.levels))
        parents = numbers[self.parents[kept]]
        return TokenIndex(self.joining, self.items[kept], parents, levels, np.asarray(masks)[kept]), kept

    def items_of(self, tokens: Int32) -> Coded:
        """Return the items of nodes, in order."""
        sizes = np.searchsorted(self.levels, tokens, side="right")
        offsets = offsets_from_sizes(sizes)
        codes = np.empty(offsets[-1], np.int32)
        nodes, ends = np.asarray(tokens, np.int64), offsets[1:] - 1
        while len(nodes):
            codes[ends] = self.items[nodes]
            more = self.parents[nodes] >= 0
            nodes, ends = self.parents[nodes[more]].astype(np.int64), ends[more] - 1
        return Coded(codes, offsets)

    def find(
        self,
        coded: Coded,
        views: NDArray[np.uint8] | None = None,
        *,
        cover: bool = True,
        threads: int = 1,
        most: int = MAX_TOKENS,
    ) -> Found:
        """Find the nodes of each example's tokens, ascending: by size, then in lexicographic order."""
        # Items are unique and ascending, except in n-grams; codes that the tree does not know, and negative ones, are
        # in no token. A cover keeps, from the largest size down, the tokens with an item that no kept larger token
        # contains; in n-grams it is the places of the items that are covered. The parameters are those of
        # `TokenTable.find`.
        coded.check()
        if views is not None and views.shape != (coded.n_rows,):
            raise ValueError(f"views has shape {views.shape}; give one for each of the {coded.n_rows} examples.")
        if not len(self):
            return Found(np.zeros(0, np.int32), np.zeros(coded.n_rows + 1, np.int64))
        if _native is None:
            found = _reference.find(self, coded, views, cover, most)
        else:
            found = _native.find_tokens(
                np.ascontiguousarray(coded.codes, np.int32),
                np.ascontiguousarray(coded.offsets, np.int64),
                None if views is None else np.ascontiguousarray(views, np.uint8),
                self.items,
                self.child_offsets,
                self.masks,
                self.first,
                self.n_codes,
                self.joining.kind == "ngrams",
                cover,
                most,
                threads,
            )
        if found is None:
            raise TokenLimitError(
                f"The examples have more than {most:,} tokens together. Find them in parts, or make the table "
                "smaller (a higher MinCount, a stricter MaxInterval)."
            )
        return Found(*found)
