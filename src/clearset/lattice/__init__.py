"""The layers of deep lattice networks as torch modules, and the projections that keep their shape."""

from clearset.lattice._calibrators import CategoricalCalibrator, PiecewiseLinear
from clearset.lattice._interpolate import interpolate_lattice, interpolate_line
from clearset.lattice._lattice import Lattice
from clearset.lattice._linear import MonotoneLinear

__all__ = [
    "CategoricalCalibrator",
    "Lattice",
    "MonotoneLinear",
    "PiecewiseLinear",
    "interpolate_lattice",
    "interpolate_line",
]
