"""The tables of the paper, and what it left unmeasured."""

from clearset.experiments._reproduce import reproduce

__all__ = ["reproduce"]
