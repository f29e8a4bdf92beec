"""Saving and loading of fitted estimators: plain data and arrays, no code."""

from dataclasses import asdict
from numbers import Integral, Real
from operator import index
from os import PathLike
from typing import Any

import numpy as np
import torch
from sklearn.base import is_classifier

from clearset.artifact import Artifact, ArtifactError, write_artifact
from clearset.estimators._parameters import MAX_WIDTH, check_parameters
from clearset.kernels import Layout
from clearset.setfunction import Certificate, Phi, Rho, SetFunction
from clearset.sets import Binning, Feature, Trust, check_trusts

KIND = "set estimator"

# What content of a wrong form leads to, when something is made of it.
UNMAKEABLE = (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, AttributeError)


def save_estimator(estimator: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator as an artifact."""
    model: SetFunction = estimator.set_function_
    parameters = estimator.get_params(deep=False)
    check_parameters(parameters, estimator._losses)  # what `load` would refuse
    document = {
        "estimator": type(estimator).__name__,
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "binning": estimator.binning_.to_json(),
        "trusts": plain(estimator.trusts_),
        **set_function_to_json(model),
        "classes": classes_to_json(estimator.classes_) if hasattr(estimator, "classes_") else None,
        "loss": estimator.loss_,
        "sets_of_one": estimator.sets_of_one_,
        "certificate": estimator.certificate_.to_json(),
        "history": estimator.history_,
        "best_epoch": estimator.best_epoch_,
        "interrupted": estimator.interrupted_,
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": plain(getattr(estimator, "feature_names_in_", None)),
    }
    write_artifact(path, KIND, document, set_function_arrays(model))


def restore_estimator(artifact: Artifact, classes: dict[str, type], path: str | PathLike[str]) -> Any:
    """Make a fitted estimator from an artifact; ``classes`` are the estimators there are, by name."""
    document = artifact.document
    try:
        return _restored(document, artifact.arrays, classes[document["estimator"]])
    except UNMAKEABLE as error:
        raise unmakeable(path, error) from error


def unmakeable(path: str | PathLike[str], error: BaseException) -> ArtifactError:
    """Say that a file is whole but of no use."""
    return ArtifactError(
        f"{path} is complete but does not describe a model this version of clearset can make ({error}). "
        "Load it with the version that wrote it, or fit the model again."
    )


def _restored(document: dict[str, Any], arrays: dict[str, np.ndarray], cls: type) -> Any:
    parameters = dict(document["parameters"])
    if parameters["features"] is not None:
        parameters["features"] = features_from_json(parameters["features"])
    parameters["trusts"] = tuple(Trust(**trust) for trust in parameters["trusts"])
    estimator: Any = cls(**parameters)
    check_parameters(estimator.get_params(deep=False), estimator._losses)
    check_types(document, _TYPES)
    estimator.binning_ = Binning.from_json(document["binning"])
    estimator.features_ = estimator.binning_.features
    estimator.trusts_ = tuple(Trust(**trust) for trust in document["trusts"])
    check_trusts(estimator.trusts_, estimator.features_)
    estimator.set_function_ = set_function_from_json(document, arrays, estimator.binning_)
    if (document["classes"] is not None) != is_classifier(estimator):
        raise ValueError("classes belong to a classifier, and to nothing else")
    if document["classes"] is not None:
        estimator.classes_ = classes_from_json(document["classes"])
        outputs = 1 if len(estimator.classes_) == 2 else len(estimator.classes_)
        if outputs != document["outputs"]:
            raise ValueError(f"{len(estimator.classes_)} classes do not fit {document['outputs']} outputs")
    estimator.certificate_ = Certificate.from_json(document["certificate"])
    estimator.loss_ = document["loss"]
    estimator.sets_of_one_ = document["sets_of_one"]
    if estimator.loss_ not in estimator._losses:
        raise ValueError(f"the loss is {estimator.loss_!r}")
    estimator.history_ = document["history"]
    estimator.n_iter_ = len(estimator.history_)
    estimator.best_epoch_ = document["best_epoch"]
    estimator.interrupted_ = document["interrupted"]
    estimator.n_features_in_ = document["n_features_in"]
    if document["feature_names_in"] is not None:
        estimator.feature_names_in_ = np.array(document["feature_names_in"], dtype=object)
    return estimator


_TYPES: dict[str, Any] = {
    "width": int,
    "outputs": int,
    "rho_keypoints": int,
    "best_epoch": int,
    "n_features_in": int,
    "interrupted": bool,
    "sets_of_one": bool,
    "history": list,
    "feature_names_in": list | None,
}


def check_types(document: dict[str, Any], types: dict[str, Any]) -> None:
    """Raise a TypeError unless the entries are of these types; whole numbers are not negative."""
    for name, wanted in types.items():
        value = document[name]
        if not isinstance(value, wanted) or (wanted is int and (isinstance(value, bool) or value < 0)):
            raise TypeError(f"{name} is {value!r}")
    if not all(isinstance(entry, dict) for entry in document["history"]):
        raise TypeError("history holds something else than epochs")
    if not all(isinstance(name, str) for name in document["feature_names_in"] or ()):
        raise TypeError("feature_names_in holds something else than names")


def features_from_json(features: list[Any]) -> list[str | Feature]:
    """Make the features of a parameter: names, or declarations."""
    return [feature if isinstance(feature, str) else Feature(**feature) for feature in features]


def classes_to_json(classes: np.ndarray) -> dict[str, Any]:
    """Give the classes of labels, and their type, as plain data."""
    return {"labels": [plain(label) for label in classes.tolist()], "dtype": classes.dtype.str}


def classes_from_json(document: dict[str, Any]) -> np.ndarray:
    """Make the classes that `classes_to_json` wrote."""
    classes = np.array(document["labels"], dtype=document["dtype"])
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ValueError("the classes are not at least two different labels in order")
    return classes


def set_function_to_json(model: SetFunction) -> dict[str, Any]:
    """Give the form of a set function as plain data."""
    layout = model.phi.layout
    return {
        "layout": {"sizes": plain(layout.sizes), "subsets": plain(layout.subsets)},
        "width": plain(model.width),
        "outputs": model.outputs,
        "rho_keypoints": model.rho_keypoints,
    }


def set_function_arrays(model: SetFunction) -> dict[str, np.ndarray]:
    """Give the parameters of a set function."""
    return {name: parameter.detach().numpy() for name, parameter in model.tables.items()}


def set_function_from_json(
    document: dict[str, Any], arrays: dict[str, np.ndarray], binning: Binning
) -> SetFunction:
    """Make the set function of a form, with its parameters."""
    layout = Layout(
        tuple(index(size) for size in document["layout"]["sizes"]),
        tuple(tuple(index(d) for d in subset) for subset in document["layout"]["subsets"]),
    )
    width, outputs, keypoints = document["width"], document["outputs"], document["rho_keypoints"]
    if layout.n_features != len(binning.features):
        raise ValueError(f"the layout has {layout.n_features} features, the binning {len(binning.features)}")
    if not (1 <= width <= MAX_WIDTH and outputs >= 1):
        raise ValueError(f"width is {width}, outputs is {outputs}")
    rows = width * outputs
    # Compared before anything of these sizes is made: a few bytes must not be able to ask for all the memory.
    expected = {
        "phi.calibration": (rows, binning.n_slots),
        "phi.vertices": (rows, layout.n_vertices),
        "rho.calibrators": (rows, keypoints),
        "rho.vertices": (outputs, 2**width),
        "rho.output": (outputs, keypoints),
    }
    received = {name: array.shape for name, array in arrays.items()}
    if expected != received:
        raise ValueError(f"arrays {received} do not fit {expected}")
    phi = Phi(layout, torch.zeros(rows, binning.n_slots), torch.zeros(rows, layout.n_vertices))
    model = SetFunction(phi, Rho(width, outputs, keypoints)).double()
    with torch.no_grad():
        for name, parameter in model.tables.items():
            if arrays[name].dtype != np.float64 or not np.isfinite(arrays[name]).all():
                raise ValueError(f"array {name!r} holds something else than finite float64 numbers")
            parameter.copy_(torch.from_numpy(arrays[name].copy()))
    return model


def plain(value: Any) -> Any:
    """Turn a parameter into JSON's types."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Feature | Trust):
        return {name: plain(part) for name, part in asdict(value).items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # a generator has moved on since; a seed is kept
    raise TypeError(f"Parameter {value!r} of type {type(value).__name__} cannot be saved; use plain values.")
