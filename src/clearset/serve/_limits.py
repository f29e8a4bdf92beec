"""How much one request may ask for; what asks for more is refused before the work, so that no request blocks others."""

from typing import Any

from clearset.models import Model, Reading
from clearset.tokens import TokenLimitError

MOST_BYTES = 10_000_000
"""Bytes of the body of a request."""

MOST_SETS = 100_000
"""Sets of a request."""

MOST_EXPLAINED = 20_000
"""Rows of an explanation: one for each set, each token and, with effects, each feature of each token."""

MOST_PREDICTED = 2_000_000
"""Numbers of a prediction: one for each set or, with classes, one for each class of each set."""

MOST_TOKENS = 10_000_000
"""Tokens of all sets of a prediction together."""

SECONDS = 30
"""Seconds in which the headers of a request must arrive, then its body, and in which its answer must be taken."""


class TooLargeError(ValueError):
    """A request asks for more than is answered."""


def most_predicted(model: Model) -> int:
    """Return the largest number of sets that are predicted at once."""
    classes = model.link.classes
    return min(MOST_SETS, MOST_PREDICTED // (1 if classes is None else len(classes)))


def read_for_prediction(model: Model, X: Any) -> Reading:
    """Read sets; raise an error where they have too many tokens to predict."""
    reading = _read(model, X, MOST_TOKENS)
    if reading is None:
        raise TooLargeError(
            f"The sets have more than {MOST_TOKENS:,} tokens together. Send fewer or smaller sets at a time."
        )
    return reading


def read_for_explanation(model: Model, X: Any, effects: bool) -> Reading:
    """Read sets; raise an error where their explanation would have too many rows."""
    rows_of_token = 1 + effects * len(model.binning.features)
    most_tokens = MOST_EXPLAINED // rows_of_token
    reading = _read(model, X, most_tokens)
    if reading is None or len(reading) + reading.n_tokens * rows_of_token > MOST_EXPLAINED:
        rows = "each set, each token and each feature of each token" if effects else "each set and each token"
        without = " or leave 'effects' out" if effects else ""
        found = f"have more than {most_tokens:,}" if reading is None else f"have {reading.n_tokens:,}"
        raise TooLargeError(
            f"The explanation would have more than {MOST_EXPLAINED:,} rows, one for {rows}: the {len(X):,} sets "
            f"{found} tokens. Send fewer or smaller sets at a time{without}."
        )
    return reading


def _read(model: Model, X: Any, most_tokens: int) -> Reading | None:
    """Read sets, or return None where they have more than so many tokens."""
    try:
        return model.read(X, most_tokens)
    except TokenLimitError:
        return None
