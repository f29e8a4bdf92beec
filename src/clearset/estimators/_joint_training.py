"""Joint training: fitted engines and the fitted model of their estimates, trained together for its loss."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.engines import Estimate, Schedule
from clearset.engines import engine as compute
from clearset.estimators._class_weight import class_factors, weigh
from clearset.estimators._joint_examples import JointExamples
from clearset.functions import Loss, SetFunction
from clearset.models import FittedJointModel, SemanticModel, SetModel, names_of
from clearset.sets import CrossedPositions, Positions
from clearset.training import JointSets, Part, Trial, Unit, base_means, choose_batch_size, progress_bar, train_jointly

FloatArray = npt.NDArray[np.float64]
AnyModel = TypeVar("AnyModel", SetModel, SemanticModel)


def train_together(
    joint: FittedJointModel,
    trials: Sequence[Trial],
    table: pa.Table,
    examples: JointExamples,
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
) -> tuple[FittedJointModel, bool]:
    """Train all set functions for the follow-on model's loss; return the better parts, and whether Ctrl-C ended it.

    `trials` are what the fit of each engine has left, `table` is what the follow-on model reads of all examples, and
    `parameters` are those of `JointModel`.
    """
    follow_on, training = joint.follow_on, examples.training
    wanted, classes = follow_on.parameters.get("class_weight"), follow_on.link.classes
    factors = class_factors(wanted, classes, examples.labels[training], examples.weights[training])
    weights = weigh(factors, examples.labels, examples.weights)

    def part(model: SetModel | SemanticModel, loss: Loss) -> Part:
        unit = Unit.of(loss, examples.labels[training], weights[training])
        smoothness = model.record.smoothness
        assert smoothness is not None  # noqa: S101  # it was fitted just now
        return Part(model.function, model.binning, model.trusts, smoothness, unit)

    loss = Loss(follow_on.link.loss, follow_on.parameters.get("quantile", 0.5))
    parts, estimates = [part(follow_on, loss)], []
    names = [feature.name for feature in follow_on.binning.features]
    for (column, engine), trial in zip(joint.engines.items(), trials, strict=True):
        parts.append(part(engine, Loss(engine.link.loss)))
        places = [names.index(name) for name in names_of(column, engine)]
        estimates.append(Estimate(trial.positions_out_of_fold(), engine.link, places))
    positions = follow_on.binning.positions(follow_on.read(table).sets, np.float64)
    data = JointSets(positions, estimates, examples.labels, weights, training, examples.validation)
    batch_size = choose_batch_size(parameters["batch_size"], len(training), share=64, largest=2048)
    learning_rate, epochs, patience = (parameters[name] for name in ("learning_rate", "epochs", "patience"))
    schedule = Schedule(learning_rate, epochs, batch_size, patience, follow_on.threads)
    with progress_bar({**parameters, "restarts": 1}) as on_epoch:
        progress = train_jointly(parts, data, schedule, rng, on_epoch)
    first, *rest = progress.functions
    engines = {
        column: _with_function(engine, function, estimate.positions, training, weights)
        for (column, engine), function, estimate in zip(joint.engines.items(), rest, estimates, strict=True)
    }
    gain = progress.before - progress.after
    follow_on = _with_function(follow_on, first, positions, training, weights)
    kept = replace(joint, engines=engines, follow_on=follow_on, gain=gain, history=progress.history)
    return kept, progress.interrupted


def _with_function(
    model: AnyModel,
    function: SetFunction,
    positions: Positions | CrossedPositions,
    training: npt.NDArray[np.int64],
    weights: FloatArray,
) -> AnyModel:
    """Return a model with another set function, verified; its base is that of the training sets."""
    means = compute().means(function, positions, model.threads)[training]
    base = base_means(function, model.link, [(means, weights[training])])
    model = replace(model, function=replace(function, support=replace(model.support, base=base)))
    return replace(model, certificate=model.verify())
