"""From the tokens of labelled examples to a trained set function, with corrections to the tokens' values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from clearset.engines import Refinement, Schedule, engine
from clearset.functions import Layout, Loss, Penalty, SetFunction, enough
from clearset.sets import Binning, CrossedPositions, Feature, Trust
from clearset.tokens import PER_SET, TokenPlacer, fit_token_binning
from clearset.training._epochs import Progress, Report, is_behind
from clearset.training._fitting import Fitting, Unit, count_sets
from clearset.training._initial import initial_crossed_set_function
from clearset.training._missing import fill_missing_crossed
from clearset.training._nothing import expected_of_nothing
from clearset.training._options import Options, choose_batch_size
from clearset.training._placed_tokens import PlacedTokens, TokenExamples, place_tokens
from clearset.training._support import find_support, is_promised, smallest_supported, supported_size
from clearset.training._token_beginnings import Learned, begun_linear, begun_plain, outputs_of, sloping

FloatArray = npt.NDArray[np.float64]

# The output is moved by at most so much after training, in log-odds or standard deviations.
MOST_SHIFT = 2.0
# The learning rate of corrections where there are many examples for each, beside which the set function keeps its own.
# The labels of few are soon learned by heart: with more corrections to an example both fall to a fifth, at this pace.
REFINE_RATE = 1.0
GENTLE = 0.2
HASTE = 20.0
# Corrections that are fitted to the same labels make values look more telling than they are, and a set function that
# learned from them would become steeper and steeper: where half as many tokens as examples are corrected (of several
# classes each example says one number for each), it stays as it is.
TOO_MANY = 0.5
# So many epochs are enough for them, or a quarter as many as the set function has, if that is more.
REFINE_EPOCHS = 15
# More examples have more corrections if these are more by this factor.
MORE_CORRECTIONS = 1.1
# Those of a linear model are learned so much more slowly, for so many epochs; and so are those beside a set function
# that is better than a linear model, which have little to say.
AFTER_LINEAR, LINEAR_EPOCHS, BESIDE_LINEAR = 0.01, 5, 0.1
# What a validation loss must fall by, as a share of itself, for training to go on.
TOLERANCE = 5e-4
# Corrections are not tried where the set function is worse than its rival by more than this share of the rival's loss.
REFINING_SLACK = 0.01
# The share of the examples, those with the fewest tokens, that are shrunk to the base rate: what is known of a token is
# uncertain, and the mean of a few is more extreme than that of many. Where there is more to say of examples with few
# tokens, as where it says something that others are absent, it is a smaller share, down to as few as are enough.
SMALL = (0.1, 0.03, 0.01, 0.0)


@dataclass(frozen=True, eq=False)
class TokenTask:
    """What a set function of tokens is to learn, and how."""

    features: Sequence[Feature]  # the value is the first
    trusts: Sequence[Trust]
    loss: Loss
    batch_size: int | str  # sets of one step, or "auto": one in 64 of the training sets, from 32 to 2048
    options: Options
    value_unit: float  # a meaningful difference of values, in which training counts them
    pull: float  # how strongly corrections are pulled to 0
    neutral: float = 0.0  # the value of a token that makes no difference
    max_memory: float = float("inf")  # bytes that tokens may take


@dataclass(frozen=True, eq=False)
class FittedTokens:
    """A fitted set function of tokens."""

    binning: Binning
    function: SetFunction  # in the labels' own unit, with corrections where some were learned
    plain: SetFunction  # what the first stage has left, without corrections, in the labels' own unit
    plain_loss: float  # its loss in the unit of training
    progress: Progress[SetFunction]  # of the last stage
    stops: tuple[int, ...]  # the best epoch of each stage
    first_losses: list[float]  # the validation losses of the first stage, epoch by epoch
    validation_losses: FloatArray | None  # of each validation example, weighted
    nothing: FloatArray  # the expected label of an example without tokens: one, or a share of each of several classes
    n_training: int
    pace: float  # the share of the learning rate that steps of the set function have
    few: float  # the share of what it keeps of that beside corrections, which is less the more there are
    loss: float  # the best, on validation data where there are some, in the labels' own unit
    beside_linear: bool  # whether there was a linear model to begin with

    @property
    def n_corrections(self) -> int:
        """The number of tokens that have a correction."""
        return 0 if self.function.corrections is None else len(self.function.corrections)


def fit_tokens(
    task: TokenTask,
    examples: TokenExamples,
    rng: np.random.Generator,
    start: FittedTokens | None = None,
    rival: FittedTokens | None = None,
    shown: FittedTokens | None = None,
    on_epoch: Report | None = None,
) -> FittedTokens:
    """Place keypoints, train the set function, then corrections with it, and make the constraints exact."""
    # Corrections come second: they would fit the labels before the set function has learned what values are worth. With
    # `start`, of the same examples and features, only its corrections are learned anew. Training that stays
    # behind its `rival` is given up. Where earlier training has `shown` after which epochs each stage is best, it ends
    # there.
    stops = () if shown is None else shown.stops
    options = replace(task.options, patience=None) if stops else task.options
    fitting, placed = _fitting(task, examples, options, rng, start, on_epoch)
    data, unit, n_classes = fitting.data, fitting.unit, examples.rows.values.shape[1]
    schedule = options.schedule(
        choose_batch_size(task.batch_size, len(data), share=64, largest=2048),
        stop_after=stops[0] or None if stops else None,
        tolerance=TOLERANCE,
    )
    n_corrections = int(examples.corrected.max(initial=-1)) + 1
    # Which way the examples of earlier training went, these go, unless only one of the two could be gone by either.
    told = shown is not None and bool(stops[0]) and shown.beside_linear
    linear = None if told else begun_linear(fitting, task.neutral, n_corrections)
    if stops and (linear is None) != bool(stops[0]):
        stops, shown = (), None
    beside_linear = told or linear is not None
    if start is not None:
        learned = Learned(unit.entered(start.plain), start.plain_loss, start.progress, start.first_losses, start.pace)
        if linear is not None and (stops or linear.loss < learned.loss):
            learned = linear
    elif linear is not None:
        learned = linear
    else:
        initial = initial_crossed_set_function(fitting.binning, fitting.layout, **fitting.sizes, rng=rng)
        initial, pace = begun_plain(initial, fitting, task.neutral, rng)
        rival_losses = [] if rival is None else rival.first_losses
        stage = schedule if shown is None else _as_many_steps(schedule, task.batch_size, shown.n_training, len(data))
        stage = replace(stage, learning_rate=pace * stage.learning_rate)
        progress = fitting.train(initial, stage, rival=rival_losses)
        behind = is_behind(unit.own(progress.best_loss), rival_losses, REFINING_SLACK)
        learned = Learned(
            progress.best, progress.best_loss, progress, progress.validation_losses, pace, worth_refining=not behind
        )
    best, progress, few = learned.function, learned.progress, 0.0
    best_epochs: tuple[int, ...] = (progress.best_epoch,) if start is None or learned is linear else start.stops[:1]
    learning = learned.worth_refining and not progress.interrupted and (len(stops) != 2 or bool(stops[1]))
    if n_corrections and learning:
        if learned is linear:
            refined = best
            schedule = replace(
                schedule,
                learning_rate=linear.pace * options.learning_rate,
                refinement=Refinement(AFTER_LINEAR * REFINE_RATE, task.pull),
                epochs=min(schedule.epochs, LINEAR_EPOCHS),
            )
        else:
            # Of epochs that earlier training has shown, as many are best with what it has learned in them.
            few = max(0.0, 1.0 - n_corrections / (TOO_MANY * len(data) * n_classes))
            if shown is not None and len(stops) == 2:
                few = shown.few
            haste = GENTLE ** (1.0 - float(np.exp(-HASTE * n_corrections / len(data))))
            rate = BESIDE_LINEAR if beside_linear else haste
            refined = replace(sloping(best, fitting.binning), corrections=np.zeros((n_corrections, n_classes)))
            schedule = replace(
                schedule,
                learning_rate=haste * learned.pace * few * options.learning_rate,
                refinement=Refinement(rate * REFINE_RATE, task.pull),
                epochs=max(min(schedule.epochs, REFINE_EPOCHS), schedule.epochs // 4),
            )
        schedule = replace(schedule, stop_after=stops[1] if len(stops) == 2 else None)
        if shown is not None and n_corrections <= MORE_CORRECTIONS * shown.n_corrections:
            schedule = _as_many_steps(schedule, task.batch_size, shown.n_training, len(data))
        # Whether they are worth it is for the choice of settings to say, which knows how far validation can tell.
        baseline = linear.loss if learned is linear and fitting.validation is not None else float("inf")
        progress = fitting.train(refined, schedule, baseline, [] if rival is None else [rival.loss])
        best_epochs = (*best_epochs, progress.best_epoch)
        if progress.best_epoch:
            best = progress.best
    validation_losses = _validation_losses(fitting, best)
    if fitting.validation is None and n_classes == 1:
        best = _levelled(best, fitting)
    function = _finished(best, fitting, placed.shown)
    first = function if best is learned.function else _finished(learned.function, fitting, placed.shown)
    counts, weights = examples.occurrences.counts, np.zeros(len(examples.labels))
    weights[examples.training] = examples.weights[examples.training]
    known = counts[(weights > 0) & (counts > 0)]
    promised = is_promised(task.features, task.trusts, PER_SET)
    tokens = 1
    if not promised:
        least = enough(len(known))
        candidates = [smallest_supported(known, max(share * len(known), least)) for share in SMALL]
        sizes = counts[placed.training]
        tokens = supported_size(learned.function, unit.loss, data, sizes, placed.sample, candidates, options.threads)
    with_tokens = data
    if len(known):
        with_tokens = replace(data, weights=np.where(counts[placed.training] > 0, data.weights, 0.0))
    support = find_support(function, fitting.binning, task.loss, with_tokens, placed.sample, tokens, options.threads)
    function = replace(function, support=support)
    if function.corrections is not None:
        function = replace(function, corrections=function.corrections * task.value_unit)
    trained, labels = examples.training, examples.labels
    n_itemless = int(np.count_nonzero(examples.occurrences.n_items[trained] == 0))
    nothing = expected_of_nothing(
        task.loss, labels[trained], weights[trained], counts[trained] == 0, n_classes, n_itemless
    )
    return FittedTokens(
        fitting.binning,
        function,
        first,
        learned.loss,
        progress,
        best_epochs,
        learned.losses,
        validation_losses,
        nothing,
        len(data),
        learned.pace,
        few,
        unit.own(progress.best_loss),
        beside_linear,
    )


def _fitting(
    task: TokenTask,
    examples: TokenExamples,
    options: Options,
    rng: np.random.Generator,
    start: FittedTokens | None,
    on_epoch: Report | None,
) -> tuple[Fitting, PlacedTokens]:
    """Place the tokens, and put together what trainings have in common."""
    labels, weights, chosen = examples.labels, examples.weights, examples.training
    if start is None:
        binning = fit_token_binning(
            task.features,
            examples.occurrences,
            examples.rows,
            keypoints=options.keypoints,
            unit=task.value_unit,
            rng=rng,
        ).for_shapes(task.trusts)
    else:
        binning = start.binning
    placer = TokenPlacer(binning, examples.rows, examples.corrected, np.float32, task.value_unit)
    unit = Unit.of(task.loss, labels[chosen], weights[chosen])
    placed = place_tokens(placer, examples, unit, rng, task.max_memory)
    fitting = Fitting(
        binning,
        Layout.full((2,) * len(task.features)),
        task.trusts,
        unit,
        placed.data,
        placed.validation,
        count_sets(weights[chosen]),
        options,
        Penalty(float(options.smoothness), least_scatter=task.loss.least_scatter),
        rng,
        on_epoch,
    )
    return fitting, placed


def _as_many_steps(schedule: Schedule, batch_size: int | str | None, n_shown: int, n_sets: int) -> Schedule:
    """Shorten a schedule that far fewer examples have shown, so that it has as many steps as with these.

    The set function has few parameters, which do not need more steps where there are more examples. Corrections do, if
    there are more of them then.
    """
    if batch_size not in (None, "auto") or n_sets < 2 * n_shown or schedule.stop_after is None:
        return schedule
    shown_batch = choose_batch_size("auto", n_shown, share=64, largest=2048)
    batch = min(schedule.batch_size, 2 * shown_batch)
    share = -(-n_shown // shown_batch) / -(-n_sets // batch)
    stop = max(1, round(schedule.stop_after * share))
    return replace(schedule, batch_size=batch, stop_after=stop, epochs=max(stop, round(schedule.epochs * share)))


def _validation_losses(fitting: Fitting, function: SetFunction) -> FloatArray | None:
    """Return the loss of every validation example, weighted."""
    if (data := fitting.validation) is None:
        return None
    outputs = outputs_of(function, data.take(np.arange(len(data))) if data.chosen is not None else data, fitting)
    return engine().losses(fitting.unit.loss, outputs, data.targets) * data.weights


def _finished(function: SetFunction, fitting: Fitting, crossed: CrossedPositions) -> SetFunction:
    function = function.copy()
    fill_missing_crossed(function, fitting.binning, crossed)
    return fitting.finished(function)


def _levelled(function: SetFunction, fitting: Fitting) -> SetFunction:
    """Shift the output to where the loss is least.

    Training that ends after so many epochs, however it goes, may end on one side of where it would settle. Of the parts
    of a function the height is what labels say most about, and what all predictions share.
    """
    # All sets: of a rare class a sample might have none, and without any the best height is that of certainty.
    data = fitting.data
    outputs = outputs_of(function, data, fitting)

    def loss(shift: float) -> float:
        return float(engine().losses(fitting.unit.loss, outputs + shift, data.targets) @ data.weights)

    found = minimize_scalar(loss, bounds=(-MOST_SHIFT, MOST_SHIFT), method="bounded", options={"xatol": 1e-4})
    return function.rescaled(float(found.x), 1.0) if found.fun < loss(0.0) else function
