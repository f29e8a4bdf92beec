"""Values of parameters as words: short for people, exact for comparing."""

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
        return f"{value:.4g}"
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


def exact_words(value: Any) -> str:
    """Say a value in full; the same words in another process."""
    named = getattr(value, "__qualname__", None)
    return named if isinstance(named, str) else _ADDRESS.sub("", repr(value))
