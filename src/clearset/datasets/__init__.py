"""Generators of data whose true set function is known, and loaders of public data."""

from clearset.datasets._aggregations import AggregationData, make_aggregation
from clearset.datasets._celeba import load_celeba
from clearset.datasets._files import Source, find_file
from clearset.datasets._intent import load_intent
from clearset.datasets._labelled import Labelled
from clearset.datasets._puzzles import PuzzleData, load_puzzles
from clearset.datasets._recipes import load_recipes
from clearset.datasets._reviews import ReviewData, make_reviews
from clearset.datasets._wine import load_wine

__all__ = [
    "AggregationData",
    "Labelled",
    "PuzzleData",
    "ReviewData",
    "Source",
    "find_file",
    "load_celeba",
    "load_intent",
    "load_puzzles",
    "load_recipes",
    "load_wine",
    "make_aggregation",
    "make_reviews",
]
