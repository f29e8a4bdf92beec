"""Where the examples of a token table are, and where they are to be counted."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from clearset.sets import is_spark_frame, one_column
from clearset.tokens._filters import Filter
from clearset.tokens._table import TokenTable
from clearset.tokens._tokenizers import Items, Tokenizer
from clearset.tokens.spark._build import build_on_spark, columns_of_items


def build_with_spark(
    X: Any,
    y: Any,
    tokenizer: Tokenizer,
    filters: tuple[Filter, ...],
    engine: Any,
    *,
    task: str = "auto",
    sample_weight: Any = None,
) -> TokenTable:
    """Build a table of data that are on Spark, or that are to be counted there; see `TokenTable.build`."""
    if is_spark_frame(X):
        if isinstance(engine, str) and engine == "local":
            columns, _ = columns_of_items(X, y, sample_weight, tokenizer)
            rows = X.toArrow()
            weights = None if sample_weight is None else rows[sample_weight]
            return TokenTable.build(
                rows.select(list(columns)), rows[y], tokenizer, filters, task=task, sample_weight=weights
            )
        if not (isinstance(engine, str) and engine == "auto"):
            _check_session(engine)
        return build_on_spark(X, y, tokenizer, filters, task, sample_weight)
    _check_session(engine)
    items = tokenizer.parts(X)
    rows = {"items": items.cast(pa.list_(pa.string())), "label": one_column(y, "y", len(items))}
    if sample_weight is not None:
        rows["weight"] = one_column(sample_weight, "sample_weight", len(items))
    frame = engine.createDataFrame(pa.table(rows))
    weight = None if sample_weight is None else "weight"
    return build_on_spark(frame, "label", tokenizer, filters, task, weight, reader=Items())


def _check_session(engine: Any) -> None:
    if find_spec("pyspark") is None:
        raise ImportError("Counting on Spark needs PySpark, which is not installed: pip install 'clearset[spark]'.")
    from pyspark.sql import SparkSession

    if not isinstance(engine, SparkSession):
        raise ValueError(f"engine is {engine!r}; choose 'auto', 'local' or a SparkSession.")
