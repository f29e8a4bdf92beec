"""The columns of joint models: frames with those of engines, and what the follow-on model reads of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from clearset.models._arrays import FloatArray
from clearset.sets import count_examples

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel

Column = str | tuple[str, ...]


def columns_of(column: Column) -> tuple[str, ...]:
    """Return the names of an engine's columns.

    Parameters
    ----------
    column : str or tuple of str
        The name of its column, or the names of its columns.

    Returns
    -------
    tuple of str
        The names.
    """
    return (column,) if isinstance(column, str) else tuple(column)


def estimates_table(
    engines: Mapping[Column, SemanticModel], known: Sequence[FloatArray], frame: nw.DataFrame[Any], dense: Sequence[str]
) -> pa.Table:
    """Put the engines' estimates and the dense columns of a frame side by side.

    Parameters
    ----------
    engines : mapping of str, or tuple of str, to SemanticModel
        The engines by column.
    known : sequence of ndarray of shape (n, 1) or (n, classes)
        What each engine estimates.
    frame : narwhals.DataFrame
        Where dense columns are.
    dense : sequence of str
        Their names; those of estimates among them are not looked up.

    Returns
    -------
    pyarrow.Table
        One row for each row of the frame.
    """
    table: dict[str, Any] = {}
    for (column, engine), estimates in zip(engines.items(), known, strict=True):
        table |= dict(zip(names_of(column, engine), estimates.T, strict=True))
    for name in dense:
        if name not in table and name in frame.columns:
            table[name] = frame[name].to_arrow()
    return pa.table(table)


def read_frame(X: Any, engines: Mapping[Column, Any]) -> nw.DataFrame[Any]:
    """Read a frame that has the columns of all engines.

    Parameters
    ----------
    X : frame
        Of pandas, polars or Arrow.
    engines : mapping of str, or tuple of str, to object
        The engines by column.

    Returns
    -------
    narwhals.DataFrame
        The frame.
    """
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"X must be a frame (pandas, polars, Arrow); received {type(X).__name__}.")
    count_examples(frame)  # refuses none
    missing = [name for column in engines for name in columns_of(column) if name not in frame.columns]
    if missing:
        raise ValueError(f"engines names the columns {missing}, but X has {frame.columns}.")
    return frame


def part_of(frame: nw.DataFrame[Any], column: Column) -> Any:
    """Return an engine's column, or its columns as a frame.

    Parameters
    ----------
    frame : narwhals.DataFrame
        Where it is.
    column : str or tuple of str
        The name, or the names.

    Returns
    -------
    series or frame
        Of the library that the frame came from.
    """
    return frame[column].to_native() if isinstance(column, str) else frame.select(*column).to_native()


def names_of(column: Column, engine: SemanticModel) -> list[str]:
    """Return the names of an engine's estimates.

    Parameters
    ----------
    column : str or tuple of str
        The column, or the columns, that the engine reads.
    engine : SemanticModel
        The engine.

    Returns
    -------
    list of str
        One name, or one for each of several classes.
    """
    return [str(name) for name in engine.get_feature_names_out(["_".join(columns_of(column))])]
