"""Saving and loading of semantic estimators: plain data, arrays, and the token table as Parquet; no code."""

import io
from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_classifier, is_regressor

from clearset.artifact import Artifact, ArtifactError, write_artifact
from clearset.estimators._persistence import (
    UNMAKEABLE,
    check_types,
    classes_from_json,
    classes_to_json,
    features_from_json,
    plain,
    set_function_arrays,
    set_function_from_json,
    set_function_to_json,
    unmakeable,
)
from clearset.estimators.semantic._parameters import check_details, check_parameters
from clearset.estimators.semantic._setting import Setting
from clearset.kernels import Layout
from clearset.setfunction import CROSSED_LOSSES, REGRESSION_LOSSES, Certificate
from clearset.sets import Binning, Trust, check_trusts
from clearset.tokens import NAMES, VALUES, TokenTable, as_tokeniser, tokeniser_from_json
from clearset.tokens._filters import check_filters, filter_from_json, filter_to_json

KIND = "semantic estimator"
TABLE = "tokens.parquet"

_LOSSES = (*CROSSED_LOSSES, *REGRESSION_LOSSES)
# What a setting says beside tokens and filters, and values of the right types.
_CHOICES = {field.name: field.default for field in fields(Setting) if field.name not in ("tokens", "filters")}
_TYPES: dict[str, Any] = {
    "best_epoch": int,
    "interrupted": bool,
    "history": list,
    "choices": list,
    "feature_names_in": list | None,
}


