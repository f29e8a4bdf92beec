"""Which examples validate, and which fold each of the others is in."""

from typing import Any

import numpy as np
import numpy.typing as npt

# A validation set of fewer sets says more about chance than about the model.
SMALLEST_VALIDATION = 50
# Rows that a choice between settings should rest on, at least.
USUAL_VALIDATION = 1000
# Numbers are balanced between folds of groups by so many ranges of ranks.
RANKS = 10

IntArray = npt.NDArray[np.int64]


def deal(
    labels: npt.NDArray[Any], groups: npt.NDArray[Any] | None, n_folds: int, rng: np.random.Generator, *, classes: bool
) -> IntArray:
    """Deal examples to folds at random, of every class (or of numbers of every rank) alike; groups share a fold.

    Were the labels of a fold high by chance, those of all others would be low, and what is learned from the others
    would tell.
    """
    n = len(labels)
    order = rng.permutation(n)
    order = order[np.argsort(labels[order], kind="stable")]
    if groups is not None:
        return _deal_groups(labels if classes else np.argsort(order) * RANKS // n, groups, n_folds, rng)
    if not classes:
        # Neighbours in rank go one to each fold, which one at random: were it always the same, means would differ.
        order = order[np.lexsort([rng.random(n), np.arange(n) // n_folds])]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds


def _deal_groups(
    strata: npt.NDArray[Any], groups: npt.NDArray[Any], n_folds: int, rng: np.random.Generator
) -> IntArray:
    """Deal whole groups, the largest first, each to the fold that has least of what the group has."""
    _, codes, totals = np.unique(strata, return_inverse=True, return_counts=True)
    _, members, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    # With x the share of a stratum that a fold has, the sum of all x² grows by 2 x g + g² for a group with the share g.
    # All examples are one stratum more, so that folds have the same size as well.
    shares = np.zeros((n_folds, len(totals)))
    n_examples = np.zeros(n_folds)
    rows = np.split(np.argsort(members, kind="stable"), np.cumsum(sizes)[:-1])
    order = rng.permutation(len(sizes))
    folds = np.empty(len(groups), dtype=np.int64)
    for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
        mine = codes[rows[group]]
        fold = np.argmin(shares[:, mine] @ (1 / totals[mine]) + n_examples * (sizes[group] / len(groups) ** 2))
        np.add.at(shares[fold], mine, 1 / totals[mine])
        n_examples[fold] += sizes[group]
        folds[rows[group]] = fold
    return folds


def hold_out(
    labels: npt.NDArray[np.float64],
    groups: npt.NDArray[Any] | None,
    fraction: float | None,
    rng: np.random.Generator,
    *,
    stratify: bool,
) -> tuple[IntArray, IntArray]:
    """Choose rows for validation at random, of every class alike, or whole groups; of too few rows none.

    Without a fraction it is a tenth, and more of few rows: `USUAL_VALIDATION` of them, but at most a quarter.
    """
    n = len(labels)
    usual = max(round(0.1 * n), min(USUAL_VALIDATION, n // 4))
    size = usual if fraction is None else min(round(fraction * n), n - 1)
    everything = np.arange(n)
    if size < SMALLEST_VALIDATION:
        return everything, everything[:0]
    if groups is not None:
        _, members, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        order = rng.permutation(len(sizes))
        middles = np.cumsum(sizes[order]) - sizes[order] / 2
        held = np.isin(members, order[middles < max(size, middles[0] + 1)])
    else:
        order = rng.permutation(n)
        if stratify:
            order = order[np.argsort(labels[order], kind="stable")]
        held = np.zeros(n, dtype=bool)
        held[order[np.arange(size) * n // size]] = True
    if held.all() or not held.any():
        return everything, everything[:0]
    return np.flatnonzero(~held), np.flatnonzero(held)
