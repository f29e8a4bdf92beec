"""Interpretable learning on sets."""
