"""The work on whole batches: phi with the mean over each set, and rho. One signature each, several kernels."""

from clearset.kernels._dispatch import available_kernels
from clearset.kernels._inputs import TokenPositions
from clearset.kernels._layout import MAX_VERTICES, Layout
from clearset.kernels._phi import phi_mean, phi_scores
from clearset.kernels._rho import rho

__all__ = ["MAX_VERTICES", "Layout", "TokenPositions", "available_kernels", "phi_mean", "phi_scores", "rho"]
