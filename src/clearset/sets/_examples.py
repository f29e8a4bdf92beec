"""Rows of frames, columns, arrays and lists."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._file_rows import FileRows
from ._spark_frames import is_spark_frame, lazy_frame_error


def count_examples(X: Any) -> int:
    """Return the number of examples; raise an error if there are none, or if `X` is no such thing."""
    if is_spark_frame(X):
        raise lazy_frame_error(X)
    if not hasattr(X, "__len__") or isinstance(X, str | bytes | Mapping | AbstractSet):
        raise TypeError(f"X must be a column of lists or strings, a frame, or a list; received {type(X).__name__}.")
    if not len(X):
        raise ValueError("X holds no examples: 0 samples, while at least 1 is required.")
    return len(X)


def take_examples(X: Any, rows: npt.NDArray[np.integer]) -> Any:
    """Return some rows of a frame, column, array or list.

    Examples
    --------
    >>> import numpy as np
    >>> take_examples(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(X, FileRows):
        return X.take(rows)
    if isinstance(X, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return X.take(pa.array(rows))
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    data = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(data, nw.DataFrame):
        return data[rows, :].to_native()
    if isinstance(data, nw.Series):
        return data[rows].to_native()
    return X[rows]


def column_names(X: Any) -> npt.NDArray[Any] | None:
    """Return the names of a frame's columns, or of a series that has one; None for what has none."""
    if isinstance(X, FileRows):
        X = X.stream.schema.empty_table()
    data = nw.from_native(X, allow_series=True, pass_through=True)
    names = list(data.columns) if isinstance(data, nw.DataFrame) else []
    if isinstance(data, nw.Series) and data.name:
        names = [data.name]
    strings = all(isinstance(name, str) for name in names)
    return np.array(names, dtype=object) if names and strings else None
