"""How much one request may ask for, and how many may; what asks for more is refused before the work."""

from dataclasses import dataclass, fields
from typing import Any

from clearset.models import Model, Reading
from clearset.serve._errors import TooLargeError
from clearset.tokens import TokenLimitError

MOST_NUMBERS = 2_000_000
"""Numbers of a prediction: one for each set or, with classes, one for each class of each set."""

SECONDS = 30
"""Seconds in which the headers of a request must arrive, then its body, and in which its answer must be taken."""


@dataclass(frozen=True)
class Limits:
    """How much a server answers, and with what.

    Parameters
    ----------
    body : int, default=10,000,000
        The largest number of bytes of the body of a request. Bodies of all requests together have 20 times as many.
    sets : int, default=100,000
        The largest number of sets of a request.
    tokens : int, default=10,000,000
        The largest number of tokens of all sets of a prediction together.
    rows : int, default=20,000
        The largest number of rows of an explanation: one for each set, each token and, with effects, each feature of
        each token.
    waiting : int, default=100
        The largest number of requests that wait until others are computed; more are refused.
    seconds : int, default=30
        The largest number of seconds that a request may wait and be computed.
    processes : int, default=0
        How many processes compute, each a request at a time. They are forked when an application starts (ASGI's
        lifespan), and share its memory. With 0 threads of the server compute, so that a request may wait for the
        interpreter until others have gone on, and one that takes too long is answered, but not ended.

    Examples
    --------
    >>> from clearset.serve import Limits
    >>> Limits(sets=1000).tokens
    10000000
    """

    body: int = 10_000_000
    sets: int = 100_000
    tokens: int = 10_000_000
    rows: int = 20_000
    waiting: int = 100
    seconds: int = 30
    processes: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), int(each.name != "processes")
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"The limit '{each.name}' must be a whole number from {least} on; received {value!r}.")

    def most_sets(self, model: Model) -> int:
        """Return the largest number of sets of a model that are predicted at once."""
        classes = model.link.classes
        return max(1, min(self.sets, MOST_NUMBERS // (1 if classes is None else len(classes))))

    def read_for_prediction(self, model: Model, X: Any) -> Reading:
        """Read sets; raise an error where they have too many tokens to predict."""
        reading = _read(model, X, self.tokens)
        if reading is None:
            raise TooLargeError(
                f"The sets have more than {self.tokens:,} tokens together. Send fewer or smaller sets at a time."
            )
        return reading

    def read_for_explanation(self, model: Model, X: Any, effects: bool) -> Reading:
        """Read sets; raise an error where their explanation would have too many rows."""
        rows_of_token = 1 + effects * len(model.binning.features)
        most_tokens = self.rows // rows_of_token
        reading = _read(model, X, most_tokens)
        if reading is None or len(reading) + reading.n_tokens * rows_of_token > self.rows:
            rows = "each set, each token and each feature of each token" if effects else "each set and each token"
            without = " or leave 'effects' out" if effects else ""
            found = f"have more than {most_tokens:,}" if reading is None else f"have {reading.n_tokens:,}"
            raise TooLargeError(
                f"The explanation would have more than {self.rows:,} rows, one for {rows}: the {len(X):,} sets "
                f"{found} tokens. Send fewer or smaller sets at a time{without}."
            )
        return reading


def _read(model: Model, X: Any, most_tokens: int) -> Reading | None:
    """Read sets, or return None where they have more than so many tokens."""
    try:
        return model.read(X, most_tokens)
    except TokenLimitError:
        return None
