"""Explanations as lines of text."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from clearset.cli._table_files import list_columns
from clearset.models import Explanation
from clearset.sets import SIZE
from clearset.tokens import PER_SET

# Longer names and texts are cut.
_MOST_CHARACTERS = 60


def explained_lines(
    explanation: Explanation, keys: tuple[str, Sequence[Any]] | None, X: pa.Table, top: int
) -> Iterator[str]:
    """Yield the lines of each set: the prediction, then the tokens with the largest share.

    Parameters
    ----------
    explanation : Explanation
        The explanation of the sets.
    keys : tuple of (str, sequence), or None
        The name of the key column, and the key of each set.
    X : pyarrow.Table
        The sets that the model has read.
    top : int
        The number of tokens of each set.
    """
    whole = _of_whole_sets(explanation, X)
    own = [feature for feature in explanation.features if feature not in whole]
    for number, one in enumerate(explanation.to_json()["sets"]):
        name = f"set {number}" if keys is None else f"{_text(keys[0])} {_text(keys[1][number])}"
        what = "" if one["label"] is None else f" of {_text(one['label'])}"
        yield f"{name}: prediction{what} {_text(one['prediction'])}"
        yield f"  mean score {_text(one['aggregate'])}, output {_text(one['output'])}"
        if whole:
            yield f"  {_features(one['tokens'][0], whole)}"
        tokens = sorted(one["tokens"], key=lambda token: -token["share"])
        rows = [("share", "contribution", "without", "token")]
        rows += [
            (
                f"{token['share']:.1%}",
                _text(token["contribution"]),
                _text(token["without"]),
                _token(token, own),
            )
            for token in tokens[:top]
        ]
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        for share, contribution, without, text in rows:
            yield f"  {share:>{widths[0]}}  {contribution:>{widths[1]}}  {without:>{widths[2]}}  {text}"
        if len(tokens) > top:
            yield f"  ... and {len(tokens) - top:,} more"
        yield ""


def _of_whole_sets(explanation: Explanation, X: pa.Table) -> list[str]:
    """Return the features that belong to whole sets."""
    lists = list_columns(X)
    shared = {name for name in X.column_names if lists and name not in lists} | {SIZE, *PER_SET}
    return [feature for feature in explanation.features if feature in shared]


def _token(token: dict[str, Any], names: Sequence[str]) -> str:
    if token["token"] is None:
        return "(no tokens)"
    features = _features(token, names)
    return f"{_text(token['token'])}: {features}" if isinstance(token["token"], list) else features


def _features(token: dict[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{_text(name)} {_text(token[name])}" for name in names)


def _text(value: Any) -> str:
    """Return a value as short text without control characters, which a terminal could execute."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return (" " if value and isinstance(value[0], float) else ", ").join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
