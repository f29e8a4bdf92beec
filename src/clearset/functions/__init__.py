"""The set function as data: its tables, what they must obey, and what its outputs mean."""

from clearset.functions._certificate import Certificate, Check, Promise
from clearset.functions._declared_constraints import lattice_direction, monotonic_name, shape_name, trust_name
from clearset.functions._function import Rho, SetFunction
from clearset.functions._interactions import Interactions
from clearset.functions._layout import MAX_VERTICES, Layout
from clearset.functions._link import Link
from clearset.functions._losses import CLASSIFICATION_LOSSES, CROSSED_LOSSES, REGRESSION_LOSSES, Loss
from clearset.functions._shape_constraints import ShapeConstraints
from clearset.functions._smoothness import Penalty, Smoothness
from clearset.runtime import Support, enough

__all__ = [
    "CLASSIFICATION_LOSSES",
    "CROSSED_LOSSES",
    "MAX_VERTICES",
    "REGRESSION_LOSSES",
    "Certificate",
    "Check",
    "Interactions",
    "Layout",
    "Link",
    "Loss",
    "Penalty",
    "Promise",
    "Rho",
    "SetFunction",
    "ShapeConstraints",
    "Smoothness",
    "Support",
    "enough",
    "lattice_direction",
    "monotonic_name",
    "shape_name",
    "trust_name",
]
