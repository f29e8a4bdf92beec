"""How much one request may ask for: counted before the work, so that none keeps the others waiting."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clearset.sets._arrow import is_list
from clearset.tokens import EncodedSets, Found, TokenLimitError

MOST_BYTES = 10_000_000
"""Of the body of a request."""

MOST_EXPLAINED = 20_000
"""Rows of an explanation: one for each set, each token and, with effects, each feature of each token."""

MOST_PREDICTED = 2_000_000
"""Numbers of a prediction: one for each set or, of classes, one for each class of each set."""

MOST_TOKENS = 10_000_000
"""Of all sets of a prediction together."""


class TooLargeError(ValueError):
    """More was asked for than is answered."""


def check_explanation(model: Any, X: Any, effects: bool) -> None:
    """Refuse sets whose explanation would have too many rows."""
    rows_of_token = 1 + effects * len(model.features_)
    n_tokens = _count_tokens(model, X, MOST_EXPLAINED // rows_of_token)
    if n_tokens is None or len(X) + n_tokens * rows_of_token > MOST_EXPLAINED:
        rows = "each set, each token and each feature of each token" if effects else "each set and each token"
        without = " or leave 'effects' out" if effects else ""
        found = (
            f"have more than {MOST_EXPLAINED // rows_of_token:,}"
            if n_tokens is None
            else f"have {n_tokens:,}"
        )
        raise TooLargeError(
            f"The explanation would have more than {MOST_EXPLAINED:,} rows, one for {rows}: the {len(X):,} sets "
            f"{found} tokens. Send fewer or smaller sets at a time{without}."
        )


def most_predicted(model: Any) -> int:
    """Give the most sets that are predicted at once."""
    return MOST_PREDICTED // len(getattr(model, "classes_", [None]))


def check_prediction(model: Any, X: Any) -> None:
    """Refuse sets with too many tokens to predict."""
    if _count_tokens(model, X, MOST_TOKENS) is None:
        raise TooLargeError(
            f"The sets have more than {MOST_TOKENS:,} tokens together. Send fewer or smaller sets at a time."
        )


def find_within(table: Any, encoded: EncodedSets, cover: bool, most: int) -> Found | None:
    """Find the tokens of sets, or give None where there are more than so many."""
    try:
        found: Found = table.find(encoded, cover=cover, threads=1, most=most)
    except TokenLimitError:
        return None
    return found


def _count_tokens(model: Any, X: Any, most: int) -> int | None:
    """Count the tokens of all sets, or give None where they are seen to be more than so many."""
    if hasattr(model, "token_table_"):
        items = X.drop_columns(list(model.setting_.details)) if isinstance(X, pa.Table) else X
        table = model.token_table_
        found = find_within(table, table.encode(items), bool(model.setting_.cover), most)
        return None if found is None else len(found.tokens)
    lists = [column for column in X.columns if is_list(column.type)]
    counted = pc.sum(pc.list_value_length(lists[0])).as_py() if lists else len(X)
    return None if counted > most else int(counted)
