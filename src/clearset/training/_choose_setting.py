"""The choice of a setting on validation data."""

from collections.abc import Callable
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from clearset.sets import FileRows
from clearset.tokens import (
    Filter,
    ItemCounts,
    Items,
    MaxSize,
    MinCount,
    NGrams,
    Setting,
    Subsets,
    Tokenizer,
    TokenLimitError,
    Union,
    Words,
    read_column,
)
from clearset.training._try_setting import Trial

# A more complex setting must lower the validation loss by this share to be taken, and by more than the standard error
# of what it gains on the validation examples.
GAIN = 0.002
# How strongly corrections may be pulled to 0, from strongly to hardly at all.
PULLS = (8.0, 2.0, 0.5)
# A text has this many words on average, at least; shorter strings are taken for categories.
WORDS_OF_A_TEXT = 1.5
# And strings of which fewer than this share are distinct are categories too, such as names of cities.
SHARE_OF_TEXTS = 0.3
# Of larger tokens there are many, and most of the rare ones say nothing that their parts do not.
_LARGEST_RARE = 10
_LARGER: tuple[Filter, ...] = (MinCount(_LARGEST_RARE) | MaxSize(1),)


def smallest_tokens(X: Any) -> Tokenizer:
    """Return the tokenizer of what the examples are made of: words where they are texts, else items."""
    column = read_column(X)
    if column.offsets is not None:
        return Items()
    n_words = len(NGrams(max_order=1).parts(X).values)
    return _smallest_of_strings(len(column.strings), pc.count_distinct(column.strings).as_py(), n_words)


