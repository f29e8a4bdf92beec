"""Euclidean projections of parameters onto what shape constraints allow, and the rows of each kind of constraint."""

from clearset.functions.projections._calibrator_rows import curvature_rows, order_rows
from clearset.functions.projections._chain import Chains
from clearset.functions.projections._constraints import ConstraintSet, ConstraintState
from clearset.functions.projections._halfspaces import HalfSpaces
from clearset.functions.projections._lattice_rows import edgeworth_rows, monotone_rows, trapezoid_rows

__all__ = [
    "Chains",
    "ConstraintSet",
    "ConstraintState",
    "HalfSpaces",
    "curvature_rows",
    "edgeworth_rows",
    "monotone_rows",
    "order_rows",
    "trapezoid_rows",
]
