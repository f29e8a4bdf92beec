"""Values of parameters as words: short for people, exact for comparing."""

import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from clearset.tokens import AllOf, AnyOf

# Where an object lies in memory says nothing about it.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def words(value: Any) -> str:
    """Say a value briefly.

    Parameters
    ----------
    value
        A number, a text, a tokeniser, a list of filters, or anything else.

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
    if is_dataclass(value) and not isinstance(value, type):
        told = [
            getattr(value, field.name)
            for field in fields(value)
            if field.repr and getattr(value, field.name) != field.default
        ]
        return f"{type(value).__name__}({', '.join(map(words, told))})"
    return " ".join(exact_words(value).split())


def number_words(number: float) -> str:
    """Say a number with four digits that count; without an exponent from 0.0001 up to ten million."""
    said = f"{number:.4g}"
    rounded = float(said)
    if not 1e-4 <= abs(rounded) <= 1e7:
        return said
    decimals = max(3 - math.floor(math.log10(abs(rounded))), 0)
    said = f"{rounded:,.{decimals}f}"
    return said.rstrip("0").rstrip(".") if decimals else said


def exact_words(value: Any) -> str:
    """Say a value in full; the same words in another process."""
    named = getattr(value, "__qualname__", None)
    return named if isinstance(named, str) else _ADDRESS.sub("", repr(value))
