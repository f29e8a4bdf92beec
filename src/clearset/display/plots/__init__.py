"""Plots: matplotlib figures, which are returned and never shown."""
