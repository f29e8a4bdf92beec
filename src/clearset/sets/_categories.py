"""Categories: which values can be one, their order, and how codes find them."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ._offsets import IntArray

Category = str | int | float

_MOST_CATEGORIES = 100_000


def as_category(value: Any) -> Category:
    """Return the one Python value that stands for a category: a string, a bool, an int or a finite float."""
    # Whole floats become ints, so that a column read once as float and once as int has the same categories.
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, Real | Decimal) and math.isfinite(number := float(value)):
        return int(number) if number.is_integer() else number
    raise ValueError(f"A category is a string or a finite number; received {value!r}.")


def sorted_categories(name: str, observed: AbstractSet[Category], named: AbstractSet[Category]) -> tuple[Category, ...]:
    """Return the categories that a feature has: those observed and those its declaration names."""
    found = observed | named
    strings = sorted(category for category in found if isinstance(category, str))
    numbers = sorted(category for category in found if not isinstance(category, str))
    if strings and numbers:
        raise TypeError(
            f"Feature {name!r} has both strings and numbers as categories, e.g. {strings[0]!r} and "
            f"{numbers[0]!r}. Name categories in monotonic as the column holds them."
        )
    if len(found) > _MOST_CATEGORIES:
        raise ValueError(
            f"Feature {name!r} has {len(found)} categories, but at most {_MOST_CATEGORIES} are allowed. "
            "Group rare ones, or leave the feature out."
        )
    return (*strings, *numbers)


def places_of_codes(name: str, known: Sequence[Category], categories: Sequence[Category]) -> IntArray:
    """Return the place among `known` of every category of the data, and last that of a missing one.

    Unknown categories have the place of a missing one, `len(known)`.
    """
    if known and categories and isinstance(known[0], str) != isinstance(categories[0], str):
        raise TypeError(
            f"Feature {name!r} was fitted on categories like {known[0]!r} but holds {categories[0]!r}. "
            "Convert the column: strings and numbers are different categories."
        )
    places = {category: place for place, category in enumerate(known)}
    return np.array([*(places.get(category, len(known)) for category in categories), len(known)])
