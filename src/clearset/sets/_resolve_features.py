"""From what a user passes as features to one Feature per column."""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types

from ._arrow_columns import is_list, is_number
from ._columns_as_arrow import Columns, columns_of
from ._features import SIZE, Feature
from ._set_data import SetData
from ._unknown_names import unknown_name


def resolve_features(X: object, features: Sequence[str | Feature] | None) -> tuple[Feature, ...]:
    """Return the declared features, each of which `X` has a column for.

    Parameters
    ----------
    X : frame, two-dimensional array or SetData
        The data, whose column names count.
    features : sequence of Feature or str, or None
        A name is a numeric feature without constraints. None takes every numeric column, in order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.sets import resolve_features
    >>> frame = pa.table({"stars": [[5, 4], [1]], "title": ["a", "b"], "price": [9.9, 5.0]})
    >>> [feature.name for feature in resolve_features(frame, None)]
    ['stars', 'price']
    """
    if features is None:
        return _every_numeric(X)
    if isinstance(features, str | Feature):
        raise TypeError(f"features is a list of names or Features; received {features!r}. Put it into a list.")
    resolved = tuple(_as_feature(feature) for feature in features)
    if not resolved:
        raise ValueError("features is empty. Name at least one column, or pass None for every numeric one.")
    known = _names_of(X)
    seen: set[str] = set()
    for feature in resolved:
        if feature.name in seen:
            raise ValueError(f"Feature {feature.name!r} is declared twice. Leave one of the two out.")
        if feature.name != SIZE and feature.name not in known:
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


def _every_numeric(X: object) -> tuple[Feature, ...]:
    if isinstance(X, SetData):
        names = [name for name in _names_of(X) if name not in X.categories]
    else:
        columns = columns_of(X)
        names = [name for name in columns.names if _holds_numbers(columns, name)]
    if not names:
        raise ValueError(
            "No column holds numbers. Pass features, in which others are Feature(name, kind='categorical')."
        )
    return tuple(Feature(name) for name in names)


def _holds_numbers(columns: Columns, name: str) -> bool:
    type_: pa.DataType = columns.type_of(name)
    if not is_list(type_):
        return is_number(type_)
    lists = type_.value_type if types.is_dictionary(type_) else type_
    return is_number(lists.value_type)
