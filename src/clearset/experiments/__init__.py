"""The tables of the paper, and further measurements."""

from clearset.experiments._reproduce import reproduce

__all__ = ["reproduce"]
