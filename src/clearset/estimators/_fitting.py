"""From labelled sets to a trained set function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearset.estimators._ensemble import choose_layout
from clearset.setfunction import (
    Loss,
    Progress,
    Schedule,
    SetFunction,
    ShapeConstraints,
    Smoothness,
    TrainingSets,
    fill_missing,
    initial_set_function,
    leanings,
    train,
)
from clearset.sets import Binning, Feature, SetData, Trust

# Below this many values (tokens x features) training is in double precision: it costs nothing there.
DOUBLE_PRECISION_VALUES = 1_000_000
# A validation set of fewer sets says more about chance than about the model.
SMALLEST_VALIDATION = 50


@dataclass(frozen=True)
class LabelledSets:
    """Sets with a number (a label or the index of a class) and a weight each."""

    sets: SetData
    labels: np.ndarray
    weights: np.ndarray

    def __getitem__(self, chosen: np.ndarray) -> "LabelledSets":
        return LabelledSets(self.sets[chosen], self.labels[chosen], self.weights[chosen])

    def __len__(self) -> int:
        return len(self.labels)


class Start(NamedTuple):
    """A fitted set function to go on from."""

    binning: Binning
    model: SetFunction


def fit_set_function(
    data: LabelledSets,
    validation: LabelledSets | None,
    features: Sequence[Feature],
    trusts: Sequence[Trust],
    *,
    outputs: int,
    loss: Loss,
    options: dict[str, Any],
    threads: int,
    rng: np.random.Generator,
    start: Start | None = None,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> tuple[Binning, SetFunction, Progress]:
    """Place keypoints, lay out the lattices, train (several times with restarts), and make the constraints exact.

    Returns the binning, the set function in the labels' own unit, and how training went.

    Parameters
    ----------
    data, validation
        What to train on, and what to choose the epoch and the restart by.
    features, trusts
        The declarations.
    outputs
        Set functions side by side: 1, or one a class.
    loss
        What to minimise.
    options
        The estimator's parameters.
    threads
        Of the kernels; the result does not depend on it.
    rng
        Everything random comes from here.
    start
        A fitted set function to go on from.
    on_epoch
        Called after every epoch.
    """
    width, rho_keypoints = options["width"], options["rho_keypoints"]
    if start is None:
        binning = Binning.fit(
            data.sets, features, keypoints=options["keypoints"], sample_weight=data.weights
        ).for_shapes(trusts)
        layout = choose_layout(
            features, trusts, lattices=options["lattices"], lattice_size=options["lattice_size"], rng=rng
        )
    else:
        binning, layout = start.binning, start.model.phi.layout
    n_values = data.sets.n_tokens * len(features)
    dtype = np.float64 if n_values < DOUBLE_PRECISION_VALUES else np.float32
    centre, scale = loss.scaling(data.labels, data.weights)

    def prepared(labelled: LabelledSets) -> TrainingSets:
        weights = labelled.weights / labelled.weights.mean()
        return TrainingSets(
            binning.positions(labelled.sets, dtype), loss.scaled(labelled.labels, centre, scale), weights
        )

    training = prepared(data)
    validating = None if validation is None else prepared(validation)
    schedule = Schedule(
        optimizer=options["optimizer"],
        constraints=options["constraints"],
        learning_rate=options["learning_rate"],
        epochs=options["epochs"],
        batch_size=_batch_size(options["batch_size"], len(data)),
        patience=options["patience"] if options["early_stopping"] else None,
        threads=threads,
    )

    def in_own_unit(entry: dict[str, float]) -> dict[str, float]:
        return {
            name: value if name == "epoch" else loss.in_units(value, centre, scale)
            for name, value in entry.items()
        }

    def report(entry: dict[str, float]) -> None:
        if on_epoch is not None:
            on_epoch(in_own_unit(entry))

    def trained(initial: SetFunction) -> Progress:
        # Constraints and smoothness remember where a training has got to, so each training has its own.
        shape = ShapeConstraints(binning, trusts, layout, width=width, rho_keypoints=rho_keypoints)
        smoothness = Smoothness(
            binning,
            layout,
            options["smoothness"],
            count_sets(data.weights),
            width=width,
            rho_keypoints=rho_keypoints,
        )
        return train(initial, shape, smoothness, loss, training, validating, schedule, rng, report)

    if start is not None:
        best = trained(start.model.rescaled(-centre / scale, 1.0 / scale))
    else:
        sizes = {"width": width, "rho_keypoints": rho_keypoints}
        leaning = leanings(binning, training.positions, _output_targets(training, outputs))
        attempts: list[Progress] = []
        while len(attempts) < options["restarts"] and not any(attempt.interrupted for attempt in attempts):
            attempts.append(trained(initial_set_function(binning, layout, leaning, **sizes, rng=rng)))
        best = min(attempts, key=lambda attempt: attempt.best_loss)
        best.interrupted = attempts[-1].interrupted
    if best.interrupted and not best.history:
        raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
    best.history = [in_own_unit(entry) for entry in best.history]
    model = best.best.double()
    fill_missing(model, binning, training.positions)
    model = model.rescaled(centre, scale)
    ShapeConstraints.of(model, binning, trusts).project_exactly(model)
    return binning, model, best


def _output_targets(training: TrainingSets, outputs: int) -> np.ndarray:
    """Give ``(B, C)`` centred, weighted targets: the labels, or of each class whether it is the label."""
    targets = training.targets[:, None]
    if outputs > 1:
        targets = (targets == np.arange(outputs)).astype(np.float64)
    mean = np.average(targets, axis=0, weights=training.weights)
    return np.asarray(training.weights[:, None] * (targets - mean))


def count_sets(weights: np.ndarray) -> float:
    """Say how many sets the weighted ones stand for.

    Whole numbers are repetitions. Any other weights are relative, so they stand for as many sets as there are.
    """
    return float(weights.sum() if (weights == np.floor(weights)).all() else len(weights))


def _batch_size(wanted: int | str, n_sets: int) -> int:
    return min(max(n_sets // 16, 32), 1024) if wanted == "auto" else int(wanted)


def split(
    data: LabelledSets, fraction: float, rng: np.random.Generator, *, stratify: bool
) -> tuple[LabelledSets, LabelledSets | None]:
    """Set a random share of the sets aside for validation, of every class alike; of too few sets none."""
    size = min(round(fraction * len(data)), len(data) - 1)
    if size < SMALLEST_VALIDATION:
        return data, None
    order = rng.permutation(len(data))
    if stratify:
        order = order[np.argsort(data.labels[order], kind="stable")]
    # Every n-th set: where the classes lie end to end each gives its share.
    chosen = np.zeros(len(data), dtype=bool)
    chosen[order[np.arange(size) * len(data) // size]] = True
    return data[~chosen], data[chosen]
