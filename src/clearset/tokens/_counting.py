"""From examples to tokens: mining, statistics, filters, and the index of what is left."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Labels, count_threads
from clearset.tokens._codes import Float64, Int32, Int64, Mined, Sums
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel
from clearset.tokens._filters import Filter, apply_filters, least_count_of
from clearset.tokens._mining import mine
from clearset.tokens._own_tokenizers import OwnTokenizer
from clearset.tokens._statistics import Statistics
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Tokenizer


def available_threads(threads: int | None) -> int:
    """Return the number of threads; by default the number of cores that this process may use."""
    if threads is None:
        return count_threads(-1)
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer):
        raise TypeError(f"threads is {threads!r}; give a whole number from 1 on, or None for all cores.")
    if threads < 1:
        raise ValueError(f"threads is {threads}; give 1 or more, or None for all cores.")
    return int(threads)


def count_tokens(
    examples: CountedExamples,
    tokenizer: Tokenizer,
    filters: tuple[Filter, ...],
    threads: int,
    folds: Int32 | None = None,
    n_folds: int = 0,
) -> tuple[pa.LargeStringArray, TokenIndex, Statistics, tuple[Statistics, ...]]:
    """Count the tokens of canonical examples; return vocabulary, index and statistics of what passes the filters."""
    # With folds, a token is also kept if it passes on the examples outside of some fold: if it were left out, the
    # examples of that fold would influence the statistics outside of it, which come last, fold by fold.
    least = least_count_of(filters, examples.labels.task)
    n = len(examples)
    # Outside a fold fewer examples do, for counts are then brought to the size of all.
    outside = np.zeros(0, np.int64) if folds is None else n - np.bincount(folds, minlength=n_folds)
    share = int(outside.min(initial=n)) / n
    min_count = max(1, math.ceil(least * share - 1e-9))
    mined, everything, rest = _mine(examples, tokenizer, min_count, threads, folds, n_folds)
    everything = filtered(everything, filters)
    out_of_fold = [
        filtered(replace(part, scale=(n, max(int(size), 1))), filters) for part, size in zip(rest, outside, strict=True)
    ]
    return kept_tokens(mined, everything, out_of_fold, examples.vocabulary, tokenizer)


def kept_tokens(
    mined: Mined,
    everything: Statistics,
    out_of_fold: Sequence[Statistics],
    vocabulary: pa.LargeStringArray,
    tokenizer: Tokenizer,
) -> tuple[pa.LargeStringArray, TokenIndex, Statistics, tuple[Statistics, ...]]:
    """Return vocabulary, index and statistics of the tokens that pass, in all examples or outside of some fold."""
    masks = np.zeros(len(mined.items), np.uint32)
    for bit, part in enumerate((everything, *out_of_fold)):
        masks |= part.passes.astype(np.uint32) << np.uint32(bit)
    index, kept = TokenIndex(tokenizer.joining(vocabulary), mined.items, mined.parents, mined.levels, masks).restrict(
        masks
    )
    vocabulary, index = without_unused(vocabulary, index, tokenizer)
    chosen = kept[index.token_nodes]
    n_tokens = int(np.count_nonzero(index.masks & 1))
    statistics = everything.take(chosen[:n_tokens])
    return vocabulary, index, statistics, tuple(part.take(chosen) for part in out_of_fold)


def full_classes(labels: Labels) -> tuple[npt.NDArray[np.generic], Int32]:
    """Return the classes of a table and the labels' codes; where 0 or 1 stands alone, the other is meant as well."""
    classes, codes = labels.classes, labels.values
    assert classes is not None  # noqa: S101
    if len(classes) == 1 and classes.dtype.kind != "U" and classes[0] in (0, 1):
        return np.array([0, 1]).astype(classes.dtype), codes + np.int32(classes[0])
    return classes, codes


def prior_of(examples: CountedExamples) -> tuple[npt.NDArray[np.generic] | None, Float64 | float]:
    """Return the classes and their shares, or None and the mean label."""
    classes, codes = (None, None) if examples.labels.classes is None else full_classes(examples.labels)
    contributions = prior_contributions(examples.labels, examples.weights)
    exact = ExactSums.of(Extent.of(contributions))
    n_classes = 1 if classes is None else len(classes)
    return classes, prior_from_sums(exact.join(sums_by_channel(exact.split(contributions), codes, n_classes)), classes)


