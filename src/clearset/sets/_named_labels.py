"""Labels and weights of data in files, which are named by their columns."""

from typing import Any

import numpy.typing as npt
import pyarrow as pa

from ._arrow_columns import is_list
from ._stream import Stream, as_stream


def named_labels(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return labels and weights in the order in which predictions for `X` come.

    Parameters
    ----------
    X : object
        The sets, in memory or in files.
    y, sample_weight : str, array-like or None
        Names of columns of the files, or one value for each set.

    Returns
    -------
    y, sample_weight : array-like or None
        One value for each set.
    """
    if not isinstance(y, str) and not isinstance(sample_weight, str):
        return y, sample_weight
    stream = as_stream(X, by_path=False)
    return labels_of(stream, y, "y"), labels_of(stream, sample_weight, "sample_weight")


def labels_of(stream: Stream | None, values: Any, argument: str) -> Any:
    """Return labels or weights: of a stream they are named by a column, else they are given.

    Parameters
    ----------
    stream : Stream or None
        The rows, where data are a stream.
    values : str or array-like
        The name of a column, or one value for each row.
    argument : str
        What the user calls them.

    Returns
    -------
    array-like
        One value for each row.
    """
    if not isinstance(values, str):
        if stream is not None and values is not None and not stream.as_listed:
            raise ValueError(
                f"{argument} is given apart from the data set, whose files are read in the order of their paths, not "
                "as they are listed. Name the column that holds it, or list the files by path."
            )
        return values
    if stream is None:
        raise TypeError(
            f"{argument} is {values!r}, the name of a column, which is for data in files. Give an array with one value "
            "for each set."
        )
    column = stream.column(values)
    if is_list(column.type):
        raise ValueError(f"Column {values!r} holds lists; a label or weight is one value for each set.")
    if column.null_count:
        raise ValueError(f"Column {values!r} has {column.null_count:,} missing values. Remove these rows.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    numbers: npt.NDArray[Any] = column.to_numpy()
    return numbers.astype(str) if numbers.dtype.kind == "O" else numbers
