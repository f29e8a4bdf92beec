"""Tokens of several kinds: counted kind by kind, and put together to one tree."""

from collections.abc import Callable, Sequence

import numpy as np

from clearset.sets import offsets_from_sizes
from clearset.tokens._codes import Mined, Run


def mine_runs(runs: Sequence[Run], leasts: Sequence[int], mine: Callable[[Run, int], Mined]) -> Mined:
    """Return the tokens of all runs, each of which is mined with its least count; codes are those of all runs."""
    trees = [mine(run, least) for run, least in zip(runs, leasts, strict=True)]
    return trees[0] if len(trees) == 1 else put_together(runs, trees)


def put_together(runs: Sequence[Run], trees: Sequence[Mined]) -> Mined:
    """Return the tree of several, whose codes are counted from the first of their runs.

    As the codes rise from run to run, the nodes of each size are those of one tree after those of another.
    """
    n_levels = max(len(tree.levels) for tree in trees) - 1
    sizes = np.zeros((n_levels, len(trees)), np.int64)
    for number, tree in enumerate(trees):
        sizes[: len(tree.levels) - 1, number] = np.diff(tree.levels)
    starts = offsets_from_sizes(sizes.ravel())
    items, parents, places = [], [], []
    for level in range(n_levels):
        for number, (run, tree) in enumerate(zip(runs, trees, strict=True)):
            if level >= len(tree.levels) - 1:
                continue
            nodes = slice(int(tree.levels[level]), int(tree.levels[level + 1]))
            shift = int(starts[(level - 1) * len(trees) + number] - tree.levels[level - 1]) if level else 0
            items.append(tree.items[nodes] + np.int32(run.first))
            parents.append(tree.parents[nodes] + np.int32(shift))
            places.append((number, nodes))
    none = np.zeros(0, np.int32)
    return Mined(
        np.concatenate([none, *items]),
        np.concatenate([none, *parents]),
        starts[:: len(trees)],
        np.concatenate([trees[0].counts[:0], *(trees[number].counts[nodes] for number, nodes in places)]),
        np.concatenate([trees[0].sums[:0], *(trees[number].sums[nodes] for number, nodes in places)]),
    )
