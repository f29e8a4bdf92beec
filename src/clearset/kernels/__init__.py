"""The work on whole batches: phi with the mean over each set, plain or for many classes, and rho; several kernels."""

from clearset.kernels._crossed import crossed_mean, crossed_scores
from clearset.kernels._dispatch import available_kernels
from clearset.kernels._inputs import CrossedTokens, TokenPositions
from clearset.kernels._layout import MAX_VERTICES, Layout
from clearset.kernels._phi import phi_mean, phi_scores
from clearset.kernels._rho import rho

__all__ = [
    "MAX_VERTICES",
    "CrossedTokens",
    "Layout",
    "TokenPositions",
    "available_kernels",
    "crossed_mean",
    "crossed_scores",
    "phi_mean",
    "phi_scores",
    "rho",
]
