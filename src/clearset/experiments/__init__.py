"""The tables of the paper, and what it left unmeasured."""
