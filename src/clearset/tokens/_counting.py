"""From examples to tokens: mining, statistics, filters, and the index of what is left."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Labels, Task, count_threads
from clearset.tokens._codes import Float64, Int32, Int64, Mined, Run, Sums
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel
from clearset.tokens._filters import Filter, apply_filters, least_count_of
from clearset.tokens._mining import contributions_of, mine_parts
from clearset.tokens._own_tokenizers import OwnTokenizer
from clearset.tokens._runs import mine_runs
from clearset.tokens._statistics import Kinds, Statistics
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Tokenizer


class Described(NamedTuple):
    """What tokens are, whatever was counted of them."""

    sizes: Int32  # the number of items of each
    kinds: Kinds | None  # their kinds, where there are several

    @classmethod
    def of(cls, mined: Mined, vocabulary: pa.LargeStringArray, tokenizer: Tokenizer) -> "Described":
        """Return sizes and kinds of the tokens of a tree."""
        if isinstance(tokenizer, OwnTokenizer):
            return cls(tokenizer.parts_of(vocabulary).sizes[mined.items].astype(np.int32), None)
        sizes = np.repeat(np.arange(1, len(mined.levels), dtype=np.int32), np.diff(mined.levels))
        return cls(sizes, Kinds.of(tokenizer, vocabulary, mined.items))


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
    outside = sizes_outside(folds, n_folds, len(examples))
    leasts = least_outside(filters, examples.labels.task, outside, len(examples), tokenizer)
    mined, everything, rest = _mine(examples, tokenizer, leasts, threads, folds, n_folds)
    return kept_tokens(
        mined, *all_filtered(everything, rest, outside, len(examples), filters), examples.vocabulary, tokenizer
    )


def sizes_outside(folds: npt.NDArray[np.integer] | None, n_folds: int, n: int) -> Int64:
    """Return the number of examples outside of each fold; nothing without folds."""
    return np.zeros(0, np.int64) if folds is None else n - np.bincount(folds, minlength=n_folds)


def least_outside(
    filters: tuple[Filter, ...], task: Task, outside: Int64, n: int, tokenizer: Tokenizer
) -> tuple[int, ...]:
    """Return for each kind a count of all tokens that pass the filters among n examples, or outside of some fold."""
    # Outside a fold fewer examples have them, for counts are then brought to the size of all.
    share = int(outside.min(initial=n)) / n
    kinds = tokenizer.kinds or (None,)
    return tuple(max(1, math.ceil(least_count_of(filters, task, kind) * share - 1e-9)) for kind in kinds)


def all_filtered(
    everything: Statistics, rest: Sequence[Statistics], outside: Int64, n: int, filters: tuple[Filter, ...]
) -> tuple[Statistics, list[Statistics]]:
    """Return statistics that say which tokens pass, those outside of folds brought to the size of all n examples."""
    brought = [replace(part, scale=(n, max(int(size), 1))) for part, size in zip(rest, outside, strict=True)]
    return filtered(everything, filters), [filtered(part, filters) for part in brought]


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
    examples: CountedExamples,
    tokenizer: Tokenizer,
    leasts: Sequence[int],
    threads: int,
    folds: Int32 | None,
    n_folds: int,
) -> tuple[Mined, Statistics, list[Statistics]]:
    """Return the tokens, their statistics, and with folds those outside of each."""
    classes, prior = prior_of(examples)
    codes, values = np.zeros(len(examples), np.int32), None
    if classes is None:
        values = examples.labels.values - prior
    else:
        codes = full_classes(examples.labels)[1]
    n_classes = 1 if classes is None else len(classes)
    contributions = contributions_of(examples.weights, values)
    exact = None if contributions is None else ExactSums.of(Extent.of(contributions))
    parts = None
    if exact is not None and contributions is not None:
        parts = counted_parts(exact.split(contributions), n_folds)
    channels = codes if folds is None else folds * np.int32(n_classes) + codes
    n_channels, runs = max(n_folds, 1) * n_classes, tokenizer.runs(examples.vocabulary)

    def mine(run: Run, least: int) -> Mined:
        coded = examples.coded if len(runs) == 1 else run.of(examples.coded)
        return mine_parts(coded, run.joining, channels, n_channels, parts, min_count=least, threads=threads)

    mined = mine_runs(runs, leasts, mine)
    described = Described.of(mined, examples.vocabulary, tokenizer)
    centre = float(prior) if classes is None else None
    return mined, *statistics_of(mined, described, exact, n_classes, n_folds, centre)


def counted_parts(parts: Float64, n_folds: int) -> Float64:
    """Return what examples add to sums, with folds also a one, which counts them."""
    return np.hstack([parts, np.ones((len(parts), 1))]) if n_folds else parts


def statistics_of(
    mined: Mined, described: Described, exact: ExactSums | None, n_classes: int, n_folds: int, centre: float | None
) -> tuple[Statistics, list[Statistics]]:
    """Return the statistics of mined tokens, and with folds those outside of each.

    Channels are fold x class. Sums are counts, or where there are weights or numbers those of parts that `exact` splits
    off, with folds also of ones (see `counted_parts`).
    """

    def statistics(held: Int64, sums: Sums) -> Statistics:
        return Statistics(held, sums, described.sizes, held > 0, centre, kinds=described.kinds)

    n_columns = 1 if exact is None else len(exact.columns) + bool(n_folds)
    by_fold = mined.sums.reshape(len(mined.items), max(n_folds, 1), n_classes, n_columns)
    if exact is None:
        sums = by_fold[..., 0]
        total, held = _added(sums, range(sums.shape[1])), sums.sum(axis=2)
    else:
        # Sums of sums have other last bits than sums at once, and the table is to be the same with and without folds.
        # Sums of parts are exact.
        n_parts = len(exact.columns)
        sums, total = (exact.join(part) for part in (by_fold[..., :n_parts], by_fold[..., :n_parts].sum(axis=1)))
        sums, total = (sums[..., 0], total[..., 0]) if centre is None else (sums[:, :, 0], total[:, 0])
        held = by_fold[..., -1].sum(axis=2)
    if not n_folds:
        return statistics(mined.counts, total), []
    rest = []
    for fold in range(n_folds):
        # Of floats, what is outside a fold is added up, for differences would lose digits.
        outside = total - sums[:, fold] if exact is None else _added(sums, [f for f in range(n_folds) if f != fold])
        rest.append(statistics(mined.counts - held[:, fold].astype(np.int64), outside))
    return statistics(mined.counts, total), rest


def _added(sums: Sums, folds: Iterable[int]) -> Sums:
    first, *others = folds
    total = sums[:, first].copy()
    for fold in others:
        total += sums[:, fold]
    return total


def without_unused(
    vocabulary: pa.LargeStringArray, index: TokenIndex, tokenizer: Tokenizer
) -> tuple[pa.LargeStringArray, TokenIndex]:
    """Return a vocabulary and an index without the items that are in no token; the order of the others stays."""
    used, items = np.unique(index.items, return_inverse=True)
    vocabulary = vocabulary.take(pa.array(used))
    joining = tokenizer.joining(vocabulary)
    return vocabulary, TokenIndex(joining, items.astype(np.int32), index.parents, index.levels, index.masks)
