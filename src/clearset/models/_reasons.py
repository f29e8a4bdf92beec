"""Reasons: the tokens and features that lowered or raised a prediction most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset import display

if TYPE_CHECKING:
    from clearset.models._explanation import Explanation

# Longer texts are cut.
_MOST_CHARACTERS = 80


def reasons_of(explanation: Explanation, k: int, direction: str) -> pa.Table:
    """Return up to k reasons for each set, as `Explanation.reasons` tells."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k is {k!r}; give a whole number of at least 1.")
    if direction not in ("lowered", "raised"):
        raise ValueError(f"direction is {direction!r}; choose 'lowered' or 'raised'.")
    sign = -1.0 if direction == "lowered" else 1.0
    tokens, of_sets = explanation.tokens, explanation.of_sets
    sets = np.concatenate([tokens["set"].to_numpy(), of_sets["set"].to_numpy()])
    amounts = np.concatenate([tokens["contribution"].to_numpy(), of_sets["contribution"].to_numpy()])
    # Where no token is known, there is none to name.
    known = tokens["token"].is_valid().to_numpy(zero_copy_only=False)
    named = np.append(known, np.ones(len(of_sets), dtype=bool))
    rows = np.flatnonzero(named & (sign * amounts > 0))
    rows = rows[np.lexsort((-sign * amounts[rows], sets[rows]))]
    firsts = np.searchsorted(sets[rows], sets[rows])
    ranks = np.arange(len(rows)) - firsts + 1
    rows, ranks = rows[ranks <= k], ranks[ranks <= k]
    texts = _texts(explanation, rows)
    columns: dict[str, Any] = {"set": sets[rows]}
    if explanation.label is not None:
        columns["label"] = explanation.label[sets[rows]]
    columns |= {"rank": ranks, "reason": pa.array(texts, pa.string()), "contribution": amounts[rows]}
    return pa.table(columns)


def _texts(explanation: Explanation, rows: np.ndarray) -> list[str]:
    """Name the rows of tokens, after which those of features of sets are counted on."""
    n_tokens = len(explanation.tokens)
    of_tokens, of_features = np.flatnonzero(rows < n_tokens), np.flatnonzero(rows >= n_tokens)
    chosen = replace(
        explanation,
        tokens=explanation.tokens.take(pa.array(rows[of_tokens])),
        of_sets=explanation.of_sets.take(pa.array(rows[of_features] - n_tokens)),
    )
    texts = np.empty(len(rows), dtype=object)
    texts[of_tokens] = display.token_texts(chosen, _MOST_CHARACTERS, display.token_features(explanation))
    texts[of_features] = display.set_feature_texts(chosen, _MOST_CHARACTERS)
    return texts.tolist()