def prior_contributions(labels: Labels, weights: Float64 | None) -> Float64:
    """Return what each example adds to the prior: its weight, and of a number also the weighted label."""
    weights = np.ones(len(labels.values)) if weights is None else weights
    if labels.classes is not None:
        return weights[:, None]
    return np.stack([weights, weights * labels.values], axis=1)


def prior_from_sums(sums: Float64, classes: npt.NDArray[np.generic] | None) -> Float64 | float:
    """Return the shares of the classes, or the mean label, from sums of `prior_contributions` by class."""
    return float(sums[0, 1] / sums[0, 0]) if classes is None else sums[:, 0] / sums[:, 0].sum()


def filtered(statistics: Statistics, filters: tuple[Filter, ...]) -> Statistics:
    """Return statistics that say which tokens pass the filters."""
    return replace(statistics, passes=apply_filters(filters, statistics))


def _mine(
    examples: CountedExamples, tokenizer: Tokenizer, min_count: int, threads: int, folds: Int32 | None, n_folds: int
) -> tuple[Mined, Statistics, list[Statistics]]:
    """Return the tokens, their statistics, and with folds those outside of each."""
    classes, prior = prior_of(examples)
    codes, values = np.zeros(len(examples), np.int32), None
    if classes is None:
        values = examples.labels.values - prior
    else:
        codes = full_classes(examples.labels)[1]
    n_classes = 1 if classes is None else len(classes)
    options: dict[str, Any] = {"min_count": min_count, "threads": threads}
    labels: dict[str, Any] = {"weights": examples.weights, "values": values, **options}
    counting = partial(mine, examples.coded, tokenizer.joining(examples.vocabulary))
    if folds is None:
        mined = counting(codes, n_classes, **labels)
    else:
        mined = counting(folds * np.int32(n_classes) + codes, n_folds * n_classes, **labels)
    sizes = sizes_of(mined, examples.vocabulary, tokenizer)
    centre = float(prior) if classes is None else None

    def statistics(held: Int64, sums: Sums) -> Statistics:
        return Statistics(held, sums, sizes, held > 0, centre)

    width = 3 if classes is None else n_classes
    sums = mined.sums.reshape(len(mined.items), max(n_folds, 1), width)
    if folds is None:
        return mined, statistics(mined.counts, sums[:, 0]), []
    if examples.weights is None and values is None:
        total = _added(sums, range(n_folds))
        held = np.stack([sums[:, fold].sum(axis=1) for fold in range(n_folds)], axis=1)
        rest = [total - sums[:, fold] for fold in range(n_folds)]
    else:
        # Sums of sums have other last bits than sums at once, and the table is to be the same with and without folds.
        # What is outside a fold is added up, for differences would lose digits.
        total = counting(codes, n_classes, **labels).sums.reshape(len(mined.items), width)
        held = counting(folds, n_folds, **options).sums
        rest = [_added(sums, [f for f in range(n_folds) if f != fold]) for fold in range(n_folds)]
    outside = [mined.counts - held[:, fold].astype(np.int64) for fold in range(n_folds)]
    return mined, statistics(mined.counts, total), list(map(statistics, outside, rest))


def _added(sums: Sums, folds: Iterable[int]) -> Sums:
    first, *others = folds
    total = sums[:, first].copy()
    for fold in others:
        total += sums[:, fold]
    return total


def sizes_of(mined: Mined, vocabulary: pa.LargeStringArray, tokenizer: Tokenizer) -> Int32:
    """Return the number of items of each token."""
    if isinstance(tokenizer, OwnTokenizer):
        return tokenizer.parts_of(vocabulary).sizes[mined.items].astype(np.int32)
    return np.repeat(np.arange(1, len(mined.levels), dtype=np.int32), np.diff(mined.levels))


def without_unused(
    vocabulary: pa.LargeStringArray, index: TokenIndex, tokenizer: Tokenizer
) -> tuple[pa.LargeStringArray, TokenIndex]:
    """Return a vocabulary and an index without the items that are in no token; the order of the others stays."""
    used, items = np.unique(index.items, return_inverse=True)
    vocabulary = vocabulary.take(pa.array(used))
    joining = tokenizer.joining(vocabulary)
    return vocabulary, TokenIndex(joining, items.astype(np.int32), index.parents, index.levels, index.masks)
