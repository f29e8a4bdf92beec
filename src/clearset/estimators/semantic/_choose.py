"""The choice of a setting on validation data."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow.compute as pc

from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._trial import Trial
from clearset.tokens import Items, MaxSize, MinCount, NGrams, Subsets, Tokeniser
from clearset.tokens._filters import Filter
from clearset.tokens._reading import read_column

# A more complex setting must lower the validation loss by this share to be taken.
GAIN = 0.002
# A text has this many words on average, at least; shorter strings are taken for categories.
WORDS_OF_A_TEXT = 1.5
# Of larger tokens there are many, and most of the rare ones say nothing that their parts do not.
_LARGER: tuple[Filter, ...] = (MinCount(5) | (MinCount(2) & MaxSize(1)),)


def smallest_tokens(X: object) -> Tokeniser:
    """Say what the examples are made of: words where they are texts, else items."""
    try:
        column = read_column(X)
    except (TypeError, ValueError):  # items and details; what cannot be read at all is refused later
        return Items()
    if column.offsets is None:
        words = pc.mean(pc.count_substring_regex(column.strings, r"\S+")).as_py()
        if words is not None and words >= WORDS_OF_A_TEXT:
            return NGrams(max_order=1)
    return Items()


def larger_tokens(tokens: Tokeniser, size: int) -> Tokeniser:
    """Give the tokeniser of the same examples with tokens of up to `size` items."""
    return (
        NGrams(max_order=size, split=tokens.split) if isinstance(tokens, NGrams) else Subsets(max_size=size)
    )


def choose(
    first: Setting,
    *,
    free: frozenset[str],
    largest: int,
    attempt: Callable[[Setting], Trial],
) -> tuple[Trial, list[tuple[Setting, float]]]:
    """Go from setting to setting while the validation loss falls; give the best trial, and the loss of each.

    Refinement is tried first, because it gains most; then larger tokens, all of them and their cover; then a larger
    width.

    Parameters
    ----------
    first
        Where to start.
    free
        Which parts of the setting may change: ``tokens``, ``filters``, ``cover``, ``width``, ``refine``.
    largest
        The largest tokens to try.
    attempt
        Tries a setting.
    """
    best = attempt(first)
    losses = [(first, best.loss)]

    def better(setting: Setting) -> bool:
        nonlocal best
        trial = attempt(setting)
        losses.append((setting, trial.loss))
        if trial.loss < best.loss - GAIN * abs(best.loss):
            best = trial
            return True
        return False

    if "refine" in free:
        better(replace(first, refine=1))
    if "tokens" in free:
        for size in range(2, largest + 1):
            filters = _LARGER if "filters" in free else best.setting.filters
            tokens = larger_tokens(first.tokens, size)
            if not better(replace(best.setting, tokens=tokens, filters=filters)):
                break
    if "cover" in free and best.setting.tokens != first.tokens:
        better(replace(best.setting, cover=not best.setting.cover))
    if "width" in free:
        better(replace(best.setting, width=2))
    return best, losses
