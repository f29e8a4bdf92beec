"""Measurements: ``python -m benchmarks.<name>`` writes a table to ``benchmarks/results/``."""
