"""Ours and its peers side by side, in one run on the same generated data: ``python -m benchmarks.peers``."""
