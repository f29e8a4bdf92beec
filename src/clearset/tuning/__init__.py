"""Tuning: which options do best on validation data."""

from clearset.tuning._default_spaces import default_space
from clearset.tuning._optional_packages import need
from clearset.tuning._result import Tuning
from clearset.tuning._tune import tune
from clearset.tuning._value_texts import words

__all__ = ["Tuning", "default_space", "need", "tune", "words"]
