"""The set function: six layers, trained under shape constraints that are exact in the end."""

from clearset.setfunction._certificate import Certificate, Check
from clearset.setfunction._crossed import CrossedSets, CrossedTrainingSets
from clearset.setfunction._initial import initial_crossed_set_function, initial_set_function, leanings
from clearset.setfunction._losses import CLASSIFICATION_LOSSES, CROSSED_LOSSES, REGRESSION_LOSSES, Loss
from clearset.setfunction._missing import fill_missing, fill_missing_crossed
from clearset.setfunction._module import Phi, RefinedSetFunction, Rho, SetFunction
from clearset.setfunction._shape import ShapeConstraints
from clearset.setfunction._smoothness import Smoothness
from clearset.setfunction._threads import one_torch_thread
from clearset.setfunction._training import (
    Progress,
    Refinement,
    Schedule,
    TrainingSets,
    token_positions,
    train,
)
from clearset.setfunction._verify import certify

__all__ = [
    "CLASSIFICATION_LOSSES",
    "CROSSED_LOSSES",
    "REGRESSION_LOSSES",
    "Certificate",
    "Check",
    "CrossedSets",
    "CrossedTrainingSets",
    "Loss",
    "Phi",
    "Progress",
    "RefinedSetFunction",
    "Refinement",
    "Rho",
    "Schedule",
    "SetFunction",
    "ShapeConstraints",
    "Smoothness",
    "TrainingSets",
    "certify",
    "fill_missing",
    "fill_missing_crossed",
    "initial_crossed_set_function",
    "initial_set_function",
    "leanings",
    "one_torch_thread",
    "token_positions",
    "train",
]
