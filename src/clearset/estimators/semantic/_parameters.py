"""Checks of the semantic estimators' parameters, all before any work."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from clearset.estimators._parameters import (
    CONSTRAINTS,
    MAX_WIDTH,
    OPTIMIZERS,
    check_choice,
    check_integer,
    check_number,
    check_threads,
)
from clearset.sets import Feature, Trust, check_trusts
from clearset.tokens import NAMES, VALUES

MAX_FOLDS = 31
MAX_FEATURES = 12  # of a full lattice: its vertices double with each


def check_parameters(parameters: dict[str, Any], losses: Sequence[str]) -> None:
    """Raise the error that says what is wrong with an estimator's parameters, if something is."""
    if parameters["loss"] is not None:
        check_choice(parameters, "loss", losses)
    check_choice(parameters, "optimizer", OPTIMIZERS)
    check_choice(parameters, "constraints", CONSTRAINTS)
    for name in ("cover", "refine"):
        value = parameters[name]
        if name == "refine" and isinstance(value, int) and not isinstance(value, bool):
            check_integer(parameters, name, 0, 100)
        elif value is not None and not isinstance(value, bool | np.bool_):
            raise ValueError(
                f"{name} must be True, False, or None to choose on validation data; received {value!r}."
            )
    if parameters["width"] is not None:
        check_integer(parameters, "width", 1, MAX_WIDTH, hint=", or None to choose on validation data")
    if parameters["cross_fit"] is not None and parameters["cross_fit"] is not False:
        check_integer(parameters, "cross_fit", 2, MAX_FOLDS, hint=", or None for no folds")
    for name in ("keypoints", "rho_keypoints"):
        check_integer(parameters, name, 2, 1000)
    for name in ("epochs", "patience"):
        check_integer(parameters, name, 1)
    if parameters["batch_size"] != "auto":
        check_integer(parameters, "batch_size", 1, hint=" (or 'auto')")
    check_integer(parameters, "verbose", 0)
    check_number(parameters, "learning_rate", 0.0, float("inf"))
    if parameters["validation_fraction"] is not None:
        check_number(parameters, "validation_fraction", 0.0, 1.0)
    for name in ("smoothness", "shrinkage"):
        if parameters[name] != 0 or isinstance(parameters[name], bool):
            check_number(parameters, name, 0.0, float("inf"))
    if not isinstance(parameters["early_stopping"], bool):
        raise ValueError(f"early_stopping must be True or False; received {parameters['early_stopping']!r}.")
    check_threads(parameters["n_jobs"])


def check_features(features: Any, details: Sequence[str], trusts: Any) -> tuple[Feature, ...] | None:
    """Read the features that the set function is to see, the value first; None for the usual ones."""
    if isinstance(features, str | Feature) or not isinstance(features, Iterable | None):
        raise TypeError(
            f"features must be a list of names or Features; received {features!r}. Write it in brackets."
        )
    if features is None:
        if trusts:
            raise ValueError(
                "trusts speak of features, so name these too, such as features=['mean_label', 'count']."
            )
        return None
    declared = [feature if isinstance(feature, Feature) else Feature(feature) for feature in features]
    names = [feature.name for feature in declared]
    known = (*NAMES, *details)
    for feature in declared:
        if feature.name not in known:
            raise ValueError(
                f"Feature {feature.name!r} is not known of tokens; choose among {', '.join(known)}."
            )
        if feature.kind == "categorical" or feature.lattice_size not in (None, 2):
            raise ValueError(f"Feature {feature.name!r} must be numeric, with a lattice of size 2.")
    if len(set(names)) < len(names):
        raise ValueError(f"features names something twice: {names}.")
    values = [name for name in names if name in VALUES]
    if len(values) != 1:
        raise ValueError(
            f"features must hold one of {' and '.join(VALUES)}, which the estimate rises with; received {names}."
        )
    if len(names) > MAX_FEATURES:
        raise ValueError(f"features names {len(names)}; at most {MAX_FEATURES} are allowed.")
    value = declared[names.index(values[0])]
    if value.monotonic not in (None, "increasing"):
        raise ValueError(
            f"Feature {value.name!r} is always increasing; received monotonic={value.monotonic!r}."
        )
    rising = Feature(
        value.name, monotonic="increasing", keypoints=value.keypoints, bounds=value.bounds, shape=value.shape
    )
    chosen = (rising, *(feature for feature in declared if feature.name != value.name))
    check_trusts(tuple(trusts), chosen)
    return chosen


def check_details(details: Any) -> tuple[str, ...]:
    """Read the names of detail columns."""
    if (
        isinstance(details, str)
        or not isinstance(details, Iterable)
        or not all(isinstance(name, str) for name in details)
    ):
        raise TypeError(f"details must be a list of column names; received {details!r}.")
    clash = [name for name in details if name in NAMES]
    if clash:
        raise ValueError(
            f"details names {clash}, which clearset knows as features of tokens. Rename the columns."
        )
    return tuple(details)


def check_trust_list(trusts: Any) -> tuple[Trust, ...]:
    """Read trusts."""
    if not isinstance(trusts, Iterable):
        raise TypeError(
            f"trusts is a list of Trust, empty for none; received {trusts!r}. Put it into a list."
        )
    found = tuple(trusts)
    for trust in found:
        if not isinstance(trust, Trust):
            raise TypeError(f"trusts must be a list of Trust; received {trust!r}.")
    return found
