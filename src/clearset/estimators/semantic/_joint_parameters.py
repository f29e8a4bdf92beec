"""What a joint model's parameters may be, and what it decides for its parts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from clearset.estimators._classifier import SetClassifier
from clearset.estimators._parameters import check_integer, check_number
from clearset.estimators._regressor import SetRegressor
from clearset.estimators.semantic._engine import SemanticFeatureEngine


def check_joint_parameters(model: Any) -> None:
    """Refuse parameters of a `JointModel` that cannot be."""
    parameters = model.get_params(deep=False)
    if not isinstance(model.engines, Mapping) or not model.engines:
        raise TypeError(
            f"engines must be a dict of a SemanticFeatureEngine for each column; received {model.engines!r}."
        )
    for column, engine in model.engines.items():
        if not isinstance(engine, SemanticFeatureEngine):
            raise TypeError(f"The engine of {column!r} must be a SemanticFeatureEngine; received {engine!r}.")
        if engine.refine:
            raise ValueError(
                f"The engine of {column!r} has refine={engine.refine!r}, but corrections would tell the follow-on "
                "model the labels of the examples. Set refine=False."
            )
    if not isinstance(model.follow_on, SetRegressor | SetClassifier):
        raise TypeError(f"follow_on must be a SetRegressor or SetClassifier; received {model.follow_on!r}.")
    for name, lowest in (("epochs", 0), ("patience", 1), ("verbose", 0)):
        check_integer(parameters, name, lowest)
    if model.batch_size != "auto":
        check_integer(parameters, "batch_size", 1, hint=" (or 'auto')")
    check_number(parameters, "learning_rate", 0.0, float("inf"))
    if model.validation_fraction is not None:
        check_number(parameters, "validation_fraction", 0.0, 1.0)


def prepared(part: Any, follow_on: Any, rng: np.random.Generator) -> Any:
    """Copy a part, with what the whole decides for it: a seed, and of an engine the kind of its loss."""
    part, seed = clone(part), int(rng.integers(2**31 - 1))
    if part.random_state is None:
        part.set_params(random_state=seed)
    if isinstance(part, SemanticFeatureEngine):
        loss = "squared_error" if isinstance(follow_on, SetRegressor) else "log_loss"
        part.set_params(refine=False, loss=part.loss or loss)
    return part
