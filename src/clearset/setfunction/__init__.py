"""The set function: six layers, trained under shape constraints that are exact in the end."""

from clearset.setfunction._certificate import Certificate, Check
from clearset.setfunction._initial import initial_set_function, leanings
from clearset.setfunction._losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss
from clearset.setfunction._missing import fill_missing
from clearset.setfunction._module import Phi, Rho, SetFunction
from clearset.setfunction._shape import ShapeConstraints
from clearset.setfunction._smoothness import Smoothness
from clearset.setfunction._threads import one_torch_thread
from clearset.setfunction._training import Progress, Schedule, TrainingSets, token_positions, train
from clearset.setfunction._verify import certify

__all__ = [
    "CLASSIFICATION_LOSSES",
    "REGRESSION_LOSSES",
    "Certificate",
    "Check",
    "Loss",
    "Phi",
    "Progress",
    "Rho",
    "Schedule",
    "SetFunction",
    "ShapeConstraints",
    "Smoothness",
    "TrainingSets",
    "certify",
    "fill_missing",
    "initial_set_function",
    "leanings",
    "one_torch_thread",
    "token_positions",
    "train",
]
