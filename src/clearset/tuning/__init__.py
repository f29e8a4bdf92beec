"""Tuning: which options do best on validation data."""

from clearset.tuning._extras import need
from clearset.tuning._lock import locked
from clearset.tuning._result import Tuning
from clearset.tuning._spaces import default_space
from clearset.tuning._tune import tune
from clearset.tuning._words import exact_words, words

__all__ = ["Tuning", "default_space", "exact_words", "locked", "need", "tune", "words"]
