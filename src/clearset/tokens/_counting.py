"""From examples to tokens: mining, statistics, filters, and the index of what is left."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.tokens._coded import Int32, Mined
from clearset.tokens._examples import Examples
from clearset.tokens._filters import Filter, apply_filters, least_count
from clearset.tokens._index import TokenIndex
from clearset.tokens._labels import Labels
from clearset.tokens._mining import mine
from clearset.tokens._own import OwnTokeniser
from clearset.tokens._statistics import Statistics
from clearset.tokens._tokenisers import Tokeniser


@dataclass(frozen=True)
class Counted:
    """Tokens that passed, and what is known about them.

    `nodes` are the index's nodes of the tokens; those that pass on all examples come first.
    """

    vocabulary: pa.LargeStringArray
    index: TokenIndex
    nodes: Int32
    statistics: Statistics
    out_of_fold: tuple[Statistics, ...]


def available_threads(threads: int | None) -> int:
    """Return the number of threads asked for; by default of the cores this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise ValueError(f"threads is {threads}; give 1 or more, or None for all cores.")
    return threads


def count_tokens(
    examples: Examples,
    tokeniser: Tokeniser,
    filters: tuple[Filter, ...],
    threads: int,
    folds: Int32 | None = None,
    n_folds: int = 0,
) -> Counted:
    """Count the tokens of canonical examples and keep what passes the filters.

    With folds, a token is kept as well if it passes on the examples outside of some fold: were those tokens left
    out, the examples of that fold would have had a say in what is known without them.
    """
    task = examples.labels.task
    least = max([1, *(least_count(part, task) for part in filters)])
    held_out = np.zeros(0) if folds is None else np.bincount(folds, minlength=n_folds)
    # Outside a fold fewer examples do, for counts are then brought to the size of all.
    shares = 1 - held_out / len(examples)
    factors = [1 / share if share > 0 else 0.0 for share in shares]
    mined, everything, outside = _mine(
        examples,
        tokeniser,
        max(1, int(np.ceil(least * shares.min(initial=1.0) - 1e-9))),
        threads,
        folds,
        n_folds,
    )
    everything = _filtered(everything, filters)
    outside = tuple(
        _filtered(part.scaled(factor), filters) for part, factor in zip(outside, factors, strict=True)
    )
    masks = np.zeros(len(mined.items), np.uint32)
    for bit, statistics in enumerate((everything, *outside)):
        masks |= statistics.passes.astype(np.uint32) << np.uint32(bit)
    index, kept = TokenIndex(
        tokeniser.joining(examples.vocabulary), mined.items, mined.parents, mined.levels, masks
    ).restrict(masks)
    vocabulary, index = _tight(examples.vocabulary, index, tokeniser)
    nodes = token_nodes(index)
    chosen = kept[nodes]
    n_tokens = int(np.count_nonzero(index.masks & 1))
    return Counted(
        vocabulary,
        index,
        nodes,
        everything.take(chosen[:n_tokens]),
        tuple(part.take(chosen) for part in outside),
    )


def token_nodes(index: TokenIndex) -> Int32:
    """Return the nodes that are tokens: those of view 0 first, then those of other views only."""
    full = (index.masks & 1).astype(np.bool_)
    other = ~full & (index.masks != 0)
    return np.concatenate([np.flatnonzero(full), np.flatnonzero(other)]).astype(np.int32)


def full_classes(labels: Labels) -> tuple[npt.NDArray[np.generic], Int32]:
    """Return the classes of a table and the labels' codes; where 0 or 1 stands alone, the other is meant as well."""
    classes, codes = labels.classes, labels.values
    assert classes is not None  # noqa: S101
    if len(classes) == 1 and classes.dtype.kind != "U" and classes[0] in (0, 1):
        return np.array([0, 1]).astype(classes.dtype), codes + np.int32(classes[0])
    return classes, codes


