"""From labelled sets to a trained set function."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import MOST_LANES, Schedule, TrainingSets, engine, processes
from clearset.functions import Loss, SetFunction, enough
from clearset.sets import SIZE, Binning, Feature, Observed, Trust, feature_columns
from clearset.training._asked_smoothness import asked_smoothness
from clearset.training._constants import constant_places, flat_features, flatten_constants
from clearset.training._epochs import Progress, Report
from clearset.training._fitting import Fitting, Unit, count_sets
from clearset.training._initial import initial_set_function, leanings
from clearset.training._lattices import choose_layout, is_full, most_vertices
from clearset.training._looks import some_sets
from clearset.training._missing import fill_missing
from clearset.training._nothing import expected_of_nothing
from clearset.training._options import Options
from clearset.training._pair_strengths import pair_strengths
from clearset.training._prepared import LabelledSets, prepare
from clearset.training._support import find_support, is_promised, smallest_supported

FloatArray = npt.NDArray[np.float64]

# Of fewer sets gradients are added up at once.
LEAST_SETS_OF_LANES, LEAST_LANES = 1000, 4
# What begins without a function begins with so much of the smoothness, but with such a strength at least: what bends
# freely at first ends here or there.
SHARE_AT_FIRST, LEAST_AT_FIRST = 0.1, 25.0
# The first slope of the output is this power of the one of least loss, divided by the width: the steeper it is, the
# less scores that bend cost, and the less well several scores come to differ. Later restarts begin with slopes of
# scores that are drawn, from such a share of those of least squares on.
OUTPUT_SLOPE = 0.7
RESTART_SHARE = 0.5
# Of several scores so many trainings are begun, for such a share of the epochs each but not many more than so many
# steps, and the best goes on: now and then the scores do not come to differ. Short trainings are one.
STARTS, START_SHARE, START_STEPS = 3, 0.2, 1000
SHORT_TRAINING = 25
# Smoothness is in the unit of sets of so many tokens.
TYPICAL_TOKENS = 6
# So many sets say which way the label goes with a feature, and how far.
LEANING_SETS = 10_000


@dataclass(frozen=True, eq=False)
class SetTask:
    """What a set function is to learn, and how."""

    features: Sequence[Feature]  # the declared features
    trusts: Sequence[Trust]  # which feature says how far to trust which
    outputs: int  # set functions side by side: 1, or one for each class
    loss: Loss  # what to minimise
    batch_size: int  # sets of one step
    options: Options  # the form of the set function and how to train it
    max_memory: float = float("inf")  # bytes that sets may take while they are read and trained on


class FittedSets(NamedTuple):
    """A fitted set function."""

    binning: Binning
    function: SetFunction  # in the labels' own unit
    smoothness: float  # the strength of the penalty, in the unit of the parameter
    progress: Progress[SetFunction]  # how training went
    nothing: FloatArray | None = None  # the expected label of an empty set; None: what the function says of it


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
        observed = _observed(data, task.features)
        binning = Binning.of_observed(observed, options.keypoints).for_shapes(task.trusts)
        sizes = [feature.lattice_size or options.lattice_size for feature in task.features]
        n_vertices = most_vertices(sizes, options.lattices)
    else:
        binning, n_vertices = start.binning, start.function.layout.n_vertices
        # What an earlier fit has learned of a feature stays, even if the feature is constant by now.
        flat = flat_features(start.function, binning)
        observed = _observed(data, flat) if flat else Observed(())
    unit = Unit.of(task.loss, data.labels, data.weights)
    n_lanes = _lanes(task, data, binning, n_vertices)
    training, validating, sample = prepare(binning, unit, data, validation, rng, task.max_memory, n_lanes)
    if start is None:
        targets = _output_targets(sample, task.outputs)
        full = is_full(sizes, options.lattices)
        strengths = np.zeros(2 * [len(sizes)]) if full else pair_strengths(binning, sample, targets)
        layout = choose_layout(sizes, task.features, task.trusts, options.lattices, strengths)
    else:
        layout = start.function.layout
    smoothness, n_sets = options.smoothness, count_sets(data.weights)
    if isinstance(smoothness, str):
        smoothness = asked_smoothness(binning, sample, unit.loss, task.outputs, n_sets, n_sets / len(data))
    fitting = Fitting(
        binning,
        layout,
        task.trusts,
        unit,
        training,
        validating,
        n_sets,
        options,
        smoothness * _steepness(data),
        rng,
        on_epoch,
    )
    schedule = options.schedule(task.batch_size)
    if start is not None:
        best = fitting.train(unit.entered(start.function), schedule)
    else:
        some = sample.take(some_sets(len(sample), LEANING_SETS))
        targets = _output_targets(some, task.outputs)
        leaning = leanings(binning, some.placed, targets, some.weights, fitting.n_sets)
        attempts: list[Progress[SetFunction]] = []
        while len(attempts) < options.restarts and not any(attempt.interrupted for attempt in attempts):
            attempts.append(_attempt(fitting, schedule, some, leaning, RESTART_SHARE if attempts else 1.0))
        best = min(attempts, key=lambda attempt: attempt.best_loss)
        best.interrupted = attempts[-1].interrupted
    if best.interrupted and not best.history:
        raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
    flatten_constants(best.best, binning, task.trusts, constant_places(binning, observed))
    fill_missing(best.best, binning, sample)
    function = fitting.finished(best.best)
    tokens = 1 if _says_more(task, data) else smallest_supported(data.sizes[data.weights > 0], enough(len(data)))
    support = find_support(function, binning, task.loss, training, sample, tokens, options.threads)
    return FittedSets(binning, replace(function, support=support), float(smoothness), best, _nothing(task, data))


def _observed(data: LabelledSets, features: Sequence[Feature]) -> Observed:
    return Observed.of(data.sets, features, data.all_weights).gathered(processes().gather)


def _attempt(
    fitting: Fitting, schedule: Schedule, some: TrainingSets, leaning: FloatArray, least_share: float
) -> Progress[SetFunction]:
    """Train from initial values; of several scores for a while from several of them, and go on with the best."""
    at_first = max(SHARE_AT_FIRST, LEAST_AT_FIRST / max(fitting.smoothness, LEAST_AT_FIRST))
    # Light Touch learns what is violated from beginning to end, and until then least loss means most violation.
    alone = schedule.epochs < SHORT_TRAINING or schedule.constraints == "light_touch" or fitting.options.width == 1
    # All are drawn before any training: how much that draws depends on the number of sets, not on their weights.
    drawn = [_begun(fitting, some, leaning, least_share) for _ in range(1 if alone else STARTS)]
    if alone:
        return fitting.train(drawn[0], schedule, at_first=at_first)
    steps = schedule.steps(fitting.data.total) // schedule.epochs
    epochs = min(round(START_SHARE * schedule.epochs), -(-START_STEPS // steps))
    begun: list[Progress[SetFunction]] = []
    for initial in drawn:
        begun.append(fitting.train(initial, replace(schedule, epochs=epochs), at_first=at_first))
        if begun[-1].interrupted:
            break
    first = min(begun, key=lambda start: start.best_loss)
    if begun[-1].interrupted:
        first.interrupted = True
        return first
    rest = fitting.train(first.best, replace(schedule, epochs=schedule.epochs - epochs), epochs_before=epochs)
    rest.history = first.history + rest.history
    rest.best_epoch += epochs
    if fitting.validation is not None and schedule.patience is not None and first.best_loss <= rest.best_loss:
        rest.best, rest.best_loss, rest.best_epoch = first.best, first.best_loss, first.best_epoch
    return rest


def _begun(fitting: Fitting, some: TrainingSets, leaning: FloatArray, least_share: float) -> SetFunction:
    """Return initial values that predict about what a linear model of the features' means would."""
    initial = initial_set_function(
        fitting.binning, fitting.layout, leaning, **fitting.sizes, rng=fitting.rng, least_share=least_share
    )
    threads = fitting.options.threads
    # Each output is 0 on average; a shift that is found later is the same for all classes.
    outputs = engine().outputs(initial.astype(some.dtype), some.placed, threads).astype(np.float64)
    centres = np.round(np.average(outputs, axis=0, weights=some.weights), 6)
    initial = replace(initial, rho_output=initial.rho_output - centres[:, None])
    slope, shift = engine().output_line(initial, some, np.arange(len(some)), fitting.unit.loss, threads)
    # Training makes much of the last bits, which are not the same for weights as for repetitions.
    return initial.rescaled(round(shift, 6), round(slope ** (OUTPUT_SLOPE / fitting.options.width), 6))


