"""From labelled sets to a trained set function."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import MOST_LANES, Schedule, TrainingSets, processes
from clearset.functions import Layout, Loss, Penalty, SetFunction, enough
from clearset.sets import SIZE, Binning, Feature, Observed, Trust, feature_columns
from clearset.training._asked_smoothness import asked_smoothness
from clearset.training._beginnings import Beginnings, output_targets
from clearset.training._constants import constant_places, flat_features, flatten_constants
from clearset.training._epochs import Progress, Report
from clearset.training._first_look import FirstLook
from clearset.training._fitting import Fitting, Unit, count_sets
from clearset.training._lattice_sizes import USUAL_SIZE, asked_sizes, choose_sizes, free_features
from clearset.training._lattices import choose_layout, is_full, most_vertices
from clearset.training._missing import fill_missing
from clearset.training._nothing import expected_of_nothing
from clearset.training._one_thread import on_one_thread
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
# Later restarts begin with slopes of scores that are drawn, from such a share of those of least squares on.
RESTART_SHARE = 0.5
# Of several scores so many trainings are begun, for such a share of the epochs each but not many more than so many
# steps, and the best goes on: now and then the scores do not come to differ. Short trainings are one.
STARTS, START_SHARE, START_STEPS = 3, 0.2, 1000
SHORT_TRAINING = 25
# Smoothness is in the unit of sets of so many tokens.
TYPICAL_TOKENS = 6
# With fewer sets than so many times the numbers of all calibrators, labels scatter by as much as least squares say, and
# with more by a smaller share of that at least: then the loss in training shows it, and functions that least squares do
# not see may explain them better.
FEW = 3.0
# The weights of the penalties on slopes, in the same unit, and on the height of the output.
SLOPES, HEIGHT = 1.0, 0.1


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


@on_one_thread
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
        n_vertices = most_vertices(_usual_sizes(task), options.lattices)
    else:
        binning, n_vertices = start.binning, start.function.layout.n_vertices
        # What an earlier fit has learned of a feature stays, even if the feature is constant by now.
        flat = flat_features(start.function, binning)
        observed = _observed(data, flat) if flat else Observed(())
    unit, n_sets = Unit.of(task.loss, data.labels, data.weights), count_sets(data.weights)
    n_lanes = _lanes(task, data, binning, n_vertices)
    training, validating, sample = prepare(binning, unit, data, validation, rng, task.max_memory, n_lanes)
    if start is None:
        targets = output_targets(sample, task.outputs)
        look = FirstLook.at(binning, sample, targets, n_sets / len(data))
        layout = _layout(task, look, binning, sample, targets, n_sets / len(data))
    else:
        layout = start.function.layout
    asked = asked_smoothness(binning, sample, unit.loss, task.outputs, n_sets, n_sets / len(data))
    smoothness = asked.strength if isinstance(options.smoothness, str) else float(options.smoothness)
    scatter = asked.scatter * min(1.0, FEW * binning.n_slots / n_sets)
    fitting = Fitting(
        binning,
        layout,
        task.trusts,
        unit,
        training,
        validating,
        n_sets,
        options,
        _penalty(data, smoothness, max(scatter, unit.loss.least_scatter)),
        rng,
        on_epoch,
    )
    schedule = options.schedule(task.batch_size)
    if start is not None:
        best = fitting.train(unit.entered(start.function), schedule)
    else:
        free = free_features(task.features, task.trusts)
        beginnings = Beginnings.of(fitting, sample, task.outputs, look, free)
        attempts: list[Progress[SetFunction]] = []
        while len(attempts) < options.restarts and not any(attempt.interrupted for attempt in attempts):
            attempts.append(_attempt(beginnings, schedule, RESTART_SHARE if attempts else 1.0))
        best = min(attempts, key=lambda attempt: attempt.best_loss)
        best.interrupted = attempts[-1].interrupted
    if best.interrupted and not best.history:
        raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
    flatten_constants(best.best, binning, task.trusts, constant_places(binning, observed))
    fill_missing(best.best, binning, sample)
    function = fitting.finished(best.best)
    tokens = 1 if _says_more(task, data) else smallest_supported(data.sizes[data.weights > 0], enough(len(data)))
    support = find_support(function, binning, task.loss, training, sample, tokens, options.threads)
    return FittedSets(binning, replace(function, support=support), smoothness, best, _nothing(task, data))


def _observed(data: LabelledSets, features: Sequence[Feature]) -> Observed:
    return Observed.of(data.sets, features, data.all_weights).gathered(processes().gather)


def _usual_sizes(task: SetTask) -> list[int]:
    return [size or USUAL_SIZE for size in asked_sizes(task.features, task.options.lattice_size)]


def _layout(
    task: SetTask,
    look: FirstLook | None,
    binning: Binning,
    sample: TrainingSets,
    targets: FloatArray,
    repetitions: float,
) -> Layout:
    """Lay out the lattices; which are full does not depend on where there are third vertices."""
    asked, full = (
        asked_sizes(task.features, task.options.lattice_size),
        is_full(_usual_sizes(task), task.options.lattices),
    )
    sizes = choose_sizes(asked, task.features, task.trusts, look, full=full)
    if full:
        return Layout.full(tuple(sizes))
    strengths = pair_strengths(binning, sample, targets, repetitions) if look is None else look.pair_strengths
    return choose_layout(sizes, task.features, task.trusts, "ensemble", strengths)


def _attempt(beginnings: Beginnings, schedule: Schedule, least_share: float) -> Progress[SetFunction]:
    """Train from initial values; of several scores for a while from several of them, and go on with the best."""
    fitting = beginnings.fitting
    at_first = max(SHARE_AT_FIRST, LEAST_AT_FIRST / max(fitting.penalty.strength, LEAST_AT_FIRST))
    # Light Touch learns what is violated from beginning to end, and until then least loss means most violation.
    alone = schedule.epochs < SHORT_TRAINING or schedule.constraints == "light_touch" or fitting.options.width == 1
    # All are drawn before any training: how much that draws depends on the number of sets, not on their weights.
    drawn = [beginnings.drawn(least_share) for _ in range(1 if alone else STARTS)]
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


def _penalty(data: LabelledSets, smoothness: float, least_scatter: float) -> Penalty:
    """Return the penalty for a smoothness that is asked for sets of `TYPICAL_TOKENS` tokens.

    Means of many tokens differ less than scores of one, by the root of their number, so that scores that tell as much
    have larger slopes, bends and interactions, whose squares grow with the number. Of larger sets they may be no
    steeper than of these.
    """
    tokens = float(np.average(np.maximum(data.sizes, 1), weights=data.weights))
    steepness = max(TYPICAL_TOKENS / tokens, 1.0)
    return Penalty(smoothness * steepness, SLOPES * steepness, HEIGHT, least_scatter=least_scatter)


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
