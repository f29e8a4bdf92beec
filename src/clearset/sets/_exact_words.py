"""Values of parameters as text, for comparing."""

import re
from typing import Any

# The address of an object differs from process to process.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def exact_words(value: Any) -> str:
    """Return the full text of a value, which is the same in every process.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from clearset.sets import Feature, exact_words
    >>> exact_words([Feature("stars"), 0.1])
    "[Feature('stars'), 0.1]"
    """
    named = getattr(value, "__qualname__", None)
    return named if isinstance(named, str) else _ADDRESS.sub("", repr(value))
