"""Generators of data whose true set function is known."""

from clearset.datasets._aggregations import AggregationData, make_aggregation
from clearset.datasets._reviews import ReviewData, make_reviews

__all__ = ["AggregationData", "ReviewData", "make_aggregation", "make_reviews"]
