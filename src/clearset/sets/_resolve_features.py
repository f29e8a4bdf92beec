"""From what a user passes as features to one Feature per column."""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types

from ._arrow_columns import is_list, is_number, is_string
from ._built_in import BUILT_IN, SIZE
from ._columns_as_arrow import columns_of
from ._features import Feature
from ._set_data import SetData
from ._unknown_names import unknown_name


def resolve_features(X: object, features: Sequence[str | Feature] | None) -> tuple[Feature, ...]:
    """Return the declared features, each of which `X` has a column for.

    Parameters
    ----------
    X : frame, two-dimensional array or SetData
        The data, whose column names count.
    features : sequence of Feature or str, or None
        A name is a numeric feature without constraints. None takes every column of numbers, and as categorical
        every column of categories, in order: of dtype category (pandas), Categorical or Enum (polars), dictionary
        (Arrow), be they plain or in lists. Which categories there are is for the training data to say, not the dtype.
        Where there are lists, as in every SetData, `SIZE` comes last.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.sets import resolve_features
    >>> shop = pa.array(["web", "town"]).dictionary_encode()
    >>> frame = pa.table({"stars": [[5, 4], [1]], "title": ["a", "b"], "price": [9.9, 5.0], "shop": shop})
    >>> resolve_features(frame, None)
    (Feature('stars'), Feature('price'), Feature('shop', kind='categorical'), Feature('cs.SIZE'))
    """
    if features is None:
        return _every_usable(X)
    if isinstance(features, str | Feature):
        raise TypeError(f"features is a list of names or Features; received {features!r}. Put it into a list.")
    resolved = tuple(_as_feature(feature) for feature in features)
    if not resolved:
        raise ValueError("features is empty. Name a column, or pass None for every one of numbers or categories.")
    known = _names_of(X)
    seen: set[str] = set()
    for feature in resolved:
        if feature.name in seen:
            raise ValueError(f"Feature {feature.name!r} is declared twice. Leave one of the two out.")
        if feature.name not in {*BUILT_IN, *known}:
            raise ValueError(unknown_name("Column", feature.name, known))
        seen.add(feature.name)
    return resolved


def _as_feature(feature: str | Feature) -> Feature:
    if not isinstance(feature, str | Feature):
        raise TypeError(f"features holds {feature!r}, which is neither a name nor a Feature.")
    return feature if isinstance(feature, Feature) else Feature(feature)


def _names_of(X: object) -> tuple[str, ...]:
    if isinstance(X, SetData):
        return (*X.feature_names, *X.set_feature_names)
    return columns_of(X).names


def _every_usable(X: object) -> tuple[Feature, ...]:
    if isinstance(X, SetData):
        found = [_feature(name, categories=name in X.categories) for name in _names_of(X)]
        lists = True
    else:
        columns = columns_of(X)
        types_ = {name: columns.type_of(name) for name in columns.names}
        found = [
            _feature(name, categories=_is_category(type_))
            for name, type_ in zip(types_, map(_value_type, types_.values()), strict=True)
            if is_number(type_) or _is_category(type_)
        ]
        lists = any(is_list(types_[feature.name]) for feature in found)
    if not found:
        raise ValueError(
            "No column holds numbers or is of a category dtype. Pass features, in which others are Feature(name, "
            "kind='categorical')."
        )
    return (*found, Feature(SIZE)) if lists else tuple(found)


def _feature(name: str, *, categories: bool) -> Feature:
    return Feature(name, kind="categorical" if categories else "numeric")


def _value_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, or of its lists where it holds lists."""
    if not is_list(type_):
        return type_
    return (type_.value_type if types.is_dictionary(type_) else type_).value_type


def _is_category(type_: pa.DataType) -> bool:
    return bool(types.is_dictionary(type_)) and (is_number(type_.value_type) or is_string(type_.value_type))
