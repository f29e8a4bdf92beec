"""The columns of frames and arrays, each read as Arrow when it is needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._arrow_columns import is_list
from ._built_in import BUILT_IN
from ._spark_frames import lazy_frame_error
from ._unknown_names import unknown_name

_UNREADABLE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError)


@dataclass(frozen=True)
class Columns:
    """The columns of a frame or array; only those that are read are converted."""

    names: tuple[Any, ...]
    n_rows: int
    convert: Callable[[str, bool], Any]

    def read(self, name: str) -> pa.ChunkedArray:
        """Return a column as Arrow; TypeError if Arrow has no type for what it holds."""
        if name not in self.names:
            raise ValueError(unknown_name("Column", name, self.names))
        try:
            column = self.convert(name, False)
        except _UNREADABLE as error:
            raise TypeError(
                f"Column {name!r} cannot be read: {error}. A column holds values of one type, or in every "
                "row a list of such values."
            ) from None
        return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])

    def type_of(self, name: str) -> pa.DataType:
        """Return the Arrow type of a column, null if it has none."""
        try:
            return self.convert(name, True).type
        except _UNREADABLE:
            return pa.null()


def is_frame(X: object) -> bool:
    """Return whether `X` is a data frame: of pandas, polars, Arrow, or another library that narwhals knows.

    A pandas frame with numbered columns counts as an array, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from clearset.sets import is_frame
    >>> is_frame(pa.table({"stars": [[5, 4], [1]]})), is_frame(np.zeros((2, 3)))
    (True, False)
    """
    if isinstance(X, pa.Table):
        return True
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return all(isinstance(name, str) for name in frame.columns)
    return isinstance(frame, nw.LazyFrame)


def library_of(X: object) -> str | None:
    """Return the library of a frame or column: pandas, polars or pyarrow; None for everything else.

    Examples
    --------
    >>> from clearset.sets import library_of
    >>> library_of(pa.array([[5, 4], [1]]))
    'pyarrow'
    """
    if isinstance(X, pa.Array | pa.RecordBatch):
        return "pyarrow"
    native = nw.from_native(X, allow_series=True, pass_through=True)
    if not isinstance(native, nw.DataFrame | nw.Series):
        return None
    known = native.implementation
    return "pandas" if known.is_pandas() else "polars" if known.is_polars() else "pyarrow"


def as_frame(X: object) -> nw.DataFrame[Any]:
    """Return a narwhals view of a frame whose rows are in memory."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise lazy_frame_error(X)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"A data frame is needed (pandas, polars, Arrow table); received {type(X).__name__}.")
    _check_names(frame.columns)
    return frame


def _check_names(names: Sequence[str]) -> None:
    for name in BUILT_IN:
        if name in names:
            raise ValueError(f"A column is named {name!r}, which is reserved. Rename the column.")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"X has more than one column named {', '.join(map(repr, twice))}. Rename them.")


def columns_of(X: object) -> Columns:
    """Return the columns of a frame, or of a two-dimensional array as x0, x1, ..."""
    if isinstance(X, pa.Table):
        _check_names(X.column_names)
        return Columns(tuple(X.column_names), len(X), lambda name, _: X.column(name))
    return _columns_of_frame(as_frame(X)) if is_frame(X) else _columns_of_array(X)


def _columns_of_frame(frame: nw.DataFrame[Any]) -> Columns:
    def convert(name: str, only_type: bool) -> Any:
        series = frame.get_column(name)
        # A column of Python objects has no type before all of it is looked at.
        return (series.head(0) if only_type and series.dtype != nw.Object else series).to_arrow()

    return Columns(tuple(frame.columns), len(frame), convert)


def _columns_of_array(X: object) -> Columns:
    array = _checked_array(X)
    names = tuple(f"x{place}" for place in range(array.shape[1]))

    def convert(name: str, only_type: bool) -> Any:
        column = array[:, names.index(name)]
        if array.dtype.kind == "O":
            return pa.array(column, from_pandas=True)
        return pa.array(np.ascontiguousarray(column[:0] if only_type else column))

    return Columns(names, len(array), convert)


def holds_lists(X: object) -> bool:
    """Return whether `X` is an array of Python objects that has columns of lists, such as scikit-learn makes of frames.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import holds_lists
    >>> array = np.empty((2, 1), dtype=object)
    >>> array[:, 0] = [[5, 4], [1]]
    >>> holds_lists(array), holds_lists(np.zeros((2, 1)))
    (True, False)
    """
    if not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2:
        return False
    columns = _columns_of_array(X)
    return any(is_list(columns.type_of(name)) for name in columns.names)


def name_columns(X: object, names: Sequence[str]) -> pa.Table:
    """Return a two-dimensional array as a table, whose columns have these names in order.

    Examples
    --------
    >>> from clearset.sets import name_columns
    >>> name_columns([[1.5, 2.0]], ["price", "stars"]).to_pylist()
    [{'price': 1.5, 'stars': 2.0}]
    """
    columns = _columns_of_array(X)
    return pa.table({name: columns.read(place) for name, place in zip(names, columns.names, strict=True)})


def _checked_array(X: object) -> npt.NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"X is neither a frame nor a two-dimensional array: {error}. Put sets of differing sizes "
            "into a frame with list columns, or into a SetData."
        ) from None
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported. Pass real and imaginary parts as two features.")
    if array.ndim != 2:
        raise ValueError(
            f"X is a frame, a SetData or a two-dimensional array; received {type(X).__name__} with "
            f"{array.ndim} dimension(s). Reshape your data, e.g. X.reshape(-1, 1) for a single feature."
        )
    if array.shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return array