def save_semantic(estimator: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator as an artifact, its token table without examples."""
    parameters = estimator.get_params(deep=False)
    check_parameters(parameters, _LOSSES)  # what `load` would refuse
    tokens, filters = parameters.pop("tokens"), parameters.pop("filters")
    document = {
        "estimator": type(estimator).__name__,
        "parameters": {
            **{name: plain(value) for name, value in parameters.items()},
            "tokens": None if tokens is None else as_tokeniser(tokens).to_json(),
            "filters": None if filters is None else _filters_to_json(filters),
        },
        "setting": _setting_to_json(estimator.setting_),
        "choices": [_plain_entries(choice) for choice in estimator.choices_],
        "binning": estimator.binning_.to_json(),
        "trusts": plain(estimator.trusts_),
        **set_function_to_json(estimator.set_function_),
        "classes": classes_to_json(estimator.classes_) if hasattr(estimator, "classes_") else None,
        "loss": estimator.loss_,
        "certificate": estimator.certificate_.to_json(),
        "history": [_plain_entries(epoch) for epoch in estimator.history_],
        "best_epoch": estimator.best_epoch_,
        "interrupted": estimator.interrupted_,
        "feature_names_in": plain(getattr(estimator, "feature_names_in_", None)),
    }
    table = io.BytesIO()
    estimator.token_table_.write_parquet(table)
    write_artifact(
        path, KIND, document, set_function_arrays(estimator.set_function_), {TABLE: table.getvalue()}
    )


def restore_semantic(
    artifact: Artifact, classes: dict[str, type], path: str | PathLike[str], tokens: Any, filters: Any
) -> Any:
    """Make a fitted estimator from an artifact.

    Parameters
    ----------
    artifact
        What the file holds.
    classes
        The estimators there are, by name.
    path
        The file, to be named in errors.
    tokens, filters
        The user's own tokeniser and filters, or None: files hold no code.
    """
    try:
        return _restored(artifact, classes[artifact.document["estimator"]], tokens, filters)
    except _OtherCodeError as error:
        raise ArtifactError(f"Cannot load '{path}': {error}") from None
    except (*UNMAKEABLE, OSError, MemoryError, pa.ArrowException) as error:
        raise unmakeable(path, error) from error


class _OtherCodeError(Exception):
    """The user's own code is missing, or is not that of the file."""


def _restored(artifact: Artifact, cls: type, tokens: Any, filters: Any) -> Any:
    document = artifact.document
    check_types(document, _TYPES)
    estimator: Any = cls(**_parameters(document["parameters"], tokens, filters))
    check_parameters(estimator.get_params(deep=False), _LOSSES)
    _restore_labels(estimator, document)
    _restore_set_function(estimator, document, artifact.arrays)
    estimator.setting_ = setting = _setting(document["setting"], tokens, filters)
    if setting.width != estimator.set_function_.width:
        raise ValueError(f"the setting has width {setting.width}")
    estimator.token_table_ = TokenTable.read_parquet(
        artifact.members[TABLE], setting.tokens, setting.filters
    ).without_examples()
    estimator.certificate_ = Certificate.from_json(document["certificate"])
    if not all(isinstance(choice, dict) for choice in document["choices"]):
        raise TypeError("choices holds something else than settings")
    for name in ("choices", "history", "best_epoch", "interrupted"):
        setattr(estimator, f"{name}_", document[name])
    if document["feature_names_in"] is not None:
        estimator.feature_names_in_ = np.array(document["feature_names_in"], dtype=object)
    _check_table(estimator)
    return estimator


def _restore_labels(estimator: Any, document: dict[str, Any]) -> None:
    several = document["classes"] is not None
    if (is_classifier(estimator) and not several) or (is_regressor(estimator) and several):
        raise ValueError("classes belong to a classifier, and numbers to a regressor")
    if several:
        estimator.classes_ = classes_from_json(document["classes"])
    estimator.loss_ = document["loss"]
    if estimator.loss_ not in (CROSSED_LOSSES if several else REGRESSION_LOSSES):
        raise ValueError(f"the loss is {estimator.loss_!r}")


def _restore_set_function(estimator: Any, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    estimator.binning_ = binning = Binning.from_json(document["binning"])
    estimator.features_ = binning.features
    estimator.trusts_ = tuple(Trust(**trust) for trust in document["trusts"])
    check_trusts(estimator.trusts_, binning.features)
    names = [feature.name for feature in binning.features]
    known = {*NAMES, *check_details(estimator.details)} - {*VALUES}
    plain_ones = set(names[1:])
    if names[0] not in VALUES or len(plain_ones) < len(names) - 1 or not plain_ones <= known:
        raise ValueError(f"the features are {names}")
    if any(feature.kind == "categorical" for feature in binning.features):
        raise ValueError("a feature is categorical")
    estimator.set_function_ = model = set_function_from_json(document, arrays, binning)
    if model.outputs != 1 or model.phi.layout != Layout.full((2,) * len(names)):
        raise ValueError("the set function is not that of crossed tokens")


def _check_table(estimator: Any) -> None:
    """See that the table is one that the set function can read, for reading trusts it."""
    table = estimator.token_table_
    classes = getattr(estimator, "classes_", np.empty(0))
    columns = len(classes) if len(classes) > 2 else 1
    corrections = table.corrections
    n_sums = 3 if table.classes is None else len(table.classes)
    numeric = [table.task == "number", table.classes is None, table.statistics.centre is not None]
    if len(set(numeric)) > 1 or table.statistics.sums.shape[1] != n_sums:
        raise ValueError("the token table is neither of classes nor of a number")
    if columns > 1 and not (table.classes is not None and np.array_equal(table.classes, classes)):
        raise ValueError("the token table has other classes")
    if len(table.nodes) != len(table):
        raise ValueError("the token table names a token twice")
    if corrections is not None:
        amounts = corrections.amounts
        if amounts.dtype != np.float64 or amounts.shape[1] != columns or not np.isfinite(amounts).all():
            raise ValueError("the corrections are not finite numbers, one for each class")
        if corrections.value != estimator.features_[0].name:
            raise ValueError(f"the corrections are of {corrections.value!r}")
    values = estimator._reader()[0].rows.values
    if values.shape != (len(table), columns) or not np.isfinite(values).all():
        raise ValueError("the token table does not give finite values, one for each class")


def _parameters(document: dict[str, Any], tokens: Any, filters: Any) -> dict[str, Any]:
    parameters = dict(document)
    if parameters["features"] is not None:
        parameters["features"] = features_from_json(parameters["features"])
    parameters["trusts"] = tuple(Trust(**trust) for trust in parameters["trusts"])
    parameters["details"] = tuple(parameters["details"])
    described = parameters["tokens"]
    if described is not None:
        own = described["kind"] == "own" or described.get("split") is not None
        made = _tokeniser(described, tokens if own else None)
        parameters["tokens"] = tokens if own else made
    if parameters["filters"] is not None:
        parameters["filters"] = _filters(parameters["filters"], filters)
    return parameters


def _setting_to_json(setting: Setting) -> dict[str, Any]:
    return {
        "tokens": setting.tokens.to_json(),
        "filters": _filters_to_json(list(setting.filters)),
        **{name: plain(getattr(setting, name)) for name in _CHOICES},
    }


def _setting(document: dict[str, Any], tokens: Any, filters: Any) -> Setting:
    document = {**document, "details": check_details(document["details"])}
    for name, default in _CHOICES.items():
        if type(document[name]) is not type(default):
            raise TypeError(f"{name} of the setting is {document[name]!r}")
    made = {
        "tokens": _tokeniser(document["tokens"], tokens),
        "filters": check_filters(_filters(document["filters"], filters)),
    }
    return Setting(**{**document, **made})


def _tokeniser(document: dict[str, Any], tokens: Any) -> Any:
    try:
        return tokeniser_from_json(document, tokens)
    except ValueError as error:
        raise _OtherCodeError(str(error)) from None


def _filters_to_json(filters: Any) -> Any:
    """Describe filters: one alone as itself, several as a list."""
    parts = [filter_to_json(part) for part in check_filters(filters)]
    return parts[0] if callable(filters) else parts


def _filters(document: Any, filters: Any) -> Any:
    """Make the filters described, or take the user's own if they are those."""
    if filters is None:
        one = isinstance(document, dict)
        return filter_from_json(document) if one else [filter_from_json(part) for part in document]
    described = document if isinstance(document, list) else [document]
    if [filter_to_json(part) for part in check_filters(filters)] != described:
        raise _OtherCodeError(f"It was made with the filters {described}, but filters={filters!r} was given.")
    return filters


def _plain_entries(entry: dict[str, Any]) -> dict[str, Any]:
    """Turn the numbers of an entry into JSON's types."""
    return {name: plain(value) for name, value in entry.items()}
