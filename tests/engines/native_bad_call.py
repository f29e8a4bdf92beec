"""What bad calls of the compiled module are made of."""

from typing import Any, NamedTuple

from .native_arguments import N_TOKENS

NAN, INF = float("nan"), float("inf")
INT32_MAX = 2**31 - 1
WRONG_TYPE = "incompatible function arguments"


class BadCall(NamedTuple):
    """A good call with one argument changed, and a part of what must be said about it."""

    function: str
    argument: str
    value: Any
    message: str


def outside(numbers, least, size):
    """Numbers outside [least, size), early and late in the batch."""
    for place in (0, N_TOKENS - 1):
        for wrong in (least - 1, size, INT32_MAX, -(2**31)):
            changed = numbers.copy()
            changed.reshape(-1)[place - N_TOKENS] = wrong
            yield changed
