"""Errors that say which offsets, slots or rows of sets cannot be."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import CrossedPositions

IntArray = npt.NDArray[np.int64]


def check_offsets(offsets: IntArray, n_tokens: int) -> None:
    """Raise the error that says which offsets cannot be, if some cannot."""
    if offsets[0] != 0 or offsets[-1] != n_tokens:
        raise ValueError(f"offsets must go from 0 to the number of tokens, {n_tokens}; received {offsets}.")
    empty = offsets[1:] <= offsets[:-1]
    if np.count_nonzero(empty):
        raise ValueError(
            f"Set {int(np.argmax(empty))} has no token; "
            "an empty set must be given as one token with all features missing."
        )


def check_slots(slots: npt.NDArray[np.int32], n_slots: int) -> None:
    """Raise an error if some slots cannot be."""
    if slots.size and (slots.min() < 0 or slots.max() >= n_slots):
        raise ValueError(
            f"slots hold a number outside 0 to {n_slots - 1}, but calibration has {n_slots} slots. "
            "Make the positions with the same binning as the calibration."
        )


def check_chosen_sets(crossed: CrossedPositions, sets: IntArray) -> None:
    """Raise the error that says which of the chosen sets or their offsets cannot be, if some cannot."""
    n_sets, n_tokens, offsets = len(crossed), crossed.n_tokens, crossed.offsets
    if sets.size and (sets.min() < 0 or sets.max() >= n_sets):
        raise ValueError(
            f"sets hold a number outside 0 to {n_sets - 1}, but there are {n_sets} sets. "
            "Choose among the sets of the tokens."
        )
    starts, stops = offsets[sets], offsets[sets + 1]
    bad = (stops <= starts) | (starts < 0) | (stops > n_tokens)
    if bad.any():
        wrong = int(sets[np.argmax(bad)])
        raise ValueError(
            f"Set {wrong} goes from token {int(offsets[wrong])} to {int(offsets[wrong + 1])} of {n_tokens}; every set "
            "must have at least one token. An empty set must be given as one token with all features missing."
        )


def check_crossed_contents(crossed: CrossedPositions, corrections: npt.NDArray[Any] | None, n_slots: int) -> None:
    """Raise the error that says which slots or rows of tokens cannot be, if some cannot."""
    check_slots(crossed.slots, n_slots)
    limits = [("rows", crossed.rows, len(crossed.values), "values")]
    if corrections is not None:
        limits.append(("corrected", crossed.corrected, len(corrections), "corrections"))
    for name, numbers, size, table in limits:
        if numbers.size and (numbers.min() < -1 or numbers.max() >= size):
            raise ValueError(
                f"{name} hold a number outside -1 to {size - 1}, but that is all that {table} has. "
                f"Make the tokens and {table} together."
            )
