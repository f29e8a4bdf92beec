"""Values of parameters as short texts for people."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from clearset.sets import exact_words
from clearset.tokens import AllOf, AnyOf


def words(value: Any) -> str:
    """Return a short text for a value.

    Parameters
    ----------
    value : object
        A number, a text, a tokenizer, a list of filters, or anything else.

    Returns
    -------
    str
        The text, on one line.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.tuning import words
    >>> words(0.0123456), words(cs.NGrams(2)), words([cs.MinCount(5) | cs.MaxInterval(0.2)])
    ('0.01235', 'NGrams(2)', 'MinCount(5) | MaxInterval(0.2)')
    """
    if isinstance(value, float | np.floating):
        return number_words(float(value))
    if isinstance(value, str | np.generic):
        return str(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(words, value)) or "none"
    if isinstance(value, AnyOf):
        return " | ".join(map(words, value.filters))
    if isinstance(value, AllOf):
        parts = ((words(part), isinstance(part, AnyOf)) for part in value.filters)
        return " & ".join(f"({said})" if weaker else said for said, weaker in parts)
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        told = [
            getattr(value, field.name)
            for field in fields(value)
            if field.repr and getattr(value, field.name) != field.default
        ]
        return f"{type(value).__name__}({', '.join(map(words, told))})"
    return " ".join(exact_words(value).split())


def number_words(number: float) -> str:
    """Return a number with four significant digits, from 0.0001 up to ten million without an exponent."""
    said = f"{number:.4g}"
    rounded = float(said)
    if not 1e-4 <= abs(rounded) <= 1e7:
        return said
    decimals = max(3 - math.floor(math.log10(abs(rounded))), 0)
    said = f"{rounded:,.{decimals}f}"
    return said.rstrip("0").rstrip(".") if decimals else said
