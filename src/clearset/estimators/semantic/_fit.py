"""From a token table and labelled examples to a trained set function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from clearset.estimators._fitting import count_sets
from clearset.estimators.semantic._crossing import Crossing, Occurrences, fit_binning
from clearset.estimators.semantic._rows import TokenRows
from clearset.kernels import Layout
from clearset.setfunction import (
    CROSSED_LOSSES,
    CrossedSets,
    CrossedTrainingSets,
    Loss,
    Progress,
    RefinedSetFunction,
    Refinement,
    Schedule,
    SetFunction,
    ShapeConstraints,
    Smoothness,
    fill_missing_crossed,
    initial_crossed_set_function,
    one_torch_thread,
    train,
)
from clearset.sets import Binning, Feature, Trust
from clearset.tokens import Found

# Up to this many sets say how steep the output calibrator starts.
SCALE_SETS = 4000
# Of corrections.
REFINE_RATE = 0.1
# The share of its learning rate that the set function keeps once corrections are learned beside it.
SETTLED = 0.2
# What a validation loss must fall by, as a share of itself, for training to go on.
TOLERANCE = 5e-4


@dataclass(frozen=True, eq=False)
class Examples:
    """Labelled examples with their tokens, and which of them train and which validate."""

    occurrences: Occurrences
    targets: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    training: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What training gives.

    Attributes
    ----------
    binning
        Where keypoints are.
    model
        The set function in the labels' own unit, with corrections where some were learned.
    progress
        How training went; of several stages the last.
    stops
        The best epoch of each stage.
    n_training
        The number of training examples.
    loss
        The best loss, on validation data where there are some, in the labels' own unit.
    """

    binning: Binning
    model: SetFunction
    progress: Progress
    stops: tuple[int, ...]
    n_training: int
    loss: float


