"""Which tokens sets of strings have, in ONNX: a walk through the token table's prefix tree, a size at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearset.export._onnx_graph import Value
from clearset.export._onnx_keys import grouped, in_sets, risen
from clearset.export._onnx_ragged import count_by, repeated
from clearset.export._onnx_strings import Items
from clearset.tokens import TokenTable


class Tokens(NamedTuple):
    """Tokens of B sets, set after set, those of a set ascending."""

    tokens: Value  # (T,): their numbers in the table
    counts: Value  # (B,): how many each set has


class _Steps(NamedTuple):
    """Nodes of one size that sets reach, a row for each time."""

    nodes: Value  # (n,)
    places: Value  # (n, size): where their items stand among all items

    @property
    def last(self) -> Value:
        """``(n,)``: the place of the last item."""
        return self.places.gather(-1, 1)

    def keep(self, condition: Value) -> _Steps:
        """Return some of the rows."""
        return _Steps(self.nodes.kept(condition), self.places.kept(condition))


def find_tokens(items: Items, table: TokenTable, cover: bool) -> Tokens:
    """Return the tokens of sets; `cover` leaves out those whose items larger ones cover."""
    return _Search(items, table).tokens(cover)


class _Search:
    """A walk through the tree, which `clearset.tokens.TokenIndex` describes."""

    def __init__(self, items: Items, table: TokenTable) -> None:
        self._items, self._table, self._index = items, table, table.index
        self._graph = items.codes.graph
        self._n_codes = max(len(table.vocabulary), 1)

    def tokens(self, cover: bool) -> Tokens:
        """Return the tokens of sets."""
        items, n_tokens = self._items, max(len(self._table), 1)
        steps = self._steps()
        kept = self._covering(steps) if cover else [each.keep(self._chosen(each)) for each in steps]
        keys = self._graph.constant(np.zeros(0, np.int64))
        if kept:
            numbers = self._graph.constant(self._table.tokens_at.astype(np.int64))
            parts = [self._set_of(each) * n_tokens + numbers.gather(each.nodes) for each in kept]
            # N-grams may occur several times.
            keys = risen(parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0])
        sets, tokens = in_sets(keys, n_tokens)
        return Tokens(tokens, count_by(sets, items.n_sets))

    def _steps(self) -> list[_Steps]:
        """Return the nodes that sets reach, by size."""
        index, items = self._index, self._items
        if not len(index):
            return []
        first = np.full(self._n_codes + 1, -1, np.int64)  # the last one stands for unknown items, whose code is -1
        first[: len(index.first)] = index.first
        nodes, places = self._graph.constant(first).gather(items.codes), items.codes.shape().numbers().axes_added(1)
        steps = [_Steps(nodes, places).keep(nodes >= 0)]
        grow = self._longer_runs if self._in_order else self._larger_subsets
        for size in range(1, index.n_levels):
            steps.append(grow(steps[-1], size))
        return steps

    @property
    def _in_order(self) -> bool:
        return self._index.joining.kind == "ngrams"

    def _children(self, size: int, parents: Value, codes: Value) -> Value:
        """Return the node that each parent of a size leads to with an item, -1 for none."""
        index, level = self._index, slice(*self._index.levels[size : size + 2])
        keys = index.parents[level].astype(np.int64) * self._n_codes + index.items[level]
        numbers = range(level.start, level.stop)
        # No key is -1, but that of an unknown item could be any.
        return (codes >= 0).where(parents * self._n_codes + codes, -1).looked_up(keys.tolist(), numbers)

    def _longer_runs(self, steps: _Steps, size: int) -> _Steps:
        """Add the next item to each step."""
        items, after = self._items, steps.last + 1
        codes, sets = (each.joined(np.array([-1])) for each in (items.codes, items.sets))
        same = sets.gather(after).equals(sets.gather(steps.last))
        nodes = self._children(size, steps.nodes, same.where(codes.gather(after), -1))
        return _Steps(nodes, steps.places.joined(after.axes_added(1), axis=1)).keep(nodes >= 0)

    def _larger_subsets(self, steps: _Steps, size: int) -> _Steps:
        """Add each later item of the set to each step."""
        items, child_offsets = self._items, self._index.child_offsets
        ends = count_by(items.sets, items.n_sets).running_total()
        parents = self._graph.constant(np.diff(child_offsets) > 0).gather(steps.nodes)
        steps = steps.keep(parents & (ends.gather(self._set_of(steps)) - steps.last > 1))
        rows, starts = repeated(ends.gather(self._set_of(steps)) - steps.last - 1)
        after = steps.last.gather(rows) + 1 + (rows.shape().numbers() - starts.gather(rows))
        nodes = self._children(size, steps.nodes.gather(rows), items.codes.gather(after))
        found = nodes >= 0
        # Most items lead nowhere, so that their places need not be put together.
        places = steps.places.gather(rows.kept(found)).joined(after.kept(found).axes_added(1), axis=1)
        return _Steps(nodes.kept(found), places)

    def _set_of(self, steps: _Steps) -> Value:
        return self._items.sets.gather(steps.last)

    def _chosen(self, steps: _Steps) -> Value:
        """Return which nodes are tokens, and do not only lead to some."""
        return self._graph.constant((self._index.masks & 1).astype(bool)).gather(steps.nodes)

    def _covering(self, steps: list[_Steps]) -> list[_Steps]:
        """Keep, from the largest size down, tokens with an item that no larger token kept has."""
        kept: list[_Steps] = []
        covered = self._graph.constant(0).expanded(self._items.codes.shape())
        for each in reversed(steps):
            wanted = self._chosen(each) & (covered.gather(each.places).equals(0).cast(np.int64).total(1) > 0)
            if self._in_order:
                # Where one run is kept, so are all that are alike in the set.
                group, n_groups = grouped(self._set_of(each) * len(self._index) + each.nodes)
                counts = self._graph.constant(0).expanded(n_groups)
                found = counts.apply("ScatterElements", group, wanted.cast(np.int64), axis=0, reduction="add")
                wanted = found.gather(group) > 0
            kept.append(each.keep(wanted))
            places = kept[-1].places.apply("Reshape", np.array([-1]))
            ones = self._graph.constant(1).expanded(places.shape())
            covered = covered.apply("ScatterElements", places, ones, axis=0, reduction="add")
        return kept