def prior_of(examples: Examples) -> tuple[npt.NDArray[np.generic] | None, npt.NDArray[np.float64] | float]:
    """Return the classes and their shares, or None and the mean label."""
    if examples.labels.classes is None:
        return None, float(np.average(examples.labels.values, weights=examples.weights))
    classes, codes = full_classes(examples.labels)
    shares = np.bincount(codes, weights=examples.weights, minlength=len(classes))
    return classes, shares / shares.sum()


def _filtered(statistics: Statistics, filters: tuple[Filter, ...]) -> Statistics:
    passes = apply_filters(filters, statistics)
    statistics.passes[:] = passes
    return statistics


def _mine(
    examples: Examples,
    tokeniser: Tokeniser,
    min_count: int,
    threads: int,
    folds: Int32 | None,
    n_folds: int,
) -> tuple[Mined, Statistics, tuple[Statistics, ...]]:
    """Mine once, with a channel for each class and fold, and make the statistics of all and of each fold's rest."""
    classes, prior = prior_of(examples)
    joining = tokeniser.joining(examples.vocabulary)
    values, codes, n_classes = None, np.zeros(len(examples), np.int32), 1
    if classes is None:
        values = examples.labels.values - prior
    else:
        codes, n_classes = full_classes(examples.labels)[1], len(classes)
    n_parts = max(n_folds, 1)
    channels = codes if folds is None else (folds * n_classes + codes).astype(np.int32)
    weights = examples.weights
    mined = mine(
        examples.coded,
        joining,
        channels,
        n_parts * n_classes,
        weights=weights,
        values=values,
        min_count=min_count,
        threads=threads,
    )
    sizes = _sizes(mined, examples.vocabulary, tokeniser)

    def statistics(counts: npt.NDArray[np.int64], sums: npt.NDArray[Any]) -> Statistics:
        if classes is None:
            return Statistics.of_numbers(counts, sums, float(prior), sizes)
        return Statistics.of_classes(counts, sums, sizes)

    shape = (len(mined.items), n_parts, 3 if classes is None else n_classes)
    sums = mined.sums.reshape(shape)
    if folds is None:
        return mined, statistics(mined.counts, sums[:, 0]), ()
    counts = sums[:, :, 0] if classes is None else sums.sum(axis=2)
    total = sums.sum(axis=1)
    if weights is not None or values is not None:
        # Sums of sums have other last bits than sums at once, and the table is to be the same with and without folds.
        exact = mine(
            examples.coded,
            joining,
            codes,
            n_classes,
            weights=weights,
            values=values,
            min_count=min_count,
            threads=threads,
        )
        total = exact.sums.reshape(len(mined.items), -1)
    if weights is not None:
        counts = mine(examples.coded, joining, folds, n_folds, min_count=min_count, threads=threads).sums
    counts = counts.astype(np.int64)
    everything = statistics(mined.counts, total)
    # Added up over the other folds, not taken off the total: differences of numbers would lose digits.
    outside = tuple(
        statistics(np.delete(counts, fold, axis=1).sum(axis=1), np.delete(sums, fold, axis=1).sum(axis=1))
        for fold in range(n_folds)
    )
    return mined, everything, outside


def _sizes(mined: Mined, vocabulary: pa.LargeStringArray, tokeniser: Tokeniser) -> Int32:
    if isinstance(tokeniser, OwnTokeniser):
        return tokeniser.parts_of(vocabulary).sizes[mined.items].astype(np.int32)
    return np.repeat(np.arange(1, len(mined.levels), dtype=np.int32), np.diff(mined.levels))


def _tight(
    vocabulary: pa.LargeStringArray, index: TokenIndex, tokeniser: Tokeniser
) -> tuple[pa.LargeStringArray, TokenIndex]:
    """Leave out items that are in no token; the order of the others stays."""
    used, items = np.unique(index.items, return_inverse=True)
    vocabulary = vocabulary.take(pa.array(used))
    joining = tokeniser.joining(vocabulary)
    return vocabulary, TokenIndex(joining, items.astype(np.int32), index.parents, index.levels, index.masks)
