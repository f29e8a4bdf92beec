"""From labelled sets to a trained set function."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.functions import Loss, SetFunction
from clearset.sets import Binning, Feature, Positions, SetData, Trust
from clearset.training._epochs import Progress, Report
from clearset.training._fitting import Fitting, Unit, count_sets
from clearset.training._initial import initial_set_function, leanings
from clearset.training._lattices import choose_layout
from clearset.training._missing import fill_missing
from clearset.training._options import Options, choose_batch_size

FloatArray = npt.NDArray[np.float64]

# Below this many values (tokens x features) training is in double precision: it costs nothing there.
DOUBLE_PRECISION_VALUES = 1_000_000


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """Sets with a number (a label or the index of a class) and a weight each."""

    sets: SetData
    labels: FloatArray
    weights: FloatArray

    def __getitem__(self, chosen: npt.NDArray[np.int64]) -> "LabelledSets":
        return LabelledSets(self.sets[chosen], self.labels[chosen], self.weights[chosen])

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class SetTask:
    """What a set function is to learn, and how."""

    features: Sequence[Feature]  # the declared features
    trusts: Sequence[Trust]  # which feature says how far to trust which
    outputs: int  # set functions side by side: 1, or one for each class
    loss: Loss  # what to minimise
    batch_size: int | str  # sets of one step, or ``"auto"``: a sixteenth of the training sets, from 32 to 1024
    options: Options  # the form of the set function and how to train it


class FittedSets(NamedTuple):
    """A fitted set function: its binning, the function in the labels' own unit, and how training went."""

    binning: Binning
    function: SetFunction
    progress: Progress[SetFunction]


def fit_set_function(
    task: SetTask,
    data: LabelledSets,
    validation: LabelledSets | None,
    rng: np.random.Generator,
    start: FittedSets | None = None,
    on_epoch: Report | None = None,
) -> FittedSets:
    """Place keypoints, lay out the lattices, train (several times with restarts), and make the constraints exact."""
    options = task.options
    if start is None:
        binning = Binning.fit(
            data.sets, task.features, keypoints=options.keypoints, sample_weight=data.weights
        ).for_shapes(task.trusts)
        layout = choose_layout(
            task.features, task.trusts, lattices=options.lattices, lattice_size=options.lattice_size, rng=rng
        )
    else:
        binning, layout = start.binning, start.function.layout
    n_values = data.sets.n_tokens * len(task.features)
    dtype = np.float64 if n_values < DOUBLE_PRECISION_VALUES else np.float32
    unit = Unit.of(task.loss, data.labels, data.weights)

    def prepared(labelled: LabelledSets, positions: Positions) -> TrainingSets:
        return unit.labelled(positions, labelled.labels, labelled.weights)

    positions = binning.positions(data.sets, dtype)
    training, validating = prepared(data, positions), None
    if validation is not None:
        validating = prepared(validation, binning.positions(validation.sets, dtype))
    fitting = Fitting(
        binning, layout, task.trusts, unit, training, validating, count_sets(data.weights), options, rng, on_epoch
    )
    schedule = options.schedule(choose_batch_size(task.batch_size, len(data), share=16, largest=1024))
    if start is not None:
        best = fitting.train(unit.entered(start.function), schedule)
    else:
        leaning = leanings(binning, positions, _output_targets(training, task.outputs))
        attempts: list[Progress[SetFunction]] = []
        while len(attempts) < options.restarts and not any(attempt.interrupted for attempt in attempts):
            initial = initial_set_function(binning, layout, leaning, **fitting.sizes, rng=rng)
            attempts.append(fitting.train(initial, schedule))
        best = min(attempts, key=lambda attempt: attempt.best_loss)
        best.interrupted = attempts[-1].interrupted
    if best.interrupted and not best.history:
        raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
    fill_missing(best.best, binning, positions)
    return FittedSets(binning, fitting.finished(best.best), best)


def _output_targets(training: TrainingSets, outputs: int) -> FloatArray:
    """Return ``(B, C)`` centred, weighted targets: the labels, or for each class whether it is the label."""
    targets = training.targets[:, None]
    if outputs > 1:
        targets = (targets == np.arange(outputs)).astype(np.float64)
    mean = np.average(targets, axis=0, weights=training.weights)
    return np.asarray(training.weights[:, None] * (targets - mean))
