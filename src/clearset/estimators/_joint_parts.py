"""The engines and the follow-on model of a joint model: as they are declared, or as the data ask for."""

import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types
from sklearn.base import clone

from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._parameter_rules import is_auto
from clearset.estimators._set_predictors import SetClassifier, SetRegressor
from clearset.models import FOLLOW_ON, columns_of
from clearset.sets import Feature, decode, is_list, is_number, is_string, read_labels, resolve_features, unnest
from clearset.tokens import NGrams, as_tokenizer
from clearset.training import smallest_tokens

Column = str | tuple[str, ...]
Engines = dict[Column, SemanticFeatureEngine]
FollowOn = SetRegressor | SetClassifier

# Strings with more distinct values than this are tokens of an engine, which knows how little it has seen of each.
_MOST_CATEGORIES = 30


def check_engines(engines: Any) -> None:
    """Raise an error unless engines are declared as a `JointModel` takes them."""
    if is_auto(engines):
        return
    if not isinstance(engines, Mapping) or not engines:
        raise TypeError(
            "engines must be a dict of a SemanticFeatureEngine or a tokenizer for each column, or 'auto'; received "
            f"{engines!r}."
        )
    for column, engine in engines.items():
        if not isinstance(column, str) and not (isinstance(column, tuple) and all(isinstance(c, str) for c in column)):
            raise TypeError(f"engines has the key {column!r}; give the name of a column, or a tuple of names.")
        refine = getattr(engine, "refine", "auto")
        if isinstance(engine, SemanticFeatureEngine) and not is_auto(refine) and refine:
            raise ValueError(
                f"The engine of {column!r} has refine={refine!r}, but corrections would tell the follow-on model the "
                "labels of the examples. Set refine=False."
            )
    names = ["_".join(columns_of(column)) for column in engines]
    if twice := [name for name in names if names.count(name) > 1 or name == FOLLOW_ON]:
        raise ValueError(f"Estimates are named after columns, and there would be several called {twice[0]!r}. Rename.")


def check_follow_on(follow_on: Any) -> None:
    """Raise an error unless a follow-on model is declared as a `JointModel` takes it."""
    if not is_auto(follow_on) and not isinstance(follow_on, SetRegressor | SetClassifier):
        raise TypeError(f"follow_on must be a SetRegressor or SetClassifier, or 'auto'; received {follow_on!r}.")


def declared_engines(engines: Mapping[Column, Any]) -> Engines:
    """Return an engine for each column, of which some are named by a tokenizer alone, or left to be chosen."""
    return {column: _engine(column, engine) for column, engine in engines.items()}


def _engine(column: Column, declared: Any) -> SemanticFeatureEngine:
    if isinstance(declared, SemanticFeatureEngine):
        return declared
    if is_auto(declared):
        return SemanticFeatureEngine()
    try:
        return SemanticFeatureEngine(tokens=as_tokenizer(declared))
    except TypeError:
        raise TypeError(
            f"The engine of {column!r} must be a SemanticFeatureEngine, a tokenizer such as cs.Items(), or 'auto'; "
            f"received {declared!r}."
        ) from None


def chosen_follow_on(follow_on: Any, y: Any, n: int) -> FollowOn:
    """Return the follow-on model that is declared, or one of numbers or classes, as an engine tells labels apart."""
    if not is_auto(follow_on):
        declared: FollowOn = follow_on
        return declared
    return SetRegressor() if read_labels(y, n).classes is None else SetClassifier()


def chosen_parts(frame: nw.DataFrame[Any], follow_on: FollowOn, stacklevel: int) -> tuple[Engines, FollowOn]:
    """Choose an engine for each column of lists of strings and of texts; other strings are categories, if few.

    Columns that the follow-on model declares are left to it. Where it declares none, it gets the columns of categories
    beside those that it takes by default. Warnings are of the caller that `stacklevel` counts to.
    """
    declared = None if follow_on.features is None else {_name(feature) for feature in follow_on.features}
    engines: Engines = {}
    categories = []
    for name in frame.columns:
        if declared is not None and name in declared:
            continue
        use = _use_of(name, _as_arrow(frame, name), stacklevel + 1)
        if use == "engine":
            engines[name] = SemanticFeatureEngine()
        elif use == "category":
            categories.append(name)
    if not engines:
        raise ValueError(
            f"X has no column of lists of strings or of texts for an engine to read, but {frame.columns}. Use "
            f"{type(follow_on).__name__}, or name columns in engines, such as {{'name': cs.Items()}}."
        )
    if declared is None:
        features = [*dense_features(frame, engines), *(Feature(name, kind="categorical") for name in categories)]
        follow_on = clone(follow_on).set_params(features=features)
    return engines, follow_on


def _as_arrow(frame: nw.DataFrame[Any], name: str) -> pa.ChunkedArray:
    """Return a column; one of Python objects of several types, which nothing here reads, as one without values."""
    try:
        column = frame[name].to_arrow()
    except (pa.ArrowException, TypeError, UnicodeEncodeError, OverflowError):
        return pa.chunked_array([pa.nulls(len(frame))])
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _use_of(name: str, column: pa.ChunkedArray, stacklevel: int) -> str | None:
    """Return what a column is used for, if it holds strings."""
    elements = decode(unnest(column)[0])
    if not is_string(elements.type):
        return None
    if is_list(column.type):
        return "engine"
    if types.is_dictionary(column.type):
        return None  # of a category dtype, which the follow-on model takes by itself
    strings = elements.drop_null()
    if isinstance(smallest_tokens(column), NGrams):
        return "engine"
    distinct = pc.count_distinct(strings).as_py()
    if distinct <= _MOST_CATEGORIES:
        return "category" if distinct > 1 else None
    if distinct <= len(strings) / 2:
        return "engine"
    warnings.warn(
        f"Column {name!r} is left out: most of its {len(strings):,} strings are different, as names and keys are. To "
        "read it, name it in engines.",
        stacklevel=stacklevel + 1,
    )
    return None


def dense_features(frame: nw.DataFrame[Any], engines: Mapping[Column, Any]) -> list[Feature]:
    """Return the columns of numbers or of a category dtype, plain or in lists, that no engine reads."""
    read = {name for column in engines for name in columns_of(column)}
    usable = [name for name in frame.columns if name not in read and _is_usable(_as_arrow(frame, name).type)]
    return list(resolve_features(frame.select(*usable).to_native(), None)) if usable else []


def _is_usable(type_: pa.DataType) -> bool:
    values = type_.value_type if is_list(type_) else type_
    return bool(is_number(values) or (types.is_dictionary(values) and is_string(values.value_type)))


def _name(feature: Any) -> str:
    return str(feature.name if isinstance(feature, Feature) else feature)
