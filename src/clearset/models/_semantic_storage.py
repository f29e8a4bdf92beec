"""Semantic models as artifacts: plain data, arrays, and the token table as Parquet; no code."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.artifact import Artifact, write_artifact
from clearset.files import Key
from clearset.functions import CROSSED_LOSSES, Layout, Link
from clearset.models._set_storage import (
    check_link,
    check_types,
    common_from_json,
    common_to_json,
    parameters_from_json,
    plain,
)
from clearset.sets import Binning
from clearset.tokens import (
    KIND,
    NAMES,
    VALUES,
    Setting,
    TokenTable,
    as_tokenizer,
    check_details,
    check_filters,
    filter_from_json,
    filter_to_json,
    tokenizer_from_json,
)

if TYPE_CHECKING:
    from clearset.functions import SetFunction
    from clearset.models._semantic_model import SemanticModel

SEMANTIC_KIND = "semantic estimator"
TABLE = "tokens.parquet"

# What a setting says beside tokens and filters, and values of the right types.
_CHOICES = {field.name: field.default for field in fields(Setting) if field.name not in ("tokens", "filters")}
# Which estimators predict classes; an engine estimates either.
_ESTIMATORS = {"SemanticClassifier": True, "SemanticRegressor": False, "SemanticFeatureEngine": None}


def write_semantic_model(model: SemanticModel, path: str | PathLike[str], key: Key | None = None) -> None:
    """Write a model as an artifact, its token table without examples."""
    write_artifact(path, semantic_artifact(model), key)


def semantic_artifact(model: SemanticModel) -> Artifact:
    """Return a model as an artifact, its token table without examples."""
    document = {
        "parameters": semantic_parameters_to_json(model.parameters),
        **common_to_json(model),
        "setting": _setting_to_json(model.setting),
        "choices": plain(model.choices),
    }
    table = io.BytesIO()
    model.table.write_parquet(table)
    return Artifact(SEMANTIC_KIND, document, model.function.tables, {TABLE: table.getvalue()})


def semantic_parameters_to_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the parameters of an estimator of strings or texts."""
    parameters = dict(given)
    tokens, filters = parameters.pop("tokens"), parameters.pop("filters")
    return {
        **plain(parameters),
        "tokens": tokens if _is_open(tokens) else as_tokenizer(tokens).to_json(),
        "filters": filters if _is_open(filters) else _filters_to_json(filters),
    }


def _is_open(value: Any) -> bool:
    """Tell whether a parameter is left to be chosen."""
    return value is None or (isinstance(value, str) and value == "auto")


class OtherCodeError(Exception):
    """The user's own code is missing, or is not that of the file."""


def semantic_model_parts(artifact: Artifact, tokens: Any, filters: Any) -> dict[str, Any]:
    """Make the fields of a model from an artifact, with the user's own tokenizer and filters, or None."""
    document = artifact.document
    check_types(document, {"choices": list})
    if not all(isinstance(choice, dict) for choice in document["choices"]):
        raise TypeError("choices holds something else than settings")
    parameters = semantic_parameters(document["parameters"], tokens, filters)
    parts = common_from_json(artifact)
    check_link(parts["link"], document["estimator"], _ESTIMATORS, CROSSED_LOSSES)
    _check_function(parts["function"], parts["binning"], parameters["details"])
    setting = _setting(document["setting"], tokens, filters)
    if setting.width != parts["function"].width:
        raise ValueError(f"the setting has width {setting.width}")
    table = TokenTable.read_parquet(artifact.members[TABLE], setting.tokens, setting.filters)
    parts["link"] = with_usual_nothing(parts["link"], table)
    return parts | {
        "parameters": parameters,
        "table": table.without_examples(),
        "setting": setting,
        "choices": document["choices"],
    }


def with_usual_nothing(link: Link, table: TokenTable) -> Link:
    """Give a link of several classes, from a file that does not say what is predicted of nothing, their shares."""
    if link.nothing is not None or link.n_outputs == 1:
        return link
    return replace(link, nothing=link.outputs_of(table.prior))


def _check_function(function: SetFunction, binning: Binning, details: Any) -> None:
    names = [feature.name for feature in binning.features]
    known = {*NAMES, *check_details(details)} - {*VALUES}
    plain_ones = set(names[1:])
    if names[0] not in VALUES or len(plain_ones) < len(names) - 1 or not plain_ones <= known:
        raise ValueError(f"the features are {names}")
    if any(feature.kind == "categorical" and feature != KIND for feature in binning.features):
        raise ValueError("a feature is categorical")
    if function.outputs != 1 or function.layout != Layout.full((2,) * len(names)):
        raise ValueError("the set function is not that of crossed tokens")


def check_table(model: SemanticModel) -> None:
    """Raise an error unless the set function can read the table, for reading trusts it."""
    table = model.table
    classes = np.empty(0) if model.link.classes is None else model.link.classes
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
        if corrections.value != model.binning.features[0].name:
            raise ValueError(f"the corrections are of {corrections.value!r}")
    values = model.reader.rows.values
    if values.shape != (len(table), columns) or not np.isfinite(values).all():
        raise ValueError("the token table does not give finite values, one for each class")


def semantic_parameters(document: dict[str, Any], tokens: Any, filters: Any) -> dict[str, Any]:
    """Make the parameters of an estimator, with the user's own tokenizer and filters, or None."""
    parameters = parameters_from_json(document)
    parameters["details"] = tuple(parameters["details"])
    described = parameters["tokens"]
    if not _is_open(described):
        own = described["kind"] == "own" or described.get("split") is not None
        made = _tokenizer(described, tokens if own else None)
        parameters["tokens"] = tokens if own else made
    if not _is_open(parameters["filters"]):
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
        "tokens": _tokenizer(document["tokens"], tokens),
        "filters": check_filters(_filters(document["filters"], filters)),
    }
    return Setting(**{**document, **made})


def _tokenizer(document: dict[str, Any], tokens: Any) -> Any:
    try:
        return tokenizer_from_json(document, tokens)
    except ValueError as error:
        raise OtherCodeError(str(error)) from None


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
        raise OtherCodeError(f"It was made with the filters {described}, but filters={filters!r} was given.")
    return filters
