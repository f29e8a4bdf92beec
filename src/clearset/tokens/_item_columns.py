"""Reading columns of items as users hold them: columns of lists, of texts or of categories, and pairs of columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from clearset.sets import (
    IntArray,
    combined,
    decode,
    is_list,
    is_string,
    lazy_frame_error,
    offsets_from_sizes,
    unknown_name,
    unnest,
)

STRING = pa.large_string()

_UNREADABLE = (pa.ArrowException, TypeError, UnicodeEncodeError, OverflowError)
_ALLOWED = "An example is a list of strings, one string, or with a two-column tokenizer a pair of these."


class Column(NamedTuple):
    """A column read: all strings one after the other, and where each row begins; without offsets one string a row."""

    strings: pa.LargeStringArray
    offsets: IntArray | None

    def sets(self) -> pa.LargeListArray:
        """Return one list of items a row; a single category is a set of one, a missing one an empty set."""
        if self.offsets is not None:
            return pa.LargeListArray.from_arrays(pa.array(self.offsets), self.strings)
        offsets = offsets_from_sizes(_present(self.strings))
        return pa.LargeListArray.from_arrays(pa.array(offsets), self.strings.drop_null())


def read_column(X: Any) -> Column:
    """Read one column of lists or of strings.

    Parameters
    ----------
    X : series, Arrow array, frame or array of one column, or list
        Numbers without fractions, booleans and dates become strings. A null list is an empty one, and nulls inside
        lists are left out.

    Returns
    -------
    Column
        The strings; a column of single strings keeps its nulls.

    Examples
    --------
    >>> from clearset.tokens import read_column
    >>> column = read_column([["salt", None, "sugar"], None])
    >>> column.strings.to_pylist(), column.offsets.tolist()
    (['salt', 'sugar'], [0, 2, 2])
    """
    return _strings(_only_column(X))


def read_pair(X: Any, left: str | int, right: str | int) -> tuple[Column, Column]:
    """Read two columns, by name or position, of a frame or of a two-dimensional array, or both halves of pairs."""
    a, b = (_strings(_picked(X, which)) for which in (left, right))
    return a, b


def read_rows(X: Any) -> list[Any]:
    """Return the examples as Python objects; a row of a frame of several columns as a tuple."""
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame) and len(frame.columns) != 1:
        return list(zip(*(frame.get_column(name).to_arrow().to_pylist() for name in frame.columns), strict=True))
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != 1:
        return [tuple(row) for row in X.tolist()]
    if frame is None and isinstance(X, Sequence) and not isinstance(X, str):
        return list(X)
    column: list[Any] = _only_column(X).to_pylist()
    return column


def from_python(rows: list[Any]) -> pa.ChunkedArray:
    """Turn Python rows into Arrow; an error names the first row that does not fit."""
    rows = [list(row) if isinstance(row, set | frozenset) else row for row in rows]
    try:
        return _chunked(pa.array(rows, from_pandas=True))
    except _UNREADABLE as error:
        raise TypeError(_first_bad_row(rows, error)) from None


def _frame(X: Any) -> Any:
    """Return a narwhals frame or series, or None where `X` is neither."""
    if isinstance(X, list | tuple | np.ndarray):
        return None  # as narwhals would find out more slowly
    frame = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise lazy_frame_error(X)
    return frame if isinstance(frame, nw.DataFrame | nw.Series) else None


def _only_column(X: Any) -> pa.ChunkedArray:
    if isinstance(X, pa.Array | pa.ChunkedArray):
        return _chunked(X)
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        if len(frame.columns) != 1:
            raise ValueError(
                f"X has {len(frame.columns)} columns ({', '.join(map(repr, frame.columns[:5]))}) where one column of "
                "items is needed. Select it, or use a two-column tokenizer: Cross or Difference."
            )
        frame = frame.get_column(frame.columns[0])
    if isinstance(frame, nw.Series):
        return _series(frame)
    if isinstance(X, np.ndarray):
        return _array_column(X)
    if isinstance(X, list | tuple):
        return from_python(list(X))
    raise TypeError(
        f"X is a {type(X).__name__}; give a column (pandas, polars, Arrow), a frame of one column, or a list. "
        + _ALLOWED
    )


def _picked(X: Any, which: str | int) -> pa.ChunkedArray:
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        names = list(frame.columns)
        if isinstance(which, str) and which not in names:
            raise ValueError(unknown_name("Column", which, names))
        _check_position(which, len(names))
        return _series(frame.get_column(which if isinstance(which, str) else names[which]))
    if isinstance(which, str):
        raise TypeError(
            f"Column {which!r} is asked for by name but X is a {type(X).__name__}, which has no names. Pass a frame, "
            "or give positions such as left=0, right=1."
        )
    if isinstance(X, np.ndarray) and X.ndim == 2:
        _check_position(which, X.shape[1])
        return _array_column(X[:, which])
    if not isinstance(X, list | tuple | np.ndarray):
        raise TypeError(f"X is a {type(X).__name__} where two columns are needed. Pass a frame or a list of pairs.")
    for place, row in enumerate(X):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) <= which:
            raise ValueError(
                f"Row {place} (counted from 0) of X is {str(row)[:60]!r}, which has no position {which}. With a "
                "two-column tokenizer every row is a pair: (items, items)."
            )
    return from_python([row[which] for row in X])


def _check_position(which: str | int, n_columns: int) -> None:
    if isinstance(which, int) and which >= n_columns:
        raise ValueError(f"Column {which} is asked for but X has only {n_columns} column(s), counted from 0.")


def _series(series: nw.Series[Any]) -> pa.ChunkedArray:
    try:
        return _chunked(series.to_arrow())
    except _UNREADABLE:  # Python objects: read again, so that the error can name the row
        return from_python(series.to_list())


def _array_column(array: np.ndarray[Any, Any]) -> pa.ChunkedArray:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"X is an array of shape {array.shape}; give one column. {_ALLOWED}")
    return from_python(list(array)) if array.dtype.kind == "O" else _chunked(pa.array(array))


def _chunked(column: Any) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _strings(column: pa.ChunkedArray) -> Column:
    elements, offsets = unnest(column)
    elements = decode(elements)
    _check_type(elements, offsets)
    strings = combined(elements.cast(STRING))
    if offsets is None:
        return Column(strings, None)
    if strings.null_count:
        offsets = offsets_from_sizes(_present(strings))[offsets]
        strings = strings.drop_null()
    return Column(strings, offsets)


def _present(strings: pa.LargeStringArray) -> IntArray:
    """Return 1 where there is a string and 0 where it is missing."""
    present: IntArray = strings.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
    return present


def _check_type(elements: pa.Array | pa.ChunkedArray, offsets: IntArray | None) -> None:
    type_ = elements.type
    if is_string(type_) or types.is_null(type_) or types.is_integer(type_) or types.is_boolean(type_):
        return
    if types.is_temporal(type_) or types.is_decimal(type_):
        return
    if types.is_floating(type_):
        what = "numbers with fractions"
        advice = "Items are names; for sets of numbers use SetRegressor or SetClassifier."
    elif is_list(type_):
        what = "lists in lists"
        advice = "Every row is one list of items: unnest one level."
    else:
        what, advice = f"values of type {type_}", _ALLOWED
    present = np.flatnonzero(pc.is_valid(elements).to_numpy(zero_copy_only=False))
    where = ""
    if len(present):
        first = int(present[0])
        row = first if offsets is None else int(np.searchsorted(offsets, first, side="right")) - 1
        where = f" (first in row {row}, counted from 0: {str(elements[first].as_py())[:40]!r})"
    raise TypeError(f"X holds {what}{where}. {advice}")


def _first_bad_row(rows: list[Any], error: Exception) -> str:
    """Look for the row that Arrow stumbled over: one it cannot read alone, or of another type than those before."""
    expected = None
    for place, row in enumerate(rows):
        shown = f"Row {place} (counted from 0) of X cannot be read: {str(row)[:60]!r}"
        try:
            type_ = pa.array([row], from_pandas=True).type
        except _UNREADABLE:
            return f"{shown}. Its items are of several types or no strings. {_ALLOWED}"
        item = type_.value_type if is_list(type_) else type_
        if types.is_null(item):
            continue
        expected = expected or (type_, place)
        if type_ != expected[0]:
            return f"{shown}. It holds {type_}, while row {expected[1]} holds {expected[0]}. {_ALLOWED}"
    return f"X cannot be read: {error}. {_ALLOWED}"
