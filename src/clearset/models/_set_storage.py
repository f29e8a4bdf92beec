"""Set models as artifacts: plain data and arrays, no code."""

from __future__ import annotations

from dataclasses import asdict
from numbers import Integral, Real
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.artifact import Artifact, ArtifactError, write_artifact
from clearset.functions import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    Certificate,
    Layout,
    Link,
    SetFunction,
)
from clearset.models._fitted import Record
from clearset.sets import Binning, Feature, Trust, check_threads, check_trusts

if TYPE_CHECKING:
    from clearset.models._model import Model
    from clearset.models._set_model import SetModel

KIND = "set estimator"

# Rho's lattice has 2 ** width vertices.
MAX_WIDTH = 12

# What content of a wrong form leads to, when something is made of it.
UNMAKEABLE = (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, AttributeError)


def write_set_model(model: SetModel, path: str | PathLike[str]) -> None:
    """Write a model as an artifact."""
    document = {
        "parameters": {name: plain(value) for name, value in model.parameters.items()},
        **common_to_json(model),
        "sets_of_one": model.sets_of_one,
        "n_features_in": int(model.n_features_in),
    }
    write_artifact(path, KIND, document, model.function.tables)


def common_to_json(model: Model) -> dict[str, Any]:
    """Describe what all models have, but for the parameters."""
    layout, record, classes = model.function.layout, model.record, model.link.classes
    return {
        "estimator": model.estimator,
        "binning": model.binning.to_json(),
        "trusts": plain(model.trusts),
        "layout": {"sizes": plain(layout.sizes), "subsets": plain(layout.subsets)},
        "width": model.function.width,
        "outputs": model.function.outputs,
        "rho_keypoints": model.function.rho_keypoints,
        "classes": None if classes is None else classes_to_json(classes),
        "loss": model.link.loss,
        "certificate": model.certificate.to_json(),
        "history": [{name: plain(value) for name, value in epoch.items()} for epoch in record.history],
        "best_epoch": record.best_epoch,
        "interrupted": record.interrupted,
        "feature_names_in": plain(model.feature_names_in),
    }


def restore_set_model(artifact: Artifact, path: str | PathLike[str], make: type[SetModel]) -> SetModel:
    """Make a model from an artifact."""
    try:
        return make(**_parts(artifact.document, artifact.arrays))
    except UNMAKEABLE as error:
        raise unmakeable(path, error) from error


def unmakeable(path: str | PathLike[str], error: BaseException) -> ArtifactError:
    """Return the error that a file is complete but describes no model."""
    return ArtifactError(
        f"{path} is complete but does not describe a model this version of clearset can make ({error}). "
        "Load it with the version that wrote it, or fit the model again."
    )


def _parts(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    check_types(document, _TYPES)
    if document["estimator"] not in ("SetClassifier", "SetRegressor"):
        raise ValueError(f"the estimator is {document['estimator']!r}")
    parts = common_from_json(document, arrays)
    classes = parts["link"].classes
    if (classes is not None) != (document["estimator"] == "SetClassifier"):
        raise ValueError("classes belong to a classifier, and to nothing else")
    if parts["link"].loss not in (REGRESSION_LOSSES if classes is None else CLASSIFICATION_LOSSES):
        raise ValueError(f"the loss is {parts['link'].loss!r}")
    if parts["link"].n_outputs != document["outputs"]:
        raise ValueError(f"{len(classes)} classes do not fit {document['outputs']} outputs")
    return parts | {
        "parameters": parameters_from_json(document["parameters"]),
        "sets_of_one": document["sets_of_one"],
        "n_features_in": document["n_features_in"],
    }


def parameters_from_json(document: dict[str, Any]) -> dict[str, Any]:
    """Make the parameters of an estimator that are made of declarations; the others are as they are."""
    parameters = dict(document)
    if parameters["features"] is not None:
        parameters["features"] = [
            feature if isinstance(feature, str) else Feature(**feature) for feature in parameters["features"]
        ]
    parameters["trusts"] = tuple(Trust(**trust) for trust in parameters["trusts"])
    check_threads(parameters["n_jobs"])
    return parameters


def common_from_json(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Make what all models have, but for the parameters."""
    binning = Binning.from_json(document["binning"])
    trusts = tuple(Trust(**trust) for trust in document["trusts"])
    check_trusts(trusts, binning.features)
    names, classes = document["feature_names_in"], document["classes"]
    return {
        "estimator": document["estimator"],
        "function": set_function_from_json(document, arrays, binning),
        "binning": binning,
        "trusts": trusts,
        "link": Link(document["loss"], None if classes is None else classes_from_json(classes)),
        "certificate": Certificate.from_json(document["certificate"]),
        "record": Record(document["history"], document["best_epoch"], document["interrupted"]),
        "feature_names_in": None if names is None else tuple(names),
    }


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


def classes_to_json(classes: np.ndarray) -> dict[str, Any]:
    """Return the classes of labels, and their type, as plain data."""
    return {"labels": [plain(label) for label in classes.tolist()], "dtype": classes.dtype.str}


def classes_from_json(document: dict[str, Any]) -> np.ndarray:
    """Make the classes that `classes_to_json` wrote."""
    classes = np.array(document["labels"], dtype=document["dtype"])
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ValueError("the classes are not at least two different labels in order")
    return classes


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
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"array {name!r} holds something else than finite float64 numbers")
    empty = np.empty((0, 0))
    return SetFunction(layout, empty, empty, empty, empty, empty).with_tables(
        {name: array.copy() for name, array in arrays.items()}
    )


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
