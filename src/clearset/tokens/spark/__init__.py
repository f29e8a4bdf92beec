"""Token tables counted by Spark: partial counts on the executors, added up by its shuffle."""

from clearset.tokens.spark._engine import build_with_spark

__all__ = ["build_with_spark"]
