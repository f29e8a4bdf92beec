"""What an engine is given to train: a set function, what it must obey, labelled sets, and a schedule."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from clearset.engines._processes import Processes
from clearset.engines._state import State
from clearset.functions import Loss, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import CrossedBlocks, CrossedPositions, PackedSets, Positions

T_co = TypeVar("T_co", covariant=True)

# Steps (or a quarter of all, if that is less) in which rho's rate rises to that of phi. Rho can only rise: were it as
# quick as phi, it would learn to be flat wherever phi is not yet right, and leave phi without a gradient to get right
# by.
WARM_UP = 500
# How strongly the averaged parameters favour late steps: the last 1 / (1 + RECENCY) of all steps so far make up most
# of the average, however long training has been.
RECENCY = 3.0
# A gradient below this is what rounding leaves of one that is 0.
LEAST_GRADIENT = 1e-12
# Packed sets are gone through in blocks of about so many tokens: of data in a file, a block is in memory at a time.
BLOCK_TOKENS = 1 << 21
# Unpacked, a token takes twice the memory and its scores more, so that they are unpacked some at a time.
PIECE_TOKENS = 1 << 18
# Tokens crossed with classes take several times as much memory as packed ones.
CROSSED_BLOCK_TOKENS = 1 << 18
# A process has whole lanes, so that there may be as many processes.
MOST_LANES = 16
# Constraints that Light Touch looks at in a step.
LIGHT_TOUCH_SAMPLES = 128
# Bounds of the logarithm of the slope with which output calibrators start.
FLATTEST, STEEPEST = -3, 4


@dataclass(frozen=True, eq=False)
class Share:
    """What a process has of the labelled sets of several processes.

    Attributes
    ----------
    places : ndarray of int64, shape (n,)
        The places of its sets among all, rising.
    total, tokens : int
        The number of all sets and of their tokens.
    processes : Processes
        The processes.
    """

    places: npt.NDArray[np.int64]
    total: int
    tokens: int
    processes: Processes


class Lanes(NamedTuple):
    """A division of labelled sets by which gradients are added up, the same for any number of threads and processes.

    Parameters
    ----------
    of_sets : ndarray of uint8, shape (n,)
        The lane of each set.
    number : int
        The number of lanes, at most `MOST_LANES`.
    """

    of_sets: npt.NDArray[np.uint8]
    number: int


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """Labelled sets, ready for training.

    Attributes
    ----------
    positions : Positions, CrossedPositions, PackedSets or CrossedBlocks
        Where the tokens stand; large data stand in random order, packed or to be placed in blocks.
    targets : ndarray of shape (n,)
        Labels in the loss's scaled unit, or numbers of classes.
    weights : ndarray of shape (n,)
        Of mean 1.
    chosen : ndarray of int64, shape (n,), optional
        Which of the sets they are; None: all, in their order.
    share : Share, optional
        Which of the labelled sets of several processes these are; None: all.
    lanes : Lanes, optional
        How gradients are added up; None: as it suits the engine.
    """

    positions: Positions | CrossedPositions | PackedSets | CrossedBlocks
    targets: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    chosen: npt.NDArray[np.int64] | None = None
    share: Share | None = None
    lanes: Lanes | None = None

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def total(self) -> int:
        """Number of labelled sets of all processes."""
        return len(self) if self.share is None else self.share.total

    @property
    def tokens_per_set(self) -> float:
        """Mean number of tokens of the sets of all processes."""
        return (self.positions.n_tokens if self.share is None else self.share.tokens) / self.total

    @property
    def dtype(self) -> np.dtype[Any]:
        """What to calculate in."""
        if isinstance(self.positions, PackedSets | CrossedBlocks):
            return np.dtype(np.float32)
        return self.positions.fractions.dtype

    @property
    def which(self) -> npt.NDArray[np.int64]:
        """Which of the sets they are."""
        return np.arange(len(self)) if self.chosen is None else self.chosen

    def arranged(self, order: npt.NDArray[np.int64] | None) -> "TrainingSets":
        """Return the same labelled sets in another order, without a copy of their tokens."""
        if order is None:
            return self
        return TrainingSets(self.positions, self.targets[order], self.weights[order], self.which[order])

    def take(self, sets: npt.NDArray[np.int64]) -> "TrainingSets":
        """Return some of the labelled sets, without the others."""
        if isinstance(self.positions, PackedSets):
            return self.unpacked().take(sets)
        if isinstance(self.positions, CrossedBlocks):
            first, last = int(sets.min()), int(sets.max())
            return self.between(first, last + 1).take(sets - first)
        positions = self.positions.take(self.which[sets])
        return TrainingSets(positions, self.targets[sets], self.weights[sets])

    @property
    def packed(self) -> PackedSets:
        """The tokens, where they are packed."""
        if not isinstance(self.positions, PackedSets):
            raise TypeError(f"The sets are not packed but {type(self.positions).__name__}.")
        return self.positions

    def between(self, start: int, stop: int) -> "TrainingSets":
        """Return a run of sets that stand in random order."""
        part = slice(start, stop)
        positions = self.positions if isinstance(self.positions, CrossedBlocks) else self.packed
        return TrainingSets(positions.between(start, stop), self.targets[part], self.weights[part])

    @property
    def placed(self) -> Positions | CrossedPositions:
        """Where the tokens stand, unpacked."""
        if isinstance(self.positions, PackedSets | CrossedBlocks):
            return self.positions.positions()
        return self.positions

    def unpacked(self) -> "TrainingSets":
        """Return the same sets as slots and fractions, if they are packed or in blocks."""
        if not isinstance(self.positions, PackedSets | CrossedBlocks):
            return self
        return TrainingSets(self.positions.positions(), self.targets, self.weights)

    def pieces(self) -> Iterator["TrainingSets"]:
        """Yield the sets unpacked: large data in pieces, others at once."""
        if not isinstance(self.positions, PackedSets | CrossedBlocks):
            yield self
            return
        for start, stop in self.positions.blocks(PIECE_TOKENS):
            yield self.between(start, stop).unpacked()


@dataclass(frozen=True, eq=False)
class Problem:
    """What to minimise.

    Attributes
    ----------
    function : SetFunction
        Initial values, left untouched; corrections are learned where it has some.
    shape : ShapeConstraints
        What the tables must obey.
    smoothness : Smoothness
        The penalty on bends and twists.
    loss : Loss
        The loss.
    data : TrainingSets
        What to learn from.
    validation : TrainingSets, optional
        What to choose the best epoch by.
    """

    function: SetFunction
    shape: ShapeConstraints
    smoothness: Smoothness
    loss: Loss
    data: TrainingSets
    validation: TrainingSets | None = None


@dataclass(frozen=True)
class Refinement:
    """How corrections are learned.

    Attributes
    ----------
    learning_rate : float
        Of their own Adagrad, at the start.
    pull : float
        Towards 0: as many sets with a unit loss for each unit of squared correction.
    """

    learning_rate: float
    pull: float


@dataclass(frozen=True)
class Schedule:
    """How to train; the estimators have parameters of the same names.

    Parameters
    ----------
    learning_rate : float
        The learning rate at the start.
    epochs, batch_size : int
        The number of passes over the sets, and of the sets of a step.
    patience : int or None
        The epochs without a lower validation loss after which training ends. Without it all epochs are run and the last
        one is kept, whatever validation data say.
    threads : int, default=1
        The number of threads.
    optimizer : {"adam", "adagrad"}, default="adam"
        The rule of a step.
    constraints : {"project", "light_touch"}, default="project"
        How constraints are kept.
    refinement : Refinement, optional
        How corrections are learned.
    stop_after : int, optional
        The epochs after which training ends, of a schedule that is made for ``epochs``.
    tolerance : float, default=0.0
        The share of itself by which the validation loss must fall for training to go on.
    """

    learning_rate: float
    epochs: int
    batch_size: int
    patience: int | None
    threads: int = 1
    optimizer: str = "adam"
    constraints: str = "project"
    refinement: Refinement | None = None
    stop_after: int | None = None
    tolerance: float = 0.0

    def steps(self, n_sets: int) -> int:
        """Return the number of steps of all epochs."""
        return self.epochs * -(-n_sets // self.batch_size)

    def decay(self, progress: float) -> float:
        """Return the share of the learning rate that is left at a progress from 0 to 1: it falls to 0.05 by a cosine.

        Examples
        --------
        >>> schedule = Schedule(learning_rate=0.1, epochs=10, batch_size=32, patience=None)
        >>> schedule.decay(0.0), round(schedule.decay(1.0), 2)
        (1.0, 0.05)
        """
        return 0.05 + 0.95 * (1.0 + float(np.cos(np.pi * progress))) / 2.0


class Trainer(Protocol, Generic[T_co]):
    """One training, epoch by epoch, on whatever engine."""

    @property
    def validates(self) -> bool:
        """Whether there are validation data."""

    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""

    def validation_loss(self) -> float | None:
        """Return the loss of what would be kept now on validation data, if there are any."""

    def kept(self) -> T_co:
        """Return a copy of what would be kept now."""


class ResumableTrainer(Trainer[T_co], Protocol[T_co]):
    """A training that can go on in another process, from between two epochs."""

    def state(self) -> State:
        """Return a copy of what steps have changed; the generator's state is not part of it."""

    def resume(self, state: State) -> None:
        """Go on from a state of the same problem, schedule and engine; raise a ValueError if it is none."""
