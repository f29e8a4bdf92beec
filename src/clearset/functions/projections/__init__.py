"""Euclidean projections of parameters onto the sets that shape constraints allow, one kind a file."""

from clearset.functions.projections._chain import Chains
from clearset.functions.projections._constraints import ConstraintSet, ConstraintState
from clearset.functions.projections._curvature import curvature_rows
from clearset.functions.projections._edgeworth import edgeworth_rows
from clearset.functions.projections._halfspaces import HalfSpaces, ProjectionState
from clearset.functions.projections._monotone import monotone_rows
from clearset.functions.projections._order import order_rows
from clearset.functions.projections._trapezoid import trapezoid_rows

__all__ = [
    "Chains",
    "ConstraintSet",
    "ConstraintState",
    "HalfSpaces",
    "ProjectionState",
    "curvature_rows",
    "edgeworth_rows",
    "monotone_rows",
    "order_rows",
    "trapezoid_rows",
]
