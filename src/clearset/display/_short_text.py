"""Names, numbers and tokens as short text."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from clearset.display._protocols import ShownExplanation
from clearset.sets import PLACE, PLACE_FROM_START, SIZE

_MOST_FEATURES = 3
_BUILT_IN = {SIZE: "number of tokens", PLACE: "place from the end", PLACE_FROM_START: "place from the start"}
# What features of whole sets count where tokens are made of items.
_COUNTED = {"items": "number of items", "tokens": "number of tokens"}
_IN_ORDER, _COLUMNS_IN_ORDER = b"in_order", b"columns_in_order"


def shown(name: Any, most: int = 28) -> str:
    """Return a name as one line of text, without characters that change or hide others, shortened in the middle."""
    # Names that begin alike often differ at their end.
    if isinstance(name, str) and name in _BUILT_IN:
        return _BUILT_IN[name]
    text = str(name)
    if len(text) > 8 * most:
        text = text[: 4 * most] + text[-4 * most :]
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if len(text) > most:
        end = most // 3
        return f"{text[: most - 1 - end].rstrip()}…{text[-end:].lstrip()}"
    return text or "(blank)"


def shortened(text: str, most: int) -> str:
    """Return a text of one line, without its end if it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1].rstrip(" ,…") + "…"


def said(number: Any) -> str:
    """Return a number in a few digits."""
    return f"{number:,.0f}" if 10_000 <= abs(number) < 1e9 else f"{number:.4g}"


def said_alike(numbers: Sequence[float], *, signs: bool = False) -> list[str]:
    """Return numbers that are to be compared or added up: all with the decimals that the largest needs for 3 digits."""
    sizes = [abs(number) for number in numbers if number == number]
    largest, sign = max(sizes, default=0.0), "+" if signs else ""
    if largest and not 1e-6 < largest < 1e9:
        return [f"{number:{sign}.4g}" for number in numbers]
    decimals = max(2 - int(np.floor(np.log10(largest))), int(largest < 1000)) if largest else 0
    rounded = [round(number, decimals) for number in numbers]
    # What is rounded to 0 has no sign.
    return [f"{number:{sign},.{decimals}f}" if number else f"{0:.{decimals}f}" for number in rounded]


def what_is_predicted(label: Any, *, probability: bool) -> str:
    """Return what a prediction is, and so its unit: a number, the probability of a class, or an output for it."""
    if label is None:
        return "prediction"
    return f"probability of {shown(label)}" if probability else f"output for class {shown(label)}"


def unit_of(explanation: ShownExplanation) -> str:
    """Return what the predictions of one explanation are, and so the unit of its contributions."""
    # Only with the hinge loss is the output of a class the prediction itself.
    probability = not np.array_equal(explanation.prediction, explanation.output)
    label = None if explanation.label is None else explanation.label[0]
    return what_is_predicted(label, probability=probability)


def counted(n: int, what: str) -> str:
    """Return a number and the thing that it counts, such as "3 tokens".

    Parameters
    ----------
    n : int
        The number.
    what : str
        The name of one thing, or of several if it ends with an s.

    Returns
    -------
    str
        The text.
    """
    return f"{n:,} {what}" if n == 1 or what.endswith("s") else f"{n:,} {what}s"


def token_texts(explanation: ShownExplanation, most: int, features: Sequence[str] | None = None) -> list[str]:
    """Return each token of one set in a few words: its items, or its features.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one set.
    most : int
        The largest number of characters of a token.
    features : sequence of str, optional
        The features to tell, where tokens are not made of items; by default those of tokens and, of many, those that
        differ in the set.

    Returns
    -------
    list of str
        A text for each token.
    """
    table = explanation.tokens
    tokens = table["token"].to_pylist()
    if not pa.types.is_integer(table["token"].type):
        return item_texts(table, most)
    names = token_features(explanation) if features is None else list(features)
    if features is None and len(names) > _MOST_FEATURES and len(tokens) > 1:
        # What all tokens of the set share does not tell them apart.
        names = [name for name in names if len(set(table[name].to_pylist())) > 1] or names
    columns = [table[name].to_pylist() for name in names]
    rows = zip(*columns, strict=True) if names else [()] * len(tokens)
    return [
        "no token" if token is None else shortened(", ".join(map(_said, names, row)), most) or "all features together"
        for token, row in zip(tokens, rows, strict=True)
    ]


def token_features(explanation: ShownExplanation) -> list[str]:
    """Return the features that are not of whole sets.

    Parameters
    ----------
    explanation : Explanation
        The explanation.

    Returns
    -------
    list of str
        Their names.
    """
    of_sets = {*explanation.of_sets["feature"].unique().to_pylist(), SIZE}
    return [name for name in explanation.features if name not in of_sets]


