"""Why a column of a table cannot be a feature that is a number, in a few words."""

import math
import re
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from clearset.sets import decode, is_list, is_number, is_string, resolve_features, unnest

# What pandas calls the index of a frame, or a column without a name, when it writes or reads files.
_NAMELESS = re.compile(r"Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
_SAMPLE = 1000
_SHOWN = 40
_WORDS_OF_PROSE = 5


def why_unusable(name: str, column: pa.ChunkedArray, decimal: str | None, *, whole: bool = True) -> str | None:
    """Return why a column cannot be a feature, or None if it can; `decimal` is that of CSV, None for other files.

    Where a column is not seen whole, nothing follows from values that are the same or missing at its beginning.
    """
    elements = values_of(column)
    if _NAMELESS.fullmatch(name):
        return "has no name, as row numbers have that pandas writes"
    empty = len(elements) == elements.null_count
    if empty and whole:
        return "has no values"
    try:
        feature, *_ = resolve_features(pa.table({name: column}), None)
    except ValueError as error:
        return f"values of type {elements.type}" if empty else _of_type(name, column, elements, decimal) or str(error)
    return why_empty(column) if whole and feature.kind == "numeric" else None


def _of_type(name: str, column: pa.ChunkedArray, elements: Any, decimal: str | None) -> str | None:
    """Return why values of the type of a column cannot be taken as they are; None if they are numbers."""
    if types.is_dictionary(unnest(column)[0].type):
        return f"categories, first value {first_value(elements)}; declare it with --features"
    if is_string(elements.type):
        texts = elements.drop_null()
        return f"text, {_why_text(texts, decimal) or _text_hint(name, column, texts)}"
    if is_list(elements.type):
        return "lists in lists; unnest one level"
    if types.is_temporal(elements.type):
        return f"dates or times, first value {first_value(elements)}; convert them to numbers, such as days"
    return None if is_number(elements.type) else f"values of type {elements.type}"


def values_of(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the values of a column, or the elements of its lists, of a type that all functions of Arrow take."""
    values = decode(unnest(column)[0])
    if types.is_float16(values.type):
        return values.cast(pa.float32())
    return values.cast(pa.string()) if types.is_string_view(values.type) else values


def why_empty(column: pa.ChunkedArray) -> str | None:
    """Return why numbers tell nothing: there are none, or they are all the same; None if they do."""
    elements = values_of(column)
    low, high = pc.min_max(elements).as_py().values()
    if low is None or (isinstance(low, float) and math.isnan(low)):
        return "has no values"
    missing = elements.null_count or (types.is_floating(elements.type) and pc.any(pc.is_nan(elements)).as_py())
    return f"the same value everywhere, {low}" if low == high and not missing else None


def first_value(elements: pa.Array | pa.ChunkedArray) -> str:
    """Return the first value that is not missing as short text."""
    value = elements.drop_null()[0].as_py()
    text = value if isinstance(value, str) else str(value)
    short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return repr(short) if isinstance(value, str) else short


def decimal_hint(texts: pa.Array | pa.ChunkedArray, decimal: str | None) -> str | None:
    """Return what to do about numbers whose decimals follow a comma where a point is read, or the reverse."""
    point, comma = (",", ".") if decimal == "," else (".", ",")
    sample = texts.slice(0, _SAMPLE)
    swapped = _count(sample, rf"^\s*[+-]?\d*\{comma}\d+\s*$")
    if not swapped or swapped + _count(sample, _number(point)) < 0.9 * len(sample):
        return None
    if decimal is None:
        return "convert it to numbers"
    hint = "decimal commas? --decimal ," if comma == "," else "decimal points? --decimal ."
    thousands = _count(sample, rf"^\s*[+-]?\d{{1,3}}\{comma}\d{{3}}\s*$")
    return f"{hint} (or thousands? Remove the {comma!r})" if swapped == thousands else hint


def _why_text(texts: pa.Array | pa.ChunkedArray, decimal: str | None) -> str | None:
    """Return why numbers were read as text; None if the texts are no numbers."""
    point = decimal or "."
    if hint := decimal_hint(texts, decimal):
        return f"first value {first_value(texts)}; {hint}"
    sample = texts.slice(0, _SAMPLE)
    if _count(sample, _number(point)) >= 0.5 * len(sample):
        others = texts.filter(pc.invert(pc.match_substring_regex(texts, _number(point))))
        which = f"{len(others):,} of {len(texts):,} values are no numbers, the first {first_value(others)}"
        return f"because {which}; leave such cells empty"
    return None


def _text_hint(name: str, column: pa.ChunkedArray, texts: pa.Array | pa.ChunkedArray) -> str:
    """Return the first text, and which option reads such texts."""
    words = pc.mean(pc.count_substring_regex(texts.slice(0, _SAMPLE), r"\S+")).as_py()
    hint = "a category? Declare it with --features"
    if is_list(column.type):
        hint = f"items? --column {quote(name)}; or {hint}"
    elif words >= _WORDS_OF_PROSE:
        hint = f"to read its words: --column {quote(name)}"
    return f"first value {first_value(texts)}; {hint}"


def _number(point: str) -> str:
    return rf"^\s*[+-]?(\d+\{point}?\d*|\{point}\d+)([eE][+-]?\d+)?\s*$"


def _count(texts: pa.Array | pa.ChunkedArray, pattern: str) -> int:
    matches: int = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
    return matches
