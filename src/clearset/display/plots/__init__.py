"""Plots: matplotlib figures, which are returned and never shown."""

from clearset.display.plots._calibrators import plot_calibrators
from clearset.display.plots._dependence import plot_partial_dependence
from clearset.display.plots._history import plot_history
from clearset.display.plots._lattice import plot_lattice
from clearset.display.plots._quality import plot_quality, reliability
from clearset.display.plots._rho import plot_rho
from clearset.display.plots._waterfall import plot_waterfall

__all__ = [
    "plot_calibrators",
    "plot_history",
    "plot_lattice",
    "plot_partial_dependence",
    "plot_quality",
    "plot_rho",
    "plot_waterfall",
    "reliability",
]
