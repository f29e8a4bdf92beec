"""What there is of a set function of tokens before its corrections are trained."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets, engine
from clearset.functions import SetFunction
from clearset.sets import Binning, CrossedBlocks
from clearset.training._epochs import Progress
from clearset.training._first_corrections import first_corrections
from clearset.training._fitting import Fitting
from clearset.training._initial import initial_crossed_set_function, straight_line
from clearset.training._initial_tokens import beginnings

FloatArray = npt.NDArray[np.float64]

# Up to this many sets say how steep the output calibrator starts.
SCALE_SETS = 4000
# Where the calibrator of values is flat, a correction changes nothing and would not learn: before corrections are
# learned it becomes a straight line by this share.
STRAIGHTENED = 0.3


@dataclass(frozen=True, eq=False)
class Learned:
    """What there is before corrections are trained, in the unit of training."""

    function: SetFunction  # with corrections where they are those of a linear model
    loss: float  # on validation data, or without any on the training data
    progress: Progress[SetFunction]  # how it was trained
    losses: list[float]  # the validation losses, epoch by epoch
    pace: float  # the share of the learning rate that steps of the set function have
    worth_refining: bool = True


def begun_plain(
    function: SetFunction, fitting: Fitting, neutral: float, rng: np.random.Generator
) -> tuple[SetFunction, float]:
    """Return the beginning of least loss, its output as steep as its scores are worth, and the pace of its training."""
    data, loss, threads = fitting.data, fitting.unit.loss, fitting.options.threads
    if isinstance(data.positions, CrossedBlocks):
        chosen = np.arange(min(len(data), SCALE_SETS))  # sets stand in random order
    else:
        chosen = np.sort(rng.permutation(len(data))[:SCALE_SETS])
    some = data.take(chosen)
    best, pace, least, usual = function, 1.0, float("inf"), 0.0
    for beginning in beginnings(function, fitting.binning, tuple(fitting.trusts), neutral):
        spread = _spread(engine().outputs(beginning.astype(data.dtype), some.placed, threads))
        usual = usual or spread
        even = beginning.rescaled(0.0, 1.0 / spread)
        slope, shift = engine().output_line(even, data, chosen, loss, threads)
        begun = even.rescaled(shift, slope)
        outputs = engine().outputs(begun.astype(data.dtype), some.placed, threads).astype(np.float64)
        reached = float(engine().losses(loss, outputs, some.targets) @ some.weights)
        if reached < least:
            best, pace, least = begun, _pace(spread, usual), reached
    return best, pace


def begun_linear(fitting: Fitting, neutral: float, n_corrections: int) -> Learned | None:
    """Return a linear model of the tokens, where there are many examples for each correction."""
    data, loss, threads = fitting.data, fitting.unit.loss, fitting.options.threads
    # Nothing about it is left to chance.
    rng = np.random.default_rng(0)
    initial = initial_crossed_set_function(fitting.binning, fitting.layout, **fitting.sizes, rng=rng)
    function = first_corrections(initial, fitting.binning, tuple(fitting.trusts), neutral, data, loss, n_corrections)
    if function is None:
        return None
    judged = data if fitting.validation is None else fitting.validation
    outputs = outputs_of(function, judged, fitting)
    reached = float(np.average(engine().losses(loss, outputs, judged.targets), weights=judged.weights))
    some = data.take(np.arange(min(len(data), SCALE_SETS)))
    usual = _spread(engine().outputs(initial.astype(data.dtype), some.placed, threads))
    steepness = float(np.ptp(function.rho_output)) / float(np.ptp(initial.rho_output))
    pace = _pace(_spread(outputs) / steepness, usual)
    return Learned(function, reached, Progress(function, reached), [], pace)


def sloping(function: SetFunction, binning: Binning) -> SetFunction:
    """Return a function whose calibrators of the value have a slope wherever they rise at all."""
    keypoints, slots = binning.keypoints[0], binning.slots_of(binning.features[0].name)
    assert keypoints is not None  # noqa: S101
    calibration = function.calibration.copy()
    values = calibration[:, slots]
    straight = values[:, :1] + (values[:, -1:] - values[:, :1]) * straight_line(keypoints)
    calibration[:, slots] = (1.0 - STRAIGHTENED) * values + STRAIGHTENED * straight
    return replace(function, calibration=calibration)


def outputs_of(function: SetFunction, data: TrainingSets, fitting: Fitting) -> FloatArray:
    """Return the outputs of labelled sets, ``(n, C)``."""
    function, parts = function.astype(data.dtype), []
    for piece in data.pieces():
        outputs = engine().outputs(function, piece.placed, fitting.options.threads)
        parts.append(outputs[slice(None) if piece.chosen is None else piece.chosen].astype(np.float64))
    return np.concatenate(parts)


def _pace(spread: float, usual: float) -> float:
    """Return the share of the learning rate for scores that differ less than those that are means.

    Scores of sums are close to each other for sets of usual size, so that the output is steep: a step that changes
    scores by so much changes the output by more than it would from scores that are means, and what the loss suffers
    from the noise of steps goes with its square.
    """
    return min(1.0, spread / usual) ** 2


def _spread(outputs: FloatArray) -> float:
    """Return the spread of outputs, or 1 where they are all the same."""
    spread = float(outputs.std())
    return spread if spread > 1e-9 else 1.0
