"""Declarations as people write them."""

from dataclasses import MISSING, fields
from typing import Any


def short_repr(declaration: Any) -> str:
    """Write a dataclass as one would make it: what is required, and what differs from its default.

    It serves as ``__repr__``. A first field that is required is written without its name, and a function by its name.

    Parameters
    ----------
    declaration : dataclass instance
        What to write.

    Returns
    -------
    str
        A call of its class.

    Examples
    --------
    >>> from clearset.sets import Feature, short_repr
    >>> short_repr(Feature("stars", monotonic="increasing"))
    "Feature('stars', monotonic='increasing')"
    """
    said = []
    for place, field in enumerate(fields(declaration)):
        value = getattr(declaration, field.name)
        if place == 0 and field.default is MISSING:
            said.append(_said(value))
        elif field.default is MISSING or value != field.default:
            said.append(f"{field.name}={_said(value)}")
    return f"{type(declaration).__name__}({', '.join(said)})"


def _said(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) else repr(value)