def item_texts(table: pa.Table, most: int) -> list[str]:
    """Return the tokens of a table, which are lists of items: those of n-grams as text, others with a plus between.

    Parameters
    ----------
    table : pyarrow.Table
        A table with a column ``token``.
    most : int
        The largest number of characters of a token.

    Returns
    -------
    list of str
        A text for each token.
    """
    tokens, ordered = table["token"].to_pylist(), (table.schema.metadata or {}).get(_COLUMNS_IN_ORDER)
    if ordered is not None:
        columns, known = table["column"].to_pylist(), frozenset(json.loads(ordered))
        return [_of_column(name, token, most, known) for name, token in zip(columns, tokens, strict=True)]
    between = " " if in_order(table) else " + "
    return ["no known token" if token is None else _items(token, most, between) for token in tokens]


def _of_column(column: str | None, token: list[str] | None, most: int, ordered: frozenset[str]) -> str:
    """Return a token of one of several columns; without a column, of the model that follows."""
    if column is None:
        return "all features together" if token is None else _items(token, most, ", ")
    between = " " if column in ordered else " + "
    text = "no known token" if token is None else _items(token, most, between)
    return shortened(f"{shown(column, 16)}: {text}", most)


def in_order(table: pa.Table) -> bool:
    """Return whether the items of a table's tokens are words in their order; the schema's metadata tell."""
    return (table.schema.metadata or {}).get(_IN_ORDER) == b"true"


def with_columns(table: pa.Table, ordered: Sequence[str]) -> pa.Table:
    """Return a table of tokens of several columns, which its ``column`` names.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    ordered : sequence of str
        The columns whose tokens are words in their order.

    Returns
    -------
    pyarrow.Table
        The table, in whose schema it is noted.
    """
    return table.replace_schema_metadata({_COLUMNS_IN_ORDER: json.dumps(list(ordered)).encode()})


def feature_lists(explanation: ShownExplanation) -> pa.Array:
    """Return each token as the list of its features in a few words; null where features are of whole sets.

    Parameters
    ----------
    explanation : Explanation
        The explanation of sets whose tokens have features.

    Returns
    -------
    pyarrow.Array
        A list, or null, for each token.
    """
    names, table = token_features(explanation), explanation.tokens
    if not names:
        return pa.nulls(len(table), pa.list_(pa.string()))
    rows = zip(*(table[name].to_pylist() for name in names), strict=True)
    texts = [[_said(name, value) for name, value in zip(names, row, strict=True)] for row in rows]
    absent = table["token"].is_null().to_numpy()
    return pa.array([None if gone else text for gone, text in zip(absent, texts, strict=True)], pa.list_(pa.string()))


def with_order(table: pa.Table) -> pa.Table:
    """Return a table of tokens whose items are words in their order, as n-grams have them.

    Parameters
    ----------
    table : pyarrow.Table
        The table.

    Returns
    -------
    pyarrow.Table
        The table, in whose schema it is noted.
    """
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _IN_ORDER: b"true"})


def set_feature_texts(explanation: ShownExplanation, most: int) -> list[str]:
    """Return each feature of one whole set by name and value, such as "price 9.5" or "number of tokens 3".

    Parameters
    ----------
    explanation : Explanation
        The explanation of one set.
    most : int
        The largest number of characters of a feature.

    Returns
    -------
    list of str
        A text for each feature.
    """
    of_items = not pa.types.is_integer(explanation.tokens["token"].type)
    schema, texts = explanation.tokens.schema, []
    of_columns = _COLUMNS_IN_ORDER in (schema.metadata or {})
    called = _COUNTED if of_items and not of_columns else {}
    for row in explanation.of_sets.to_pylist():
        name, value = row["feature"], row["value"]
        # What engines count and estimate of several columns has no column of its own: these are numbers.
        kind = pa.float64() if of_columns and name not in schema.names else schema.field(name).type
        if value is not None and pa.types.is_floating(kind):
            value = float(value)
        texts.append(shortened(_said(called.get(name, name), value, 40 if of_columns else 16), most))
    return texts


def _items(token: list[str], most: int, between: str) -> str:
    return shortened(between.join(shown(item, max(most // len(token) - 3, 12)) for item in token), most)


def _said(name: str, value: Any, most: int = 16) -> str:
    text = "missing" if value is None else said(value) if isinstance(value, float) else shown(value, 20)
    return f"{shown(name, most)} {text}"