def _steepness(data: LabelledSets) -> float:
    """Return how much less steep scores have to be than those of sets of `TYPICAL_TOKENS` tokens; of larger sets 1.

    Means of many tokens differ less than scores of one, by the root of their number, so that scores that tell as much
    have larger bends and interactions, whose squares grow with the number.
    """
    tokens = float(np.average(np.maximum(data.sizes, 1), weights=data.weights))
    return max(TYPICAL_TOKENS / tokens, 1.0)


def _lanes(task: SetTask, data: LabelledSets, binning: Binning, n_vertices: int) -> int:
    """Return by how many lanes gradients are added up: each has more work than adding its gradient; 0 for few sets."""
    if len(data) < LEAST_SETS_OF_LANES and processes().count == 1:
        return 0
    width, keypoints = task.options.width, task.options.rho_keypoints
    of_rho = width * keypoints + 2**width + keypoints
    gradient = task.outputs * (width * (2 * binning.n_slots + n_vertices) + of_rho)
    tokens = task.batch_size * float(np.maximum(data.sizes, 1).mean())
    count = MOST_LANES
    while count > LEAST_LANES and tokens < count * max(256, gradient):
        count //= 2
    return count


def _says_more(task: SetTask, data: LabelledSets) -> bool:
    """Return whether there is more to say of small sets than their tokens do: by features of the set, or a promise."""
    whole = any(data.sets.is_of_sets(name) for name in feature_columns(task.features))
    return whole or is_promised(task.features, task.trusts, (SIZE,))


def _nothing(task: SetTask, data: LabelledSets) -> FloatArray | None:
    """Return what is expected of an empty set, unless enough of them were trained on, or there is more to say."""
    sizes = data.sets.sizes_known([feature.name for feature in task.features])
    empty = sizes[slice(None) if data.chosen is None else data.chosen] == 0
    if _says_more(task, data) or np.count_nonzero(empty) >= enough(len(data)):
        return None
    return expected_of_nothing(task.loss, data.labels, data.weights, empty, task.outputs)


def _output_targets(training: TrainingSets, outputs: int) -> FloatArray:
    """Return ``(B, C)`` centred, weighted targets: the labels, or for each class whether it is the label."""
    targets = training.targets[:, None]
    if outputs > 1:
        targets = (targets == np.arange(outputs)).astype(np.float64)
    mean = np.average(targets, axis=0, weights=training.weights)
    return np.asarray(training.weights[:, None] * (targets - mean))
