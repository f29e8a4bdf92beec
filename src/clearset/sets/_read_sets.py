"""Reading frames and arrays into SetData: list columns are token features, plain columns set features."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ._arrow_columns import is_list, to_codes, to_numbers, unnest
from ._built_in import BUILT_IN, PLACES, SIZE
from ._categories import Category
from ._columns_as_arrow import Columns, columns_of, is_frame
from ._features import Feature, feature_columns
from ._offsets import FloatArray, IntArray
from ._set_data import SetData

# By name, because `from clearset import _native` would read as an import of the whole package.
_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


def read_sets(X: object, features: Sequence[Feature]) -> SetData:
    """Read the declared features of `X`, and nothing else of it.

    Parameters
    ----------
    X : frame, two-dimensional array or SetData
        A row of a frame is a set: list columns are token features, plain columns set features. A table of
        plain columns only, or an array with columns x0, x1, ..., holds sets of one token.
    features : sequence of Feature
        The columns to read. Null and NaN are missing; a null list is an empty one.

    Returns
    -------
    SetData
        The sets, in the order of the rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.sets import Feature, read_sets
    >>> frame = pa.table({"stars": [[5, 4], None, [1]], "price": [9.9, 5.0, None]})
    >>> data = read_sets(frame, [Feature("stars"), Feature("price")])
    >>> data
    SetData(3 sets, 3 tokens, features=['stars'], set_features=['price'])
    >>> data.sizes
    array([2, 0, 1])
    """
    if isinstance(X, SetData):
        _require_sets(len(X))
        return _read_set_data(X, features)
    columns = columns_of(X)
    _require_sets(columns.n_rows)
    if isinstance(X, pa.Table) and (found := _lists_of_doubles(X, features)) is not None:
        return found
    read = [_read_column(columns, feature) for feature in features if feature.name not in BUILT_IN]
    lists = {column.name: column.offsets for column in read if column.offsets is not None}
    if not lists:
        _require_no_lists(columns, features)
    offsets = _common_offsets(lists) if lists else np.arange(columns.n_rows + 1)
    tokens = [column for column in read if column.name in lists or not lists]
    sets = [column for column in read if column.name not in lists] if lists else []
    return SetData.of_columns(
        {column.name: column.values for column in tokens},
        offsets,
        {column.name: column.values for column in sets},
        {column.name: column.categories for column in read if column.categories is not None},
    )


def _lists_of_doubles(table: pa.Table, features: Sequence[Feature]) -> SetData | None:
    """Return sets whose features are all lists of doubles without nulls, as they are in memory; None for others."""
    names = feature_columns(features)
    numeric = all(feature.kind == "numeric" for feature in features)
    if _native is None or not numeric or not names or not set(names) <= set(table.column_names):
        return None
    batches = table.select(names).to_batches()
    found = _native.list_columns(*batches[0].__arrow_c_array__()) if len(batches) == 1 else None
    if found is None:
        return None
    offsets, values = found
    return SetData.of_columns(dict(zip(names, values, strict=True)), offsets, {}, {})


def read_more_sets(X: object, features: Sequence[Feature], *, sets_of_one: bool) -> SetData:
    """Read sets for a model that was fitted on others.

    Parameters
    ----------
    X : frame, two-dimensional array or SetData
        See `read_sets`.
    features : sequence of Feature
        The columns to read.
    sets_of_one : bool
        Whether every set that the model was fitted on had one token. If not, a frame without any list column is
        refused: somebody has forgotten to group its rows.

    Returns
    -------
    SetData
        What `read_sets` returns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.sets import Feature, read_more_sets
    >>> read_more_sets(pa.table({"stars": [5, 4]}), [Feature("stars")], sets_of_one=True).sizes
    array([1, 1])
    """
    sets = read_sets(X, features)
    alone = sets.n_tokens == len(sets)  # lists have been seen otherwise
    if alone and not sets_of_one and is_frame(X) and not _holds_lists(X, features):
        raise ValueError(
            "The model was fitted on sets of several tokens, but no column of X holds lists, so that every row "
            "would be a set of one token. Group the rows by set first: clearset.from_long(X, by=...), or --by "
            "on the command line."
        )
    return sets


def _holds_lists(X: object, features: Sequence[Feature]) -> bool:
    columns = columns_of(X)
    names = [feature.name for feature in features if feature.name in columns.names]
    return any(is_list(columns.type_of(name)) for name in names)


class _Column(NamedTuple):
    """A column read: its values end to end, where its lists begin, and the categories its codes stand for."""

    name: str
    values: FloatArray
    offsets: IntArray | None
    categories: tuple[Category, ...] | None


def _read_column(columns: Columns, feature: Feature) -> _Column:
    elements, offsets = unnest(columns.read(feature.name))
    if feature.kind == "categorical":
        values, categories = to_codes(elements, feature)
        return _Column(feature.name, values, offsets, categories)
    return _Column(feature.name, to_numbers(elements, feature), offsets, None)


def _read_set_data(data: SetData, features: Sequence[Feature]) -> SetData:
    new_codes: dict[str, FloatArray] = {}
    categories = dict(data.categories)
    for feature in features:
        values, _ = data.column(feature.name)
        if feature.kind == "numeric" and feature.name in categories:
            raise TypeError(
                f"Feature {feature.name!r} is numeric but the SetData holds categories of it. Declare it "
                "kind='categorical'."
            )
        if feature.kind == "categorical" and feature.name not in categories:
            new_codes[feature.name], categories[feature.name] = to_codes(pa.chunked_array([pa.array(values)]), feature)
    if not new_codes:
        return data
    tokens, sets = (
        {name: new_codes.get(name, data.column(name)[0]) for name in names}
        for names in (data.feature_names, data.set_feature_names)
    )
    return SetData.of_columns(tokens, data.offsets, sets, categories)


def _require_sets(n_sets: int) -> None:
    if n_sets == 0:
        raise ValueError("X holds 0 sample(s), that is, no sets, while a minimum of 1 is required.")


def _common_offsets(lists: dict[str, IntArray]) -> IntArray:
    (first, expected), *others = lists.items()
    for other, found in others:
        if np.count_nonzero(differ := found != expected):
            row = int(np.argmax(differ)) - 1
            raise ValueError(
                f"Row {row} (counted from 0): column {first!r} holds {expected[row + 1] - expected[row]} token(s) but "
                f"column {other!r} holds {found[row + 1] - found[row]}. The list columns of a row describe the same "
                "tokens, so they must have one length; to shuffle rows, shuffle these columns together."
            )
    return expected


def _require_no_lists(columns: Columns, features: Sequence[Feature]) -> None:
    declared = [feature.name for feature in features]
    if not feature_columns(features):
        raise ValueError("No column is declared. Declare at least one token feature, with or without SIZE.")
    for name in PLACES:
        if name in declared:
            raise ValueError(
                f"{name} is the place of a token among those of list columns, but no such column is read. Group the "
                f"rows by set first: clearset.from_long(X, by=...), or leave {name} out."
            )
    if SIZE in declared:
        # SIZE would be 1 everywhere, which nobody means who has lists in the frame.
        for name in columns.names:
            if name not in declared and is_list(columns.type_of(name)):
                raise ValueError(
                    f"SIZE counts the tokens of list columns, but none is declared. Declare {name!r}, or "
                    "leave SIZE out."
                )
