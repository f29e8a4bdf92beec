"""Joint models as artifacts: each part is a member, the artifact that it would be by itself."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.artifact import Artifact, pack_artifact, unpack_artifact, write_artifact
from clearset.files import Key
from clearset.models._joint_columns import Column, columns_of
from clearset.models._origin import Origin
from clearset.models._semantic_storage import (
    SEMANTIC_KIND,
    OtherCodeError,
    semantic_artifact,
    semantic_parameters,
    semantic_parameters_to_json,
)
from clearset.models._set_storage import SET_KIND, parameters_from_json, plain, set_artifact

if TYPE_CHECKING:
    from clearset.models._joint_model import FittedJointModel

JOINT_KIND = "joint model"
AUTO = "auto"
"""What parameters are that `fit` chooses by the data."""
_FOLLOW_ON = "follow_on.clearset"


def write_joint_model(model: FittedJointModel, path: str | PathLike[str], key: Key | None = None) -> None:
    """Write a model as an artifact."""
    members = {_engine(place): semantic_artifact(engine) for place, engine in enumerate(model.engines.values())}
    members[_FOLLOW_ON] = set_artifact(model.follow_on)
    document = {
        "columns": plain(list(model.engines)),
        "gain": float(model.gain),
        "history": plain(model.history),
        "interrupted": bool(model.interrupted),
        "origin": model.origin.to_json(),
        "parameters": _parameters_to_json(model.parameters),
    }
    packed = {name: pack_artifact(part) for name, part in members.items()}
    write_artifact(path, Artifact(JOINT_KIND, document, {}, packed), key)


def _engine(place: int) -> str:
    """Return the name of an engine's member."""
    return f"engine_{place}.clearset"


def _parameters_to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    engines, follow_on = parameters["engines"], parameters["follow_on"]
    named = {name: plain(value) for name, value in parameters.items() if name not in ("engines", "follow_on")}
    if not isinstance(engines, str):  # "auto"
        engines = [[plain(column), semantic_parameters_to_json(engine)] for column, engine in engines.items()]
    return {**named, "engines": engines, "follow_on": plain(follow_on)}


def joint_artifacts(artifact: Artifact) -> tuple[dict[Column, Artifact], Artifact]:
    """Return the artifacts of the engines by column, and that of the follow-on model."""
    columns = [_column(column) for column in artifact.document["columns"]]
    names = [_engine(place) for place in range(len(columns))]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"the columns of the engines are {columns}")
    if artifact.arrays or artifact.members.keys() != {*names, _FOLLOW_ON}:
        raise ValueError(f"the members are {sorted(artifact.members)}")
    engines = [_part(artifact, name, SEMANTIC_KIND) for name in names]
    return dict(zip(columns, engines, strict=True)), _part(artifact, _FOLLOW_ON, SET_KIND)


def _column(described: Any) -> Column:
    names = [described] if isinstance(described, str) else described
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"the column of an engine is {described!r}")
    return described if isinstance(described, str) else tuple(names)


def _part(artifact: Artifact, name: str, kind: str) -> Artifact:
    part = unpack_artifact(artifact.members[name], name)
    if part.kind != kind:
        raise ValueError(f"{name} holds a {part.kind!r}")
    return part


def joint_model_parts(artifact: Artifact, tokens: Mapping[Any, Any], filters: Mapping[Any, Any]) -> dict[str, Any]:
    """Make the fields of a model but for its parts, with the user's own tokenizers and filters by column."""
    document = artifact.document
    gain, history, parameters = document["gain"], document["history"], dict(document["parameters"])
    if not isinstance(gain, float) or not (
        isinstance(history, list) and all(isinstance(entry, dict) for entry in history)
    ):
        raise TypeError("the gain is no number, or history holds something else than epochs")
    if parameters["engines"] != AUTO:
        parameters["engines"] = {
            (column := _column(each)): semantic_parameters(described, tokens.get(column), filters.get(column))
            for each, described in parameters["engines"]
        }
    follow_on, interrupted = parameters["follow_on"], document.get("interrupted", False)
    if follow_on != AUTO:
        if follow_on["estimator"] not in ("SetClassifier", "SetRegressor"):
            raise ValueError(f"the estimator of the follow-on model is {follow_on['estimator']!r}")
        declared = parameters_from_json(follow_on["parameters"])
        parameters["follow_on"] = {"estimator": follow_on["estimator"], "parameters": declared}
    if not isinstance(interrupted, bool):
        raise TypeError(f"interrupted is {interrupted!r}")
    origin = Origin.from_json(document.get("origin"))
    return {"gain": gain, "history": history, "interrupted": interrupted, "parameters": parameters, "origin": origin}


def by_column(given: Mapping[Any, Any] | None, columns: Mapping[Column, Any]) -> Mapping[Any, Any]:
    """Return what is given for engines; raise an error where there is no such engine."""
    if unknown := [column for column in given or {} if column not in columns]:
        raise OtherCodeError(f"tokens or filters are given for {unknown}, but the engines read {list(columns)}.")
    return given or {}


def check_joint_parts(model: FittedJointModel) -> None:
    """Raise an error unless the follow-on model can read what the engines estimate."""
    names, features = model.estimate_names, {feature.name for feature in model.follow_on.binning.features}
    if len(set(names)) < len(names) or not features.issuperset(names):
        raise ValueError(f"the engines estimate {names}, but the follow-on model reads {sorted(features)}")
    classes = model.follow_on.link.classes
    for column, engine in model.engines.items():
        if engine.predicts or engine.feature_names_in not in (None, columns_of(column)):
            raise ValueError(f"a {engine.estimator} of {engine.feature_names_in} stands where {column!r} should")
        known = engine.link.classes
        # Of several classes the one that is explained is looked up.
        if classes is not None and known is not None and len(known) > 2 and not np.isin(classes, known).all():
            raise ValueError(f"an engine knows the classes {known}, the follow-on model {classes}")
