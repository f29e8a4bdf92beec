"""Training of set functions together with the set function that takes their estimates as features."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from clearset.engines import Estimate, JointPart, JointProblem, Schedule, engine
from clearset.functions import Penalty, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, CrossedPositions, Positions, Trust
from clearset.training._checkpoint import keeper
from clearset.training._epochs import Report, run_epochs
from clearset.training._fitting import Unit, count_sets
from clearset.training._identity import Content, of_binning, of_functions, of_positions

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """A trained set function, and what it must obey."""

    function: SetFunction  # in the labels' own unit
    binning: Binning  # the features and their keypoints
    trusts: Sequence[Trust]  # which feature says how far to trust which
    smoothness: float  # strength of the penalty on bends and twists
    unit: Unit  # the loss, and the unit of training

    def prepared(self, n_sets: float) -> JointPart:
        """Return the part as an engine trains it, for so many sets."""
        function, shape = self.function, self._shape()
        smoothness = Smoothness(
            self.binning,
            function.layout,
            Penalty(self.smoothness, least_scatter=self.unit.loss.least_scatter),
            n_sets,
            width=function.width,
            rho_keypoints=function.rho_keypoints,
        )
        scaled = self.unit.entered(function)
        return JointPart(scaled, shape, smoothness, self.unit.centre, self.unit.scale)

    def finished(self, trained: SetFunction) -> SetFunction:
        """Convert a trained set function to the labels' unit, with constraints that hold exactly."""
        function = self.unit.left(trained).copy()
        self._shape().project_exactly(function.tables)
        return function

    def _shape(self) -> ShapeConstraints:
        return ShapeConstraints.of(self.function, self.binning, self.trusts)


@dataclass(frozen=True, eq=False)
class JointSets:
    """Labelled sets of a follow-on function, with the sets of the functions that it takes estimates of."""

    positions: Positions  # of the follow-on function's features; what they hold of estimates is not read
    estimates: Sequence[Estimate]  # one for each further function, with the same sets
    labels: FloatArray  # A label and a weight for each set
    weights: FloatArray  # A label and a weight for each set
    training: npt.NDArray[np.int64]  # numbers of sets
    validation: npt.NDArray[np.int64]  # numbers of sets


@dataclass(eq=False)
class JointProgress:
    """What training has reached: the set functions, the follow-on function first, and the validation losses."""

    functions: list[SetFunction]
    before: float
    after: float
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


def train_jointly(
    parts: Sequence[Part], data: JointSets, schedule: Schedule, rng: np.random.Generator, on_epoch: Report | None = None
) -> JointProgress:
    """Minimise the follow-on function's loss in the parameters of all set functions, under the constraints of each.

    As for a single set function a running average of the iterates is validated. The best one is made exact in its
    constraints, and kept if it is then better on validation data than what there was before. An interrupt (Ctrl-C) ends
    training.
    """
    unit, n_sets = parts[0].unit, count_sets(data.weights[data.training])
    problem = JointProblem(
        [part.prepared(n_sets) for part in parts],
        data.estimates,
        parts[0].binning,
        data.positions,
        unit.loss,
        unit.loss.scaled(data.labels, unit.centre, unit.scale),
        data.weights,
        data.training,
        data.validation,
    )

    def report(entry: dict[str, float]) -> None:
        if on_epoch is not None:
            on_epoch(unit.reported(entry))

    trainer = engine().joint_trainer(problem, schedule, rng)
    before = trainer.validation_loss()
    kept_by = keeper(trainer, rng, lambda: _parts(problem, parts, schedule))
    progress = run_epochs(trainer, schedule, report, baseline=before, keeper=kept_by)
    history = [unit.reported(entry) for entry in progress.history]
    joint = JointProgress([part.function for part in parts], unit.own(before), unit.own(before), history)
    joint.interrupted = progress.interrupted
    if progress.best_epoch:
        finished = [part.finished(best) for part, best in zip(parts, progress.best, strict=True)]
        entered = [part.unit.entered(function) for part, function in zip(parts, finished, strict=True)]
        after = trainer.loss_of(entered)
        if after < before:
            joint.functions, joint.after = finished, unit.own(after)
    return joint


def _parts(problem: JointProblem, parts: Sequence[Part], schedule: Schedule) -> dict[str, Iterable[Content]]:
    """Return what the result of a training follows from, beside its generator."""
    how = [(part.unit.loss, part.smoothness, tuple(part.trusts)) for part in parts]
    links = [(estimate.link, tuple(estimate.features)) for estimate in problem.estimates]
    sets: list[Positions | CrossedPositions] = [problem.positions]
    sets += [estimate.positions for estimate in problem.estimates]
    return {
        "how to train": [repr((replace(schedule, threads=1), how, links))],
        "the initial values": of_functions([part.function for part in problem.parts]),
        "the keypoints": [content for part in parts for content in of_binning(part.binning)],
        "the labels": [problem.targets, problem.training, problem.validation, repr([part.unit for part in parts])],
        "the weights": [problem.weights],
        "the sets": (content for positions in sets for content in of_positions(positions)),
    }
