"""Euclidean projections of parameters onto the sets that shape constraints allow, one kind a file."""

from clearset.lattice.projections._bounds import projection_bounds
from clearset.lattice.projections._chain import Chains, projection_chain, projection_chains
from clearset.lattice.projections._constraints import ConstraintSet, ConstraintState
from clearset.lattice.projections._curvature import curvature_rows, projection_curvature
from clearset.lattice.projections._edgeworth import edgeworth_rows, projection_edgeworth
from clearset.lattice.projections._halfspaces import HalfSpaces, ProjectionState
from clearset.lattice.projections._monotone import monotone_rows, projection_monotone_lattice
from clearset.lattice.projections._order import order_rows, projection_order
from clearset.lattice.projections._trapezoid import projection_trapezoid, trapezoid_rows

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
    "projection_bounds",
    "projection_chain",
    "projection_chains",
    "projection_curvature",
    "projection_edgeworth",
    "projection_monotone_lattice",
    "projection_order",
    "projection_trapezoid",
    "trapezoid_rows",
]
