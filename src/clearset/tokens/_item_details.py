"""Details: numbers that an example has for each of its items, such as an actor's salary in a film."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.tokens._codes import Coded, Float64, Found, Int64
from clearset.tokens._features import NAMES
from clearset.tokens._table import TokenTable
from clearset.tokens._vocabulary import encode, places_in


def read_details(X: Any, names: Sequence[str]) -> tuple[Any, Mapping[str, pa.Array]]:
    """Return the columns of items, and the columns of details by name.

    Parameters
    ----------
    X : column of lists or of strings, frame, or list
        The examples; if there are details, a frame whose other columns hold items.
    names : sequence of str
        The columns of details: lists of numbers, in every row as long as the list of items.
    """
    if not names:
        return X, {}
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"details names columns {list(names)}, so X must be a frame (pandas, polars, Arrow); received "
            f"{type(X).__name__}."
        )
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(f"details names {missing}, but X has the columns {frame.columns}.")
    columns = {}
    for name in names:
        column = frame.get_column(name).to_arrow()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        try:
            columns[name] = column.cast(pa.large_list(pa.float64()))
        except pa.ArrowException as error:
            raise TypeError(f"Details {name!r} must be a column of lists of numbers: {error}.") from None
    return frame.drop(list(names)).to_native(), columns


def check_details(details: Any) -> tuple[str, ...]:
    """Return the names of columns of details; raise an error unless they are such names."""
    if (
        isinstance(details, str)
        or not isinstance(details, Iterable)
        or not all(isinstance(name, str) for name in details)
    ):
        raise TypeError(f"details must be a list of column names; received {details!r}.")
    clash = [name for name in details if name in NAMES]
    if clash:
        raise ValueError(f"details names {clash}, which clearset knows as features of tokens. Rename the columns.")
    return tuple(details)


def details_of_tokens(table: TokenTable, X: Any, columns: Mapping[str, pa.Array], found: Found) -> dict[str, Float64]:
    """Return the details of tokens, ``(T,)`` each: the mean over the token's items; NaN where none is known."""
    if not columns:
        return {}
    strings, coded = encode(table.tokenizer.parts(X))
    codes, n_codes = places_in(strings, table.vocabulary)[coded.codes], len(table.vocabulary)
    known = codes >= 0
    keys = (coded.rows * n_codes + codes)[known]
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    items = table.items_of(found.tokens)
    rows = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    places = np.searchsorted(distinct, np.repeat(rows, items.sizes) * n_codes + items.codes)
    details = {}
    for name, column in columns.items():
        # An example may have an item more than once.
        of_items = _mean_by_run(_numbers(name, column, coded)[known][order], starts)
        details[name] = _mean_by_run(of_items[places], items.offsets[:-1])
    return details


def _numbers(name: str, column: pa.Array, coded: Coded) -> Float64:
    column = pc.fill_null(column, pa.scalar([], column.type))
    lengths = np.diff(column.offsets.to_numpy())
    if (lengths != coded.sizes).any():
        row = int(np.argmax(lengths != coded.sizes))
        raise ValueError(
            f"Row {row} (counted from 0) has {coded.sizes[row]} items but {lengths[row]} values of {name!r}. Give one "
            "value for each item."
        )
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    if np.isinf(numbers).any():
        raise ValueError(f"Details {name!r} hold infinity. Replace it by null for missing values.")
    return np.asarray(numbers, dtype=np.float64)


def _mean_by_run(numbers: Float64, starts: Int64) -> Float64:
    """Average each run of numbers; NaN where none of them is known."""
    if not len(starts):
        return np.empty(0)
    present = ~np.isnan(numbers)
    sums = np.add.reduceat(np.where(present, numbers, 0.0), starts)
    counts = np.add.reduceat(present.astype(np.float64), starts)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
