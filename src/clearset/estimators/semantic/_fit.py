"""From a token table and labelled examples to a trained set function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from clearset.estimators._fitting import count_sets
from clearset.estimators.semantic._crossing import Crossing, Occurrences, fit_binning
from clearset.estimators.semantic._rows import TokenRows
from clearset.kernels import Layout
from clearset.setfunction import (
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

# Up to this many sets say how steep the output calibrator starts.
SCALE_SETS = 4000
# Of corrections, in units of the value; early stopping does more against overfitting than the pull does.
REFINE_RATE = 0.1
REFINE_PULL = 0.1


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
    """What training gives."""

    binning: Binning
    model: SetFunction
    progress: Progress


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
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Fitted:
    """Place keypoints, train the set function, and make the constraints exact.

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
        How large a difference of values is worth speaking of; corrections are learned in steps of it.
    threads
        Of the kernels; the result does not depend on it.
    rng
        Everything random comes from here.
    on_epoch
        Called after every epoch.
    """
    training = examples.training
    width, rho_keypoints = options["width"], options["rho_keypoints"]
    binning = fit_binning(features, examples.occurrences, rows, keypoints=options["keypoints"], rng=rng)
    crossed = Crossing(binning, rows, corrected, np.float32).cross(examples.occurrences)
    targets, weights = examples.targets, examples.weights
    centre, scale = loss.scaling(targets[training], weights[training])
    scaled = loss.scaled(targets, centre, scale)

    def some(sets: npt.NDArray[np.int64]) -> CrossedTrainingSets:
        return CrossedTrainingSets(crossed, sets, scaled[sets], weights[sets] / weights[sets].mean())

    data = some(training)
    layout = Layout.full((2,) * len(features))
    sizes = {"width": width, "rho_keypoints": rho_keypoints}
    initial = initial_crossed_set_function(binning, layout, **sizes, rng=rng)
    _scale_output(initial, data, loss, threads, rng)
    n_corrections = int(corrected.max(initial=-1)) + 1
    if n_corrections:
        zeros = torch.zeros(n_corrections, crossed.n_classes, dtype=torch.float64)
        initial = RefinedSetFunction(initial.phi, initial.rho, zeros)
    schedule = Schedule(
        optimizer=options["optimizer"],
        constraints=options["constraints"],
        learning_rate=options["learning_rate"],
        epochs=options["epochs"],
        batch_size=choose_batch_size(options["batch_size"], len(training)),
        patience=options["patience"] if options["early_stopping"] else None,
        threads=threads,
        refinement=Refinement(REFINE_RATE * unit, REFINE_PULL / unit**2),
    )
    shape = ShapeConstraints(binning, trusts, layout, **sizes)
    n_sets = count_sets(weights[training])
    smoothness = Smoothness(binning, layout, options["smoothness"], n_sets, **sizes)

    def in_own_unit(entry: dict[str, float]) -> dict[str, float]:
        return {
            name: value if name == "epoch" else loss.in_units(value, centre, scale)
            for name, value in entry.items()
        }

    def report(entry: dict[str, float]) -> None:
        if on_epoch is not None:
            on_epoch(in_own_unit(entry))

    validation = some(examples.validation) if len(examples.validation) else None
    progress = train(initial, shape, smoothness, loss, data, validation, schedule, rng, report)
    progress.history = [in_own_unit(entry) for entry in progress.history]
    model = progress.best.double()
    fill_missing_crossed(model, binning, crossed)
    model = model.rescaled(centre, scale)
    ShapeConstraints.of(model, binning, trusts).project_exactly(model)
    return Fitted(binning, model, progress)


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


def choose_batch_size(wanted: int | str, n_sets: int) -> int:
    """Give the sets of one step: those asked for, or one in 64, from 32 to 512."""
    return min(max(n_sets // 64, 32), 512) if wanted == "auto" else int(wanted)


def outputs_of(model: SetFunction, crossed: CrossedSets, threads: int) -> npt.NDArray[np.float64]:
    """Give the ``(B, C)`` outputs of all sets."""
    with torch.no_grad(), one_torch_thread():
        outputs: npt.NDArray[np.float64] = crossed.outputs(model, None, threads).numpy()
    return outputs