@one_torch_thread()
def fit_aggregation(
    examples: Examples,
    rows: TokenRows,
    corrected: npt.NDArray[np.int32],
    features: Sequence[Feature],
    trusts: Sequence[Trust],
    *,
    loss: Loss,
    options: dict[str, Any],
    unit: float,
    threads: int,
    rng: np.random.Generator,
    start: Fitted | None = None,
    stops: Sequence[int] = (),
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Fitted:
    """Place keypoints, train the set function, then corrections with it, and make the constraints exact.

    Corrections come second: they would fit the labels before the set function knows what values are worth.

    Parameters
    ----------
    examples, rows
        The examples' tokens, and what is known of them.
    corrected
        ``(n_tokens,)``: the correction of each token, -1 for none.
    features, trusts
        Of the set function; the value is the first feature.
    loss
        What to minimise.
    options
        The estimator's parameters, all of them resolved.
    unit
        How large a difference of values is worth speaking of. Training counts values and corrections in it, for
        single precision does not reach as far as labels may.
    threads
        Of the kernels; the result does not depend on it.
    rng
        Everything random comes from here.
    start
        A set function of the same examples and features, to learn corrections for.
    stops
        Epochs after which to stop each stage, where earlier training has shown them.
    on_epoch
        Called after every epoch.
    """
    sets, weights = examples.training, examples.weights
    sizes = {"width": options["width"], "rho_keypoints": options["rho_keypoints"]}
    layout = Layout.full((2,) * len(features))
    binning = (
        fit_binning(features, examples.occurrences, rows, keypoints=options["keypoints"], rng=rng).for_shapes(
            trusts
        )
        if start is None
        else start.binning
    )
    crossed = Crossing(binning, rows, corrected, np.float32, unit).cross(examples.occurrences)
    centre, scale = loss.scaling(examples.targets[sets], weights[sets])
    scaled = loss.scaled(examples.targets, centre, scale)

    def some(chosen: npt.NDArray[np.int64]) -> CrossedTrainingSets:
        return CrossedTrainingSets(crossed, chosen, scaled[chosen], weights[chosen] / weights[chosen].mean())

    data = some(sets)
    validation = some(examples.validation) if len(examples.validation) else None

    def in_own_unit(entry: dict[str, float]) -> dict[str, float]:
        return {
            name: value if name == "epoch" else loss.in_units(value, centre, scale)
            for name, value in entry.items()
        }

    def report(entry: dict[str, float]) -> None:
        if on_epoch is not None:
            on_epoch(in_own_unit(entry))

    def trained(initial: SetFunction, schedule: Schedule, baseline: float = float("inf")) -> Progress:
        shape = ShapeConstraints(binning, trusts, layout, **sizes)
        smoothness = Smoothness(binning, layout, options["smoothness"], count_sets(weights[sets]), **sizes)
        progress = train(
            initial, shape, smoothness, loss, data, validation, schedule, rng, report, baseline=baseline
        )
        progress.history = [in_own_unit(entry) for entry in progress.history]
        return progress

    schedule = Schedule(
        optimizer=options["optimizer"],
        constraints=options["constraints"],
        learning_rate=options["learning_rate"],
        epochs=options["epochs"],
        batch_size=choose_batch_size(options["batch_size"], len(sets)),
        patience=options["patience"] if options["early_stopping"] and not stops else None,
        threads=threads,
        stop_after=stops[0] if stops else None,
        tolerance=TOLERANCE,
    )
    if start is None:
        initial = initial_crossed_set_function(binning, layout, **sizes, rng=rng)
        _scale_output(initial, data, loss, threads, rng)
        progress = trained(initial, schedule)
        best, reached = progress.best.double(), progress.best_loss
        best_epochs: tuple[int, ...] = (progress.best_epoch,)
    else:
        best, reached = start.model.rescaled(-centre / scale, 1.0 / scale), start.progress.best_loss
        progress, best_epochs = start.progress, start.stops
    n_corrections = int(corrected.max(initial=-1)) + 1
    if n_corrections and not progress.interrupted and (len(stops) != 2 or stops[1]):
        zeros = torch.zeros(n_corrections, crossed.n_classes, dtype=torch.float64)
        refined = RefinedSetFunction(best.phi, best.rho, zeros)
        schedule = replace(
            schedule,
            learning_rate=SETTLED * options["learning_rate"],
            refinement=Refinement(REFINE_RATE, options["pull"]),
            stop_after=stops[1] if stops else None,
        )
        progress = trained(refined, schedule, reached if validation is not None else float("inf"))
        best_epochs = (*best_epochs, progress.best_epoch)
        if progress.best_epoch:
            best = progress.best.double()
    fill_missing_crossed(best, binning, crossed, _nothing(binning, rows), _prior(loss, data))
    model = best.rescaled(centre, scale)
    if isinstance(model, RefinedSetFunction):
        with torch.no_grad():
            model.corrections.mul_(unit)
    ShapeConstraints.of(model, binning, trusts).project_exactly(model)
    reached = loss.in_units(progress.best_loss, centre, scale)
    return Fitted(binning, model, progress, best_epochs, len(sets), reached)


def _scale_output(
    model: SetFunction, data: CrossedTrainingSets, loss: Loss, threads: int, rng: np.random.Generator
) -> None:
    """Make the output calibrator as steep as the initial scores are worth, so that training need not begin with it."""
    chosen = np.sort(rng.permutation(len(data.sets))[:SCALE_SETS])
    start = model.to(data.dtype)
    with torch.no_grad():
        outputs = data.outputs(start, chosen, threads).double()
    model.double()
    targets, weights = torch.from_numpy(data.targets[chosen]), torch.from_numpy(data.weights[chosen])
    line = torch.zeros(2, dtype=torch.float64, requires_grad=True)  # log of the slope, and the shift
    optimizer = torch.optim.LBFGS([line], max_iter=50, line_search_fn="strong_wolfe")

    def objective() -> torch.Tensor:
        optimizer.zero_grad()
        value = (
            loss(line[0].exp() * outputs + line[1], targets) * weights
        ).mean() + 1e-3 * line.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(objective)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        if bool(torch.isfinite(line).all()):
            model.rho.output.mul_(float(line[0].clamp(-3, 4).exp())).add_(float(line[1]))


def _nothing(binning: Binning, rows: TokenRows) -> CrossedSets:
    """Make one set without tokens."""
    none = np.empty(0)
    empty = TokenRows(rows.values[:0], dict.fromkeys(rows.own, none), 0)
    numbers = np.empty(0, np.int32)
    details = {feature.name: none for feature in binning.features}
    found = Occurrences(
        Found(numbers, np.zeros(2, np.int64)),
        numbers.astype(np.int64),
        numbers,
        np.zeros(1, np.int64),
        details,
    )
    return Crossing(binning, empty, numbers, np.float64).cross(found)


def _prior(loss: Loss, data: CrossedTrainingSets) -> float:
    """Give the output, in the scaled unit, that says no more than the labels' mean."""
    if loss.name not in CROSSED_LOSSES or data.crossed.n_classes > 1:
        return 0.0
    share = float(np.clip(np.average(data.targets, weights=data.weights), 1e-6, 1 - 1e-6))
    return float(np.log(share / (1 - share)))


def choose_batch_size(wanted: int | str, n_sets: int) -> int:
    """Give the sets of one step: those asked for, or one in 64, from 32 to 2048."""
    return min(max(n_sets // 64, 32), 2048) if wanted == "auto" else int(wanted)


def outputs_of(model: SetFunction, crossed: CrossedSets, threads: int) -> npt.NDArray[np.float64]:
    """Give the ``(B, C)`` outputs of all sets."""
    with torch.no_grad(), one_torch_thread():
        outputs: npt.NDArray[np.float64] = crossed.outputs(model, None, threads).numpy()
    return outputs