def smallest_tokens_in_files(rows: FileRows) -> Tokenizer:
    """Return the same of examples in files."""
    distinct, n_strings, n_words = ItemCounts(rows.max_memory // 20), 0, 0
    for table in rows.tables(80):
        column = read_column(table)
        if column.offsets is not None:
            return Items()
        n_strings += len(column.strings)
        n_words += len(NGrams(max_order=1).parts(table).values)
        strings = column.strings.drop_null().unique()
        distinct.add(strings, np.ones(len(strings), np.int64))
    return _smallest_of_strings(n_strings, sum(map(len, distinct.at_least(1))), n_words)


def _smallest_of_strings(n_strings: int, n_distinct: int, n_words: int) -> Tokenizer:
    is_text = n_words >= WORDS_OF_A_TEXT * n_strings and n_distinct >= SHARE_OF_TEXTS * n_strings
    return NGrams(max_order=1) if is_text else Items()


def are_phrases(X: Any) -> bool:
    """Return whether items are phrases that share words, so that words may tell of items that are rare.

    They are where items have `WORDS_OF_A_TEXT` words on average, and there are fewer words than items.
    """
    items = read_column(X).strings.drop_null().dictionary_encode()
    if not len(items):
        return False
    words = NGrams(max_order=1).parts(items.dictionary)
    sizes = pc.list_value_length(words).take(items.indices)
    return bool(pc.mean(sizes).as_py() >= WORDS_OF_A_TEXT and pc.count_distinct(words.values).as_py() < len(words))


def are_phrases_in_files(rows: FileRows) -> bool:
    """Return the same of examples in files."""
    n_items = n_words = 0
    items, words = ItemCounts(rows.max_memory // 40), ItemCounts(rows.max_memory // 40)
    for table in rows.tables(80):
        encoded = read_column(table).strings.drop_null().dictionary_encode()
        parts = NGrams(max_order=1).parts(encoded.dictionary)
        n_items += len(encoded)
        n_words += pc.sum(pc.list_value_length(parts).take(encoded.indices)).as_py() or 0
        for counts, strings in ((items, encoded.dictionary), (words, parts.values.unique())):
            counts.add(strings, np.ones(len(strings), np.int64))
    distinct_items, distinct_words = (sum(map(len, counts.at_least(1))) for counts in (items, words))
    return bool(n_items and n_words >= WORDS_OF_A_TEXT * n_items and distinct_words < distinct_items)


def larger_tokens(tokens: Tokenizer, size: int) -> Tokenizer:
    """Return the tokenizer of the same examples with tokens of up to `size` items; words of items stay single."""
    if isinstance(tokens, Union):
        return Union(*(each if isinstance(each, Words) else larger_tokens(each, size) for each in tokens.members))
    return NGrams(max_order=size, split=tokens.split) if isinstance(tokens, NGrams) else Subsets(max_size=size)


def largest_size(n_items: npt.NDArray[np.integer], most: int, largest: int) -> int:
    """Return the largest size, up to `largest`, of which examples with so many items have `most` subsets together.

    Examples
    --------
    >>> largest_size(np.array([10, 20]), most=300, largest=3)  # 45 + 190 pairs, 120 + 1140 triples
    2
    """
    sizes, counts = np.unique(n_items, return_counts=True)
    for size in range(2, largest + 1):
        if sum(comb(n, size) * count for n, count in zip(sizes.tolist(), counts.tolist(), strict=True)) > most:
            return size - 1
    return largest


def choose(
    first: Setting,
    *,
    free: frozenset[str],
    largest: int,
    attempt: Callable[[Setting, Trial | None, Trial | None], Trial],
    phrases: bool = False,
) -> tuple[Trial, list[tuple[Setting, float]]]:
    """Go from setting to setting while the validation loss falls; return the best trial, and the loss of each.

    Refinement is tried first, because it gains most; then the words of items that are phrases; then larger tokens,
    beside words if these gained; and where these do not, a larger width. Both say how items act together, and a larger
    width of many larger tokens takes the longest of all.

    Parameters
    ----------
    first : Setting
        Where to start.
    free : frozenset of str
        Which parts of the setting may change: ``tokens``, ``filters``, ``width``, ``refine``, ``pull``.
    largest : int
        The largest tokens to try.
    attempt : callable
        Tries a setting; given a trial of the same setting but for refinement it goes on from there, and given a
        rival it may give up once it stays behind.
    phrases : bool, default=False
        Whether items are phrases, whose words are worth a try.
    """
    # A start without corrections is needed by all that have some; it takes part where refinement is free.
    start = attempt(replace(first, refine=0), None, None)
    losses = [(start.setting, start.loss)]
    best, first = start, replace(first, shrinkage=start.setting.shrinkage)

    stopped = start.fitted.progress.interrupted

    def better(setting: Setting, start: Trial | None = None, gains: Callable[[Trial, Trial], bool] = _gains) -> bool:
        nonlocal best, stopped
        if stopped:
            return False
        try:
            trial = attempt(setting, start, best)
        except TokenLimitError:  # the examples have too many tokens of this size
            losses.append((setting, float("inf")))
            return False
        losses.append((setting, trial.loss))
        stopped = trial.fitted.progress.interrupted
        if not gains(trial, best):
            return False
        best = trial
        return True

    if first.refine and not stopped:
        pulls: tuple[float, ...] = PULLS if "pull" in free else (first.pull,)
        refined = replace(first, pull=pulls[0])
        best = attempt(refined, start, None)
        losses, stopped = [(refined, best.loss)], best.fitted.progress.interrupted
        pulls = pulls[1:]
    else:
        refined, pulls = replace(first, refine=1), PULLS if "refine" in free else ()
    for pull in pulls:
        # Corrections that are pulled strongly are kept unless they do harm; freer ones have to do better.
        if not better(replace(refined, pull=pull), start, _is_less if best.setting.refine else _is_no_worse):
            break
    if "tokens" in free and phrases:
        better(replace(best.setting, tokens=Union(first.tokens, Words())))
    single = best.setting.tokens
    if "tokens" in free:
        for size in range(2, largest + 1):
            filters = _LARGER if "filters" in free else best.setting.filters
            tokens = larger_tokens(single, size)
            refine = size if "refine" in free and best.setting.refine else best.setting.refine
            if not better(replace(best.setting, tokens=tokens, filters=filters, refine=refine)):
                break
    if "width" in free and best.setting.tokens == single:
        better(replace(best.setting, width=2))
    # Whichever trial an interrupt ended, it was the fit that was interrupted.
    best.fitted.progress.interrupted = stopped
    return best, losses


def with_pairs(setting: Setting) -> Setting:
    """Return a setting of single items with their pairs, all of them, corrected where they are not rare."""
    tokens = larger_tokens(setting.tokens, 2)
    return replace(setting, tokens=tokens, filters=_LARGER, cover=False, refine=2, pull=PULLS[-1])


def for_more_examples(setting: Setting, share: float) -> Setting:
    """Return the setting for `share` times the examples that chose it: larger tokens stay as rare as they were."""
    if setting.filters != _LARGER or share < 2.0:
        return setting
    return replace(setting, filters=(MinCount(round(share * _LARGEST_RARE)) | MaxSize(1),))


def _is_less(trial: Trial, best: Trial) -> bool:
    """Return whether a trial's loss is below that of the best so far."""
    return trial.loss < best.loss


def _is_no_worse(trial: Trial, best: Trial) -> bool:
    """Return whether a trial's loss is not above that of the best so far by more than chance."""
    ours, theirs = trial.fitted.validation_losses, best.fitted.validation_losses
    if ours is None or theirs is None or len(ours) < 2:
        return trial.loss <= best.loss
    harm = ours - theirs
    return bool(harm.mean() <= harm.std(ddof=1) / np.sqrt(len(harm)))


def _gains(trial: Trial, best: Trial) -> bool:
    """Return whether a trial is better than the best so far by more than chance."""
    if not trial.loss < best.loss - GAIN * abs(best.loss):
        return False
    ours, theirs = trial.fitted.validation_losses, best.fitted.validation_losses
    if ours is None or theirs is None or len(ours) < 2:
        return True
    gains = theirs - ours
    return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))
