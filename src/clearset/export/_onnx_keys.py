"""Pairs of a set and a number as one integer, in ONNX: sorted, each once, and compared."""

from __future__ import annotations

import numpy as np

from clearset.export._onnx_graph import Value


def in_sets(keys: Value, n: Value | int) -> tuple[Value, Value]:
    """Take keys ``set * n + number`` apart."""
    return keys // n, keys % n


def risen(keys: Value) -> Value:
    """Return keys in ascending order, each once."""
    ordered, _ = _ordered(keys)
    return ordered.kept(_is_new(ordered))


def grouped(keys: Value) -> tuple[Value, Value]:
    """Return a number for each key, the same for equal ones, and how many there are, ``(1,)``."""
    ordered, places = _ordered(keys)
    groups = _is_new(ordered).cast(np.int64).running_total() - 1
    back = keys.graph.constant(0).expanded(keys.shape())
    return back.apply("ScatterElements", places, groups, axis=0), _is_new(ordered).cast(np.int64).total(0, keep=True)


def without(keys: Value, others: Value) -> Value:
    """Return ascending keys that are not among others, each once."""
    # Doubled, a key and the same one of the others are neighbours.
    both = risen((keys * 2).joined(others * 2 + 1))
    following = both.slice(1, 2**62).joined(np.array([-1]))
    alone = (both % 2).equals(0) & ~following.equals(both + 1)
    return both.kept(alone) // 2


def _ordered(keys: Value) -> tuple[Value, Value]:
    values, places = keys.graph.add_several("TopK", 2, keys, keys.shape(), axis=0, largest=0, sorted=1)
    return values, places


def _is_new(ordered: Value) -> Value:
    """Return which of ordered keys, none negative, differ from those before."""
    before = ordered.graph.constant(np.array([-1])).joined(ordered.slice(0, -1))
    # Of no keys, there is none before the first.
    return ~ordered.equals(before.gather(ordered.shape().numbers()))
