"""What an engine is given to train several set functions together: the estimates of some are features of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from clearset.engines._problem import ResumableTrainer
from clearset.functions import Link, Loss, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, CrossedPositions, Positions

# Share of the steps in which the rate rises: Adam's first steps are as large as any, however little is known of the
# gradient, and the set functions have been trained already.
JOINT_WARM_UP = 0.1


@dataclass(frozen=True, eq=False)
class JointPart:
    """A set function in the unit of training, and what it must obey.

    Attributes
    ----------
    function : SetFunction
        Initial values, left untouched.
    shape : ShapeConstraints
        Its constraints.
    smoothness : Smoothness
        The penalty on its bends and twists.
    centre, scale : float
        Outputs in the labels' own unit are ``output * scale + centre``.
    """

    function: SetFunction
    shape: ShapeConstraints
    smoothness: Smoothness
    centre: float
    scale: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """Where a set function's estimates come from and go to.

    Attributes
    ----------
    positions : CrossedPositions
        The sets that it reads.
    link : Link
        From its outputs to estimates.
    features : sequence of int
        The features of the follow-on function that the estimates are.
    """

    positions: CrossedPositions
    link: Link
    features: Sequence[int]


@dataclass(frozen=True, eq=False)
class JointProblem:
    """What to minimise.

    Attributes
    ----------
    parts : sequence of JointPart
        The follow-on function's, and then one for each of the estimates.
    estimates : sequence of Estimate
        One for each further part, with the same sets.
    binning : Binning
        Of the follow-on function.
    positions : Positions
        Of the follow-on function's features; what they hold of estimates is not read.
    loss : Loss
        Of the follow-on function.
    targets, weights : ndarray of shape (B,)
        Labels in the loss's scaled unit, and weights.
    training, validation : ndarray of int64
        Numbers of sets.
    """

    parts: Sequence[JointPart]
    estimates: Sequence[Estimate]
    binning: Binning
    positions: Positions
    loss: Loss
    targets: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    training: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]


class JointTrainer(ResumableTrainer[list[SetFunction]], Protocol):
    """A training of several set functions together."""

    def validation_loss(self) -> float:
        """Return the loss of what would be kept now on validation data."""

    def loss_of(self, functions: Sequence[SetFunction]) -> float:
        """Return the loss of other set functions, in the unit of training, on validation data."""
