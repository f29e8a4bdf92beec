"""Arrow columns into flat NumPy arrays: numbers, or codes of categories, and the lengths of lists."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ._categories import Category, as_category
from ._features import Feature
from ._offsets import FloatArray, IntArray, offsets_from_sizes


def is_list(type_: pa.DataType) -> bool:
    """Return whether every row of a column of this type is a list, possibly dictionary-encoded."""
    if types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(
        types.is_list(type_)
        or types.is_large_list(type_)
        or types.is_fixed_size_list(type_)
        or types.is_list_view(type_)
        or types.is_large_list_view(type_)
    )


def is_number(type_: pa.DataType) -> bool:
    """Return whether values of this type are numbers or booleans."""
    return bool(
        types.is_integer(type_) or types.is_floating(type_) or types.is_boolean(type_) or types.is_decimal(type_)
    )


def is_string(type_: pa.DataType) -> bool:
    """Return whether values of this type are strings."""
    return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_))


def unnest(column: pa.ChunkedArray) -> tuple[pa.Array | pa.ChunkedArray, IntArray | None]:
    """Return the elements of all lists and where each row's begin; of a plain column its values and None.

    A null list is an empty one, whatever stands behind it in memory.
    """
    if column.num_chunks == 1 and types.is_list(column.type) and not column.null_count:
        # Most columns are like this, and quicker to take apart without Arrow's functions; one set is waited for.
        lists = column.chunk(0)
        offsets, elements = lists.offsets.to_numpy().astype(np.int64), lists.values
        first, last = offsets.item(0), offsets.item(-1)
        if last - first < len(elements):
            elements = elements.slice(first, last - first)
        return elements, offsets - first if first else offsets
    column = decode(column)
    if not is_list(column.type):
        return column, None
    elements = pa.chunked_array([chunk.flatten() for chunk in column.chunks], type=column.type.value_type)
    lengths = pc.list_value_length(column)
    lengths = lengths.fill_null(0) if lengths.null_count else lengths
    return elements, offsets_from_sizes(lengths.to_numpy())


def combined(elements: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the elements of all chunks as one array."""
    if not isinstance(elements, pa.ChunkedArray):
        return elements
    if not elements.num_chunks:
        return pa.array([], elements.type)
    return elements.chunk(0) if elements.num_chunks == 1 else elements.combine_chunks()


def decode(elements: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the values of a dictionary-encoded column; any other column as it is."""
    if not types.is_dictionary(elements.type):
        return elements
    # Taken, not cast: Arrow casts no dictionary of lists.
    chunks = elements.chunks if isinstance(elements, pa.ChunkedArray) else [elements]
    values = [chunk.dictionary.take(chunk.indices) for chunk in chunks]
    return pa.chunked_array(values, type=elements.type.value_type)


def to_numbers(elements: pa.Array | pa.ChunkedArray, feature: Feature) -> FloatArray:
    """Return numbers as float64, NaN where they are null."""
    elements = decode(elements)
    if not (is_number(elements.type) or types.is_null(elements.type)):
        raise TypeError(_wrong_type(elements, feature))
    # Unsafe only in that integers beyond 2^53 are rounded.
    floats = elements if types.is_float64(elements.type) else elements.cast(pa.float64(), safe=False)
    array: FloatArray = combined(floats).to_numpy(zero_copy_only=False)
    return array


def to_codes(elements: pa.Array | pa.ChunkedArray, feature: Feature) -> tuple[FloatArray, tuple[Category, ...]]:
    """Return the place of every value in the distinct values, NaN where it is null, and those values."""
    elements = decode(elements)
    if types.is_null(elements.type):
        return np.full(len(elements), np.nan), ()
    if not (is_number(elements.type) or is_string(elements.type)):
        raise TypeError(_wrong_type(elements, feature))
    if not len(elements):
        return np.empty(0), ()
    encoded = combined(elements).dictionary_encode()
    places: dict[Category, int] = {}
    code_of = np.full(len(encoded.dictionary), np.nan)
    for place, value in enumerate(encoded.dictionary.to_pylist()):
        if isinstance(value, float) and math.isnan(value):
            continue
        if isinstance(value, float) and math.isinf(value):
            raise ValueError(
                f"Feature {feature.name!r} holds {value}, but a category is a string or a finite number. "
                "Mark it as missing (NaN, null)."
            )
        code_of[place] = places.setdefault(as_category(value), len(places))
    known = encoded.indices.is_valid().to_numpy(zero_copy_only=False)
    codes = code_of.take(encoded.indices.fill_null(0).to_numpy(), mode="clip") if len(code_of) else np.nan
    return np.where(known, codes, np.nan), tuple(places)


def _wrong_type(elements: pa.Array | pa.ChunkedArray, feature: Feature) -> str:
    type_ = elements.type
    advice = "Convert it to numbers, or leave the feature out."
    if is_list(type_):
        what = "lists in lists"
        advice = "A row is one set and an element of its list one token: unnest one level."
    elif is_string(type_):
        what = "strings"
        advice = "Convert it to numbers, or declare it kind='categorical'."
    elif types.is_temporal(type_):
        what = f"dates or times ({type_})"
        advice = "Convert it to numbers, e.g. to days since a date."
    else:
        what = f"values of type {type_}"
    declared = f"declared {feature.monotonic}" if feature.direction else feature.kind
    return (
        f"Feature {feature.name!r} is {declared} but column {feature.name!r} holds {what}{_first(elements)}. {advice}"
    )


def _first(elements: pa.Array | pa.ChunkedArray) -> str:
    present: Any = elements.drop_null()
    return f" (first: {str(present[0].as_py())[:40]!r})" if len(present) else ""
