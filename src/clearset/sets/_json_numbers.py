"""Numbers as JSON can hold them: finite, and no longer than needed."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

_DIGITS = 11
"""Digits of parameters: enough for all digits of predictions that people read, and half the size of all digits."""


def number(value: Any, digits: int = _DIGITS) -> float | int | None:
    """Return a number with some significant digits; None for NaN and infinity."""
    exact = float(value)
    if not math.isfinite(exact):
        return None
    rounded = float(f"{exact:.{digits}g}")
    if math.isinf(rounded):  # the largest numbers round up to it
        return exact
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def numbers(values: npt.ArrayLike, digits: int = _DIGITS) -> list[Any]:
    """Return an array as nested lists of such numbers."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [numbers(row, digits) for row in array]
    return [number(value, digits) for value in array.tolist()]


def entries(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return a flat mapping of numbers and strings as JSON can hold it."""
    return {
        name: value if value is None or isinstance(value, str) else number(value) for name, value in mapping.items()
    }
