"""One set function being fitted: what its trainings have in common, in the unit of the labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clearset.engines import Problem, Schedule, TrainingSets, engine
from clearset.functions import Layout, Loss, Penalty, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, CrossedBlocks, CrossedPositions, Positions, Trust
from clearset.training._checkpoint import keeper
from clearset.training._epochs import Progress, Report, run_epochs
from clearset.training._identity import Content, of_binning, of_functions, of_sets
from clearset.training._options import Options

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Unit:
    """A loss, and the unit in which it is minimised: training works with ``(output - centre) / scale``."""

    loss: Loss
    centre: float
    scale: float

    @classmethod
    def of(cls, loss: Loss, labels: FloatArray, weights: FloatArray) -> "Unit":
        """Return the unit in which these labels are near [-1, 1]."""
        return cls(loss, *loss.scaling(labels, weights))

    def labelled(
        self,
        positions: Positions | CrossedPositions | CrossedBlocks,
        labels: FloatArray,
        weights: FloatArray,
        chosen: npt.NDArray[np.int64] | None = None,
    ) -> TrainingSets:
        """Return labelled sets in this unit, their weights of mean 1."""
        return TrainingSets(positions, *self.scaled(labels, weights), chosen)

    def scaled(self, labels: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return labels in this unit, and weights of mean 1."""
        return self.loss.scaled(labels, self.centre, self.scale), weights / weights.mean()

    def entered(self, function: SetFunction) -> SetFunction:
        """Convert a function of the labels' own unit to this one."""
        return function.rescaled(-self.centre / self.scale, 1.0 / self.scale)

    def left(self, function: SetFunction) -> SetFunction:
        """Convert a function of this unit to the labels' own."""
        return function.rescaled(self.centre, self.scale)

    def reported(self, entry: dict[str, float]) -> dict[str, float]:
        """Convert the losses of an epoch to the labels' own unit."""
        return {name: value if name == "epoch" else self.own(value) for name, value in entry.items()}

    def own(self, loss: float) -> float:
        """Convert a mean loss to the labels' own unit."""
        return self.loss.in_units(loss, self.centre, self.scale)

    def entered_loss(self, loss: float) -> float:
        """Convert a mean loss of the labels' own unit to this one."""
        return loss / self.loss.in_units(1.0, self.centre, self.scale)


@dataclass(frozen=True, eq=False)
class Fitting:
    """A set function that is being fitted."""

    binning: Binning  # the features and their keypoints
    layout: Layout  # the lattices of phi
    trusts: Sequence[Trust]  # which feature says how far to trust which
    unit: Unit  # the loss, and the unit in which it is minimised
    data: TrainingSets  # what to train on, in that unit
    validation: TrainingSets | None  # what to choose the epoch by, in that unit
    n_sets: float  # how many sets the weighted ones stand for
    options: Options  # the form of the set function and how to train it
    penalty: Penalty  # how smooth the function is to be
    rng: np.random.Generator  # everything random comes from here
    on_epoch: Report | None = None  # called after every epoch

    @property
    def sizes(self) -> dict[str, int]:
        """Width and keypoints of rho."""
        return {"width": self.options.width, "rho_keypoints": self.options.rho_keypoints}

    def train(
        self,
        initial: SetFunction,
        schedule: Schedule,
        baseline: float = float("inf"),
        rival: Sequence[float] = (),
        *,
        at_first: float = 1.0,
        epochs_before: int = 0,
    ) -> Progress[SetFunction]:
        """Train from initial values; the history, and that of a rival, are in the labels' own unit.

        Training begins with a share of the smoothness, `at_first`. Epochs are counted on from those before.
        """
        # Constraints and smoothness remember where a training has got to, so each training has its own.
        shape = ShapeConstraints(self.binning, self.trusts, self.layout, **self.sizes)
        smoothness = Smoothness(
            self.binning, self.layout, replace(self.penalty, at_first=at_first), self.n_sets, **self.sizes
        )
        problem = Problem(initial, shape, smoothness, self.unit.loss, self.data, self.validation)
        trainer = engine("cuda" if self.options.device == "cuda" else None).trainer(problem, schedule, self.rng)
        rival = [self.unit.entered_loss(loss) for loss in rival]
        kept_by = keeper(trainer, self.rng, lambda: self._parts(initial, schedule, at_first))

        def counted(entry: dict[str, float]) -> dict[str, float]:
            return self.unit.reported({**entry, "epoch": entry["epoch"] + epochs_before})

        def report(entry: dict[str, float]) -> None:
            if self.on_epoch is not None:
                self.on_epoch(counted(entry))

        progress = run_epochs(trainer, schedule, report, baseline=baseline, rival=rival, keeper=kept_by)
        progress.history = [counted(entry) for entry in progress.history]
        return progress

    def _parts(self, initial: SetFunction, schedule: Schedule, at_first: float) -> dict[str, Iterable[Content]]:
        """Return what the result of a training follows from, beside its generator."""
        how = (replace(schedule, threads=1), self.unit.loss, self.penalty, at_first, tuple(self.trusts))
        return {
            "how to train": [repr(how)],
            "the initial values": of_functions([initial]),
            "the keypoints": of_binning(self.binning),
            **of_sets(self.data, "to train on", repr((self.unit, self.n_sets))),
            **of_sets(self.validation, "to validate on"),
        }

    def finished(self, function: SetFunction) -> SetFunction:
        """Convert a function to the labels' own unit, with constraints that hold exactly."""
        function = self.unit.left(function)
        function = replace(function, rho_output=function.rho_output.copy())
        ShapeConstraints.of(function, self.binning, self.trusts).project_exactly(function.tables)
        return function


def count_sets(weights: FloatArray) -> float:
    """Return how many sets the weighted ones stand for.

    Whole numbers are repetitions. Any other weights are relative, so they stand for as many sets as there are.
    """
    return float(weights.sum() if (weights == np.floor(weights)).all() else len(weights))
