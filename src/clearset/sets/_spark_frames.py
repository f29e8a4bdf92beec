"""Data frames of Spark, which are known by their type alone: pyspark is an extra."""

import sys
from typing import Any


def is_spark_frame(X: object) -> bool:
    """Return whether `X` is a DataFrame of Spark.

    Examples
    --------
    >>> from clearset.sets import is_spark_frame
    >>> is_spark_frame([[1.0]])
    False
    """
    # Who has one has imported pyspark.
    pyspark: Any = sys.modules.get("pyspark.sql")
    return pyspark is not None and isinstance(X, pyspark.DataFrame)


def lazy_frame_error(X: object) -> TypeError:
    """Return the error for frames whose rows are not in memory, with what to do instead."""
    if is_spark_frame(X):
        return TypeError(
            "X is a DataFrame of Spark, whose rows are on its executors. Use the functions of clearset.spark: "
            "predict(model, df), predict_proba, transform, explain, and fit(estimator, df, y); or collect it: "
            "df.toArrow()."
        )
    return TypeError("X is a lazy frame, whose rows are not computed yet. Collect it first: X.collect().")
