"""From one row per token to one row per set."""

from collections.abc import Sequence
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ._arrow_columns import decode
from ._columns_as_arrow import Columns, as_frame, columns_of
from ._offsets import IntArray, offsets_from_sizes
from ._unknown_names import unknown_name

FrameT = TypeVar("FrameT")


class NotConstantError(ValueError):
    """A column that should describe whole sets differs within one.

    Parameters
    ----------
    name : str
        The column.
    found : str
        What it holds, as a sentence that does not say what to do.
    """

    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"{found} Leave it out of set_columns to make it a token feature.")
        self.name, self.found = name, found


def from_long(frame: FrameT, by: str | Sequence[str], set_columns: str | Sequence[str] = ()) -> FrameT:
    """Turn a frame with one row per token into one with one row per set.

    Parameters
    ----------
    frame : pandas, polars or Arrow frame
        One row per token. The rows of a set need not stand together.
    by : str or sequence of str
        Column or columns that say which set a row belongs to.
    set_columns : str or sequence of str, default=()
        Columns that describe the whole set; constant within a set.

    Returns
    -------
    frame of the same kind
        One row per set, in order of first appearance: the key columns, the set columns, then every other
        column as a list column, in the order of the rows. In pandas, list columns have an Arrow dtype.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.sets import from_long
    >>> long = pa.table({"product": ["b", "a", "b"], "price": [9, 5, 9], "stars": [5, 4, 1]})
    >>> from_long(long, by="product", set_columns="price").to_pylist()
    [{'product': 'b', 'price': 9, 'stars': [5, 1]}, {'product': 'a', 'price': 5, 'stars': [4]}]
    """
    narwhal = as_frame(frame)
    columns = columns_of(frame)
    keys, per_set = _checked_names(columns, by, set_columns)
    token_columns = [name for name in columns.names if name not in (*keys, *per_set)]
    if not token_columns:
        raise ValueError("Every column is a key or a set column. At least one must be left to describe tokens.")
    if not columns.n_rows:
        raise ValueError("The frame has no rows, so there are no sets.")
    codes, first_rows = _codes_of_sets(columns, keys)
    for name in per_set:
        _require_constant(columns, name, keys, codes, first_rows)
    order = np.argsort(codes, kind="stable")
    offsets = pa.array(offsets_from_sizes(np.bincount(codes)))
    lists = {
        name: pa.LargeListArray.from_arrays(offsets, columns.read(name).take(order).combine_chunks())
        for name in token_columns
    }
    whole: FrameT = _with_lists(narwhal.select(*keys, *per_set)[first_rows], lists)
    return whole


def _checked_names(
    columns: Columns, by: str | Sequence[str], set_columns: str | Sequence[str]
) -> tuple[list[str], list[str]]:
    keys = [by] if isinstance(by, str) else list(by)
    per_set = [set_columns] if isinstance(set_columns, str) else list(set_columns)
    if not keys:
        raise ValueError("by is empty. Name the column that says which set a row belongs to.")
    for place, name in enumerate(names := keys + per_set):
        if name not in columns.names:
            raise ValueError(unknown_name("Column", name, columns.names))
        if name in names[:place]:
            raise ValueError(f"Column {name!r} is named twice in by and set_columns.")
    return keys, per_set


def _codes_of_sets(columns: Columns, keys: list[str]) -> tuple[IntArray, IntArray]:
    """Return for every row the number of its set, and the first row of every set."""
    codes: IntArray = np.zeros(columns.n_rows, dtype=np.int64)
    for key in keys:
        own = _codes(columns, key)
        if (own < 0).any():
            raise ValueError(
                f"Key column {key!r} is null in row {int(np.argmax(own < 0))} (counted from 0). Every token "
                "belongs to a set: drop such rows, or fill in the key."
            )
        # Encoding numbers the distinct pairs anew, so the product stays far below 2^63.
        pairs = pa.array(codes * (own.max() + 1) + own).dictionary_encode()
        codes = pairs.indices.to_numpy().astype(np.int64)
    # Codes are numbered by first appearance, so a set begins where the largest code so far grows.
    largest = np.maximum.accumulate(codes)
    return codes, np.flatnonzero(np.diff(largest, prepend=-1))


def _codes(columns: Columns, name: str) -> IntArray:
    """Return a number for every distinct value of a column, -1 for null and NaN."""
    column = decode(columns.read(name))
    if types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    try:
        encoded = column.dictionary_encode().combine_chunks()
    except pa.ArrowNotImplementedError:
        raise TypeError(
            f"Column {name!r} holds values of type {column.type}, which cannot be compared. A key or set "
            "column holds plain values."
        ) from None
    codes: IntArray = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return codes


def _require_constant(columns: Columns, name: str, keys: list[str], codes: IntArray, first_rows: IntArray) -> None:
    own = _codes(columns, name)
    differ: npt.NDArray[np.bool_] = own != own[first_rows][codes]
    if differ.any():
        row = int(np.argmax(differ))
        column = columns.read(name)
        key = ", ".join(f"{key}={columns.read(key)[row].as_py()!r}" for key in keys)
        raise NotConstantError(
            name,
            f"Column {name!r} is not constant within the set {key}: it holds "
            f"{column[int(first_rows[codes[row]])].as_py()!r} and, in row {row} (counted from 0), "
            f"{column[row].as_py()!r}.",
        )


def _with_lists(frame: nw.DataFrame[Any], lists: dict[str, pa.Array]) -> Any:
    native = frame.to_native()
    if isinstance(native, pa.Table):
        for name, column in lists.items():
            native = native.append_column(name, column)
        return native
    library = nw.get_native_namespace(frame)
    if frame.implementation.is_polars():
        return native.with_columns(library.Series(name, column) for name, column in lists.items())
    if frame.implementation.is_pandas():
        native = native.reset_index(drop=True)
        for name, column in lists.items():
            native[name] = library.array(column, dtype=library.ArrowDtype(column.type))
        return native
    raise TypeError(f"from_long gives pandas, polars or Arrow frames; received {type(native).__name__}.")
