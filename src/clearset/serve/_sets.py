"""Sets as JSON has them, in the form that models read."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from clearset.sets import SIZE
from clearset.tokens import Cross, Difference


def read_json_sets(model: Any, sets: Any) -> Any:
    """Give sets as the model reads them.

    Parameters
    ----------
    model
        A fitted model.
    sets : list
        Of models of sets: objects with the features, a list with a value for each token, or one value for the whole
        set; null or left out is missing. Of semantic models: texts, lists of items, pairs of such lists where the model
        reads two columns, or objects with its columns.
    """
    if not isinstance(sets, list) or not sets:
        raise ValueError(f"'sets' must be a list with at least one set; received {_named(sets)}.")
    return _items(model, sets) if hasattr(model, "token_table_") else _features(model, sets)


def _items(model: Any, sets: list[Any]) -> Any:
    kinds = {type(one) for one in sets}
    if len(kinds) > 1 or not kinds <= {str, list, dict}:
        found = ", ".join(sorted({_named(one) for one in sets}))
        raise ValueError(
            f"'sets' must hold texts only, or lists of items only, or objects only; received {found}."
        )
    if kinds == {dict}:
        names = list(getattr(model, "feature_names_in_", [])) or list(sets[0])
        for place, one in enumerate(sets):
            _check_names(one, names, place)
        return pa.table({name: _column(name, [one.get(name) for one in sets], None) for name in names})
    if isinstance(model.token_table_.tokeniser, Cross | Difference):
        if any(len(one) != 2 for one in sets):
            raise ValueError("The model reads two columns. Give every set as a pair: [left, right].")
        return [tuple(one) for one in sets]
    return sets


def _features(model: Any, sets: list[Any]) -> pa.Table:
    names = list(getattr(model, "feature_names_in_", []))
    names = names or [feature.name for feature in model.features_ if feature.name != SIZE]
    categories = dict(zip([f.name for f in model.features_], model.binning_.categories, strict=True))
    for place, one in enumerate(sets):
        if not isinstance(one, dict):
            raise ValueError(
                f"Set {place} must be an object of features, such as {{{names[0]!r}: [1.5, 2]}}; "
                f"received {_named(one)}."
            )
        _check_names(one, names, place)
    sizes = [_size(one, place) for place, one in enumerate(sets)]
    listed = {name for one in sets for name, value in one.items() if isinstance(value, list)}
    columns = {}
    for name in names:
        values = [one.get(name) for one in sets]
        if name in listed:
            values = [
                [None] * (size or 0) if value is None else value
                for value, size in zip(values, sizes, strict=True)
            ]
            if not all(isinstance(value, list) for value in values):
                raise ValueError(
                    f"Feature {name!r} is a list in one set and a single value in another. Give it one form."
                )
        columns[name] = _column(name, values, None if categories.get(name) is not None else pa.float64())
    return pa.table(columns)


def _size(one: Mapping[str, Any], place: int) -> int | None:
    sizes = {name: len(value) for name, value in one.items() if isinstance(value, list)}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
        raise ValueError(
            f"The lists of set {place} differ in length: {said}. Give one value for each token, null if missing."
        )
    return next(iter(sizes.values()), None)


def _check_names(one: Mapping[str, Any], names: Sequence[str], place: int) -> None:
    if unknown := [name for name in one if name not in names]:
        raise ValueError(
            f"Set {place} has {unknown[0][:100]!r}, which the model does not know. It reads: {', '.join(names)[:1000]}."
        )


def _column(name: str, values: list[Any], kind: pa.DataType | None) -> pa.Array:
    if kind is not None and any(isinstance(value, list) for value in values):
        kind = pa.list_(kind)
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        wanted = "values of one kind" if kind is None else "numbers, or null for missing"
        raise ValueError(f"Feature {name!r} must hold {wanted}: {error}") from error


def _named(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    if value == []:
        return "an empty list"
    return names.get(type(value), "a number")
