"""Tuning: which options do best on validation data."""

from clearset.tuning._result import Tuning
from clearset.tuning._spaces import default_space
from clearset.tuning._tune import tune
from clearset.tuning._words import words

__all__ = ["Tuning", "default_space", "tune", "words"]
