"""Set models as artifacts: plain data and arrays, no code."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from numbers import Integral, Real
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.artifact import Artifact, write_artifact
from clearset.files import Key
from clearset.functions import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Certificate, Layout, Link, SetFunction, Support
from clearset.models._fitted import Record
from clearset.models._origin import Origin
from clearset.models.edits._log import edits_from_json, edits_to_json
from clearset.sets import Binning, Feature, Trust, check_threads, check_trusts, feature_columns, read_classes

if TYPE_CHECKING:
    from clearset.models._model import Model
    from clearset.models._set_model import SetModel

SET_KIND = "set estimator"

# Rho's lattice has 2 ** width vertices.
MAX_WIDTH = 12
# What verification takes a second or two for.
MAX_LOOKS = 10**6


def write_set_model(model: SetModel, path: str | PathLike[str], key: Key | None = None) -> None:
    """Write a model as an artifact."""
    write_artifact(path, set_artifact(model), key)


def set_artifact(model: SetModel) -> Artifact:
    """Return a model as an artifact."""
    document = {
        "parameters": plain(model.parameters),
        **common_to_json(model),
        "sets_of_one": model.sets_of_one,
        "n_features_in": int(model.n_features_in),
        "set_columns": plain(model.set_columns),
    }
    return Artifact(SET_KIND, document, model.function.tables)


def common_to_json(model: Model) -> dict[str, Any]:
    """Describe what all models have, but for the parameters."""
    layout, record, classes = model.function.layout, model.record, model.link.classes
    labels = None
    if classes is not None:
        labels = {"labels": plain(classes), "dtype": classes.dtype.str}
    return {
        "estimator": model.estimator,
        "binning": model.binning.to_json(),
        "trusts": plain(model.trusts),
        "layout": {"sizes": plain(layout.sizes), "subsets": plain(layout.subsets)},
        "width": model.function.width,
        "outputs": model.function.outputs,
        "rho_keypoints": model.function.rho_keypoints,
        "classes": labels,
        "loss": model.link.loss,
        "nothing": plain(model.link.nothing),
        "support": support_to_json(model.function.support),
        "certificate": model.certificate.to_json(),
        "history": plain(record.history),
        "best_epoch": record.best_epoch,
        "interrupted": record.interrupted,
        "smoothness": record.smoothness,
        "feature_names_in": plain(model.feature_names_in),
        **edits_to_json(model.edits),
        "origin": model.origin.to_json(),
    }


def set_model_parts(artifact: Artifact) -> dict[str, Any]:
    """Make the fields of a model from an artifact."""
    document = artifact.document
    check_types(document, {"n_features_in": int, "sets_of_one": bool})
    parts = common_from_json(artifact)
    link, outputs = parts["link"], document["outputs"]
    check_link(link, document["estimator"], {"SetClassifier": True, "SetRegressor": False}, CLASSIFICATION_LOSSES)
    if link.n_outputs != outputs:
        raise ValueError(f"{len(link.classes)} classes do not fit {outputs} outputs")
    return parts | {
        "parameters": parameters_from_json(document["parameters"]),
        "sets_of_one": document["sets_of_one"],
        "n_features_in": document["n_features_in"],
        "set_columns": _read_set_columns(document, parts["binning"]),
    }


def _read_set_columns(document: Mapping[str, Any], binning: Binning) -> tuple[str, ...]:
    """Return the features of whole sets; files of the first version do not tell them."""
    names = document.get("set_columns", [])
    known = set(feature_columns(binning.features))
    if not isinstance(names, list) or len(set(names)) < len(names) or not known.issuperset(names):
        raise ValueError(f"the features of whole sets are {names!r}")
    return tuple(names)


def check_link(
    link: Link, estimator: str, estimators: Mapping[str, bool | None], class_losses: Collection[str]
) -> None:
    """Raise a ValueError unless a link fits the estimator."""
    # Of each estimator is said whether it predicts classes; None means that it may predict numbers as well.
    classes = link.classes is not None
    if estimator not in estimators:
        raise ValueError(f"the estimator is {estimator!r}")
    if estimators[estimator] not in (None, classes):
        raise ValueError("classes belong to a classifier, and numbers to a regressor")
    if link.loss not in (class_losses if classes else REGRESSION_LOSSES):
        raise ValueError(f"the loss is {link.loss!r}")


def read_link(document: Mapping[str, Any], classes: npt.NDArray[Any] | None) -> Link:
    """Make the link of a model; files of the first version do not say what is predicted of nothing."""
    link, nothing = Link(document["loss"], classes), document.get("nothing")
    if nothing is None:
        return link
    outputs = np.array(nothing, dtype=np.float64)
    if outputs.shape != (link.n_outputs,) or not np.isfinite(outputs).all():
        raise ValueError(f"the outputs for nothing are {nothing!r}")
    return replace(link, nothing=outputs)


def support_to_json(support: Support | None) -> dict[str, Any] | None:
    """Describe what training has shown."""
    return None if support is None else plain(asdict(support))


def read_support(document: Mapping[str, Any], shape: tuple[int, int], n_slots: int) -> Support | None:
    """Make what training has shown; files of the first version do not tell it."""
    if (described := document.get("support")) is None:
        return None
    support = Support(
        np.array(described["base"], dtype=np.float64),
        index(described["tokens"]),
        np.array(described["counts"], dtype=np.float64),
        None if described["alone"] is None else float(described["alone"]),
    )
    numbers_hold = np.isfinite(support.base).all() and np.isfinite(support.counts).all() and (support.counts >= 0).all()
    fits = support.base.shape == shape and support.counts.shape == (n_slots,) and 0 <= support.share_of_one <= 1
    if not fits or support.tokens < 1 or not numbers_hold:
        raise ValueError("what training has shown does not fit the set function")
    return support


def parameters_from_json(document: dict[str, Any]) -> dict[str, Any]:
    """Make the parameters of an estimator that are made of declarations; the others are as they are."""
    parameters = dict(document)
    if parameters["features"] is not None:
        parameters["features"] = [
            feature if isinstance(feature, str) else Feature(**feature) for feature in parameters["features"]
        ]
    parameters["trusts"] = tuple(Trust(**trust) for trust in parameters["trusts"])
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    check_threads(parameters["n_jobs"])
    return parameters


def common_from_json(artifact: Artifact) -> dict[str, Any]:
    """Make what all models have, but for the parameters."""
    document = artifact.document
    binning = Binning.from_json(document["binning"])
    trusts = tuple(Trust(**trust) for trust in document["trusts"])
    check_trusts(trusts, binning.features)
    names, classes = document["feature_names_in"], document["classes"]
    link = read_link(document, None if classes is None else _classes(classes))
    function = _set_function(artifact, binning)
    shape = (link.n_outputs, function.width)
    return {
        "estimator": document["estimator"],
        "function": replace(function, support=read_support(document, shape, binning.n_slots)),
        "binning": binning,
        "trusts": trusts,
        "link": link,
        "certificate": Certificate.from_json(document["certificate"]),
        "record": _read_record(document),
        "feature_names_in": None if names is None else tuple(names),
        "edits": edits_from_json(document, binning.features),
        "origin": Origin.from_json(document.get("origin")),
    }


def _read_record(document: Mapping[str, Any]) -> Record:
    """Make what is known of training; files of earlier versions do not tell the smoothness."""
    smoothness = document.get("smoothness")
    number = isinstance(smoothness, int | float) and not isinstance(smoothness, bool)
    if smoothness is not None and not (number and 0 <= smoothness < float("inf")):
        raise ValueError(f"the smoothness is {smoothness!r}")
    return Record(document["history"], document["best_epoch"], document["interrupted"], smoothness)


_TYPES: dict[str, Any] = {
    "width": int,
    "outputs": int,
    "rho_keypoints": int,
    "best_epoch": int,
    "interrupted": bool,
    "history": list,
    "feature_names_in": list | None,
}


def check_types(document: dict[str, Any], further: dict[str, Any]) -> None:
    """Raise a TypeError unless all entries are of the right types; whole numbers are not negative."""
    for name, wanted in (_TYPES | further).items():
        value = document[name]
        if not isinstance(value, wanted) or (wanted is int and (isinstance(value, bool) or value < 0)):
            raise TypeError(f"{name} is {value!r}")
    if not all(isinstance(entry, dict) for entry in document["history"]):
        raise TypeError("history holds something else than epochs")
    if not all(isinstance(name, str) for name in document["feature_names_in"] or ()):
        raise TypeError("feature_names_in holds something else than names")


def _classes(document: dict[str, Any]) -> np.ndarray:
    classes = read_classes(document["labels"], document["dtype"])
    if len(classes) < 2:
        raise ValueError("there are fewer than two classes")
    return classes


def _set_function(artifact: Artifact, binning: Binning) -> SetFunction:
    """Make the set function of a form, with its parameters."""
    document, arrays = artifact.document, artifact.arrays
    n_lattices, n_trusts = len(document["layout"]["subsets"]), len(document["trusts"])
    # Ensembles have up to three lattices a feature, and one a trust. Each is looked at with each trust.
    if n_lattices > 16 * (len(binning.features) + n_trusts) or n_lattices * n_trusts > MAX_LOOKS:
        raise ValueError(f"the layout has {n_lattices:,} lattices, for {len(binning.features):,} features")
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
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Feature | Trust):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        # JSON has only strings as keys, but classes may be numbers.
        if not all(isinstance(name, str) for name in value):
            return [[plain(name), plain(part)] for name, part in value.items()]
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # a generator has moved on since; a seed is kept
    raise TypeError(f"Parameter {value!r} of type {type(value).__name__} cannot be saved; use plain values.")
