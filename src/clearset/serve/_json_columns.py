"""JSON values: the names of their kinds, and columns of values of one kind."""

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from clearset.sets import unknown_name

_NUMBERS = {int, float, bool}
LARGEST = float(np.finfo(np.float64).max)
"""The largest number that is read."""
_LARGEST_WHOLE = int(Decimal(repr(LARGEST)))  # as it is written in descriptions


def kind_of(value: Any) -> str:
    """Return what kind of value it is, with its article, for messages."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    if value == []:
        return "an empty list"
    return names.get(type(value), "a number")


def check_names(one: Collection[str], known: Sequence[str], needed: Sequence[str], place: int) -> None:
    """Raise an error if a set has members that the model does not know, or lacks one that it needs."""
    if unknown := [name for name in one if name not in known]:
        raise ValueError(
            f"Set {place} has {unknown[0][:100]!r}, which the model does not know. It reads: {', '.join(known)[:1000]}."
        )
    if absent := [name for name in needed if name not in one]:
        raise ValueError(f"Set {place}: {unknown_name('Column', absent[0], one)} Give null for what is missing.")


def column(name: str, values: list[Any], *, texts: bool, lists: bool) -> pa.Array:
    """Return a column of texts or of numbers, null where missing: a list for each set, or a single value."""
    flat = list(chain.from_iterable(values)) if lists else values
    allowed = {type(None)} | ({str} if texts else _NUMBERS)
    if not set(map(type, flat)) <= allowed:
        place, wrong = next(_those(values, lists, lambda value: type(value) not in allowed))
        what = "texts" if texts else "numbers"
        raise ValueError(f"Set {place} has {kind_of(wrong)} in {name!r}, which must hold {what}, or null for missing.")
    elements = pa.array(flat, pa.large_string()) if texts else _numbers(name, values, flat, lists)
    if not lists:
        return elements
    offsets = np.cumsum([0, *map(len, values)])
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), elements)


def _numbers(name: str, values: list[Any], flat: list[Any], lists: bool) -> pa.Array:
    try:
        numbers = np.array(flat, dtype=np.float64)  # NaN for null
    except OverflowError:
        numbers = np.array([np.inf])
    # Whole numbers beyond the largest one are rounded to it, or to infinity.
    if (np.abs(numbers) >= LARGEST).any():
        for place, _ in _those(values, lists, _is_too_large):
            raise ValueError(
                f"Set {place} has a number in {name!r} that is beyond {LARGEST:.2g}, the largest numbers read."
            )
    return pa.array(numbers, mask=np.isnan(numbers))


def _is_too_large(value: Any) -> bool:
    return value is not None and abs(value) > (_LARGEST_WHOLE if isinstance(value, int) else LARGEST)


def _those(values: list[Any], lists: bool, is_wrong: Any) -> Iterator[tuple[int, Any]]:
    """Return wrong values, each with the place of its set."""
    return (
        (place, value)
        for place, several in enumerate(values)
        for value in (several if lists else [several])
        if is_wrong(value)
    )
