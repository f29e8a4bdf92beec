"""What looks wrong with the columns of a training table, each in a line that says what to do."""

import math
import re
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from clearset.cli._options import CSV_SEPARATOR
from clearset.cli._unusable_columns import decimal_hint, first_value, values_of, why_empty
from clearset.sets import BUILT_IN, combined, is_list, is_number, is_string

# Only so many rows are looked at, so that it takes no time worth speaking of.
_ROWS = 10_000
_TEXTS = 100
_FEWEST_KEYS = 10
_FEWEST_UNIQUE = 20
_BY_CHANCE = 1e-6

_KEY_NAME = re.compile(r"(?i:index|row|(.*[\W_])?(id|idx|key|uuid|guid))|.*[a-z](Id|ID)")
_LISTS = r"^\s*(\[.*\]|\{.*\}|\(.*\))\s*$"
_ITEMS = {";": r"^[^;]+(;[^;]+)+;?$", "|": r"^[^|]+(\|[^|]+)+\|?$", ",": r"^[^,.]{1,30}(,[^,.]{1,30}){2,}$"}


def keys_as_features(X: pa.Table, features: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each feature that looks like a key: by its name, or because no value occurs twice."""
    for name in features:
        values = values_of(X[name].slice(0, _ROWS))
        if not _whole(values):
            continue
        if _KEY_NAME.fullmatch(name):
            why = "its name is that of a key"
        elif len(values) >= _FEWEST_UNIQUE and pc.count_distinct(values).as_py() == len(values):
            why = "a whole number, and none occurs twice"
        else:
            continue
        yield f"'{name}' is a feature, but looks like a key ({why}). If it is one: --ignore {quote(name)}"


def features_without_values(X: pa.Table, features: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each declared feature whose numbers tell nothing."""
    for name in features:
        if name not in BUILT_IN and is_number(values_of(X[name]).type) and (why := why_empty(X[name])):
            yield f"'{name}' is declared as a feature, but tells nothing: {why}. Leave it out."


def forgotten_key(table: pa.Table, label: str) -> str | None:
    """Return the column by which rows seem to be one set: it repeats, and the label is the same wherever it does."""
    sample = table.slice(0, _ROWS)
    labels, n = _codes(sample[label]), len(sample)
    if labels is None:
        return None
    # The probability that two rows have the same label.
    alike = float(np.sum((np.bincount(labels) / n) ** 2))
    names: list[str] = sorted(table.column_names, key=lambda name: _KEY_NAME.fullmatch(name) is None)
    for name in names:
        type_ = sample[name].type
        keys = None if types.is_floating(type_) or types.is_boolean(type_) else _codes(sample[name])
        if keys is None or name == label:
            continue
        first = np.unique(keys, return_index=True)[1]
        repeats = n - len(first)
        if len(first) < _FEWEST_KEYS or repeats * math.log(alike) > math.log(_BY_CHANCE):
            continue
        if (labels == labels[first][keys]).all():
            return name
    return None


def lists_as_text(table: pa.Table, ignored: Iterable[str], separator: str | None) -> Iterator[str]:
    """Yield a warning for each column that is ignored and looks like lists; `separator` is what --column splits by."""
    for name in ignored:
        texts = _texts(table[name])
        such = f"such as {first_value(texts)}" if len(texts) else ""
        if _mostly(texts, _LISTS):
            yield (
                f"'{name}' is ignored, but looks like lists written as text, {such}. Save lists as Parquet, or write "
                "one row a token and group them with --by."
            )
        elif found := next((each for each, pattern in _ITEMS.items() if _mostly(texts, pattern)), None):
            option = "" if found == separator else f" --separator '{found}'"
            yield (
                f"'{name}' is ignored, but looks like items with {found!r} between them, {such}. To learn from "
                f"these: --column {quote(name)}{option}"
            )


def lists_as_items(table: pa.Table, names: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each column of items that holds lists written as text."""
    for name in names:
        if _mostly(texts := _texts(table[name]), _LISTS):
            yield (
                f"'{name}' holds lists written as text, such as {first_value(texts)}, whose brackets and quotes are "
                f"read as if they were part of items. Save lists as Parquet, or write items with '{CSV_SEPARATOR}' "
                "between them."
            )


def numbers_as_classes(column: pa.ChunkedArray, label: str, decimal: str | None) -> Iterator[str]:
    """Yield a warning if labels are numbers that were read as text, of which each would be a class."""
    texts = values_of(column)
    if is_string(texts.type) and len(texts := texts.drop_null()) and (hint := decimal_hint(texts, decimal)):
        yield f"the label '{label}' is text, first value {first_value(texts)}, and every value is a class; {hint}"


def _whole(values: Any) -> bool:
    if types.is_floating(values.type):
        return len(values) > 0 and pc.all(pc.equal(pc.round(values), values)).as_py() is True
    return bool(types.is_integer(values.type))


def _codes(column: pa.ChunkedArray) -> Any:
    """Return the place of each value among the distinct ones; None if some are missing, or are no plain values."""
    values = values_of(column)
    if is_list(column.type) or values.null_count or not (is_string(values.type) or is_number(values.type)):
        return None
    return combined(values).dictionary_encode().indices.to_numpy()


def _texts(column: pa.ChunkedArray) -> Any:
    """Return a few texts of a column, none if it holds something else."""
    values = values_of(column.slice(0, _ROWS))
    return values.drop_null().slice(0, _TEXTS) if is_string(values.type) else pa.array([], pa.string())


def _mostly(texts: Any, pattern: str) -> bool:
    return len(texts) > 0 and pc.sum(pc.match_substring_regex(texts, pattern)).as_py() >= 0.5 * len(texts)
