"""Spark DataFrames: that they are there, and their columns."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from clearset.sets import is_spark_frame, unknown_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_frame(df: Any) -> None:
    """Raise an error unless `df` is a DataFrame of Spark."""
    if find_spec("pyspark") is None:
        raise ImportError("clearset.spark needs PySpark, which is not installed: pip install 'clearset[spark]'.")
    if not is_spark_frame(df):
        raise TypeError(
            f"df is a {type(df).__name__}; clearset.spark takes a DataFrame of Spark. For other frames call the "
            "methods of the model."
        )


def check_columns(df: DataFrame, names: Sequence[str]) -> list[str]:
    """Return names of columns as a list; all of them have to be there."""
    for name in names:
        if name not in df.columns:
            raise ValueError(unknown_name("Column", name, df.columns))
    return list(names)


def one_row_of_nulls(df: DataFrame, names: Sequence[str]) -> pa.Table:
    """Return a row without values, of the types that the columns have in Arrow."""
    schema = df.limit(0).toArrow().schema
    return pa.table({name: pa.nulls(1, schema.field(name).type) for name in names})
