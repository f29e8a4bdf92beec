"""phi, then the mean over each set: one signature, several kernels."""

from clearset.kernels._dispatch import available_kernels, phi_mean, phi_scores
from clearset.kernels._inputs import TokenPositions
from clearset.kernels._layout import Layout

__all__ = ["Layout", "TokenPositions", "available_kernels", "phi_mean", "phi_scores"]
