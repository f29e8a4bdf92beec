"""Learned corrections to the values of some tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from clearset.tokens._codes import Float64, Int32

if TYPE_CHECKING:
    from clearset.tokens._known_tokens import KnownTokens


@dataclass(frozen=True, eq=False)
class Corrections:
    """Numbers that are added to the values of some tokens of a table.

    Parameters
    ----------
    value : {"log_odds", "mean_label"}
        Which value they are added to.
    shrinkage : float
        The weight of the prior in the value's mean, as a number of examples.
    tokens : ndarray of int32, shape (S,)
        Numbers of the corrected tokens.
    amounts : ndarray, shape (S, C)
        The corrections, for each class; one column for a number or two classes.
    """

    value: str
    shrinkage: float
    tokens: Int32
    amounts: Float64

    def carried(self, old: KnownTokens, new: KnownTokens) -> Corrections:
        """Return the corrections of those tokens that another table has too."""
        numbers = new.numbers_of(old.spelled(self.tokens))
        known = numbers >= 0
        return replace(self, tokens=numbers[known].astype(np.int32), amounts=self.amounts[known])

    def places(self, n_tokens: int) -> Int32:
        """Return the correction of each of `n_tokens` tokens, -1 where it has none."""
        places = np.full(n_tokens, -1, np.int32)
        places[self.tokens] = np.arange(len(self.tokens), dtype=np.int32)
        return places


def refined_values(table: KnownTokens, values: Float64, tokens: npt.NDArray[np.integer]) -> Float64:
    """Return the values of some tokens with their corrections.

    Parameters
    ----------
    table : KnownTokens
        With or without corrections.
    values : ndarray, shape (n, C)
        Of all tokens, as counted.
    tokens : ndarray of int
        Numbers of tokens.
    """
    found: Float64 = values[tokens]
    if table.corrections is not None:
        places = table.corrections.places(len(table))[tokens]
        found[places >= 0] += table.corrections.amounts[places[places >= 0]]
    return found
