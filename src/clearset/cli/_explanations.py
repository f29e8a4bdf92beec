"""Explanations as lines of text, and as files."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.cli._options import CSV_SEPARATOR
from clearset.cli._table_files import check_format, did_you_mean, list_columns, write_table
from clearset.models import Explanation, Model
from clearset.sets import SIZE
from clearset.tokens import PER_SET

# Longer names and texts are cut.
_MOST_CHARACTERS = 60


def explained_lines(
    explanation: Explanation, keys: tuple[str, pa.Array] | None, X: pa.Table, top: int
) -> Iterator[str]:
    """Yield the lines of each set of X: the prediction, then the `top` tokens with the largest share."""
    # With `keys`, the name of the key column and the key of each set, sets are called by these.
    whole = _of_whole_sets(explanation, X)
    own = [feature for feature in explanation.features if feature not in whole]
    for number, one in enumerate(explanation.to_json()["sets"]):
        name = f"set {number}" if keys is None else f"{_text(keys[0])} {_text(keys[1][number].as_py())}"
        what = "" if one["label"] is None else f" of {_text(one['label'])}"
        yield f"{name}: prediction{what} {_text(one['prediction'])}"
        yield f"  mean score {_text(one['aggregate'])}, output {_text(one['output'])}"
        if whole:
            yield f"  {_features(one['tokens'][0], whole)}"
        tokens = sorted(one["tokens"], key=lambda token: -token["share"])
        rows = [("share", "contribution", "without", "token")]
        rows += [
            (f"{token['share']:.1%}", _text(token["contribution"]), _text(token["without"]), _token(token, own))
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


def check_output(output: Path | None, effects: bool) -> None:
    """Raise an error if explanations cannot be written to a file of this name."""
    as_json = output is not None and output.suffix.lower() == ".json"
    if output is not None and not as_json:
        try:
            check_format(output)
        except ValueError:
            raise ValueError(f"'{output}' is neither .csv, .parquet nor .json. Use one of these.") from None
    if effects and not as_json:
        raise ValueError("--effects are written to JSON only. Give a file: --output explanation.json.")


def class_named(model: Model, label: str) -> Any:
    """Return the class with this name; raise an error where it cannot be explained."""
    if model.link.classes is None:
        raise ValueError(f"--label is {label!r}, but the model has no classes: it predicts a number. Leave it out.")
    classes = model.link.classes.tolist()
    names = {str(each): each for each in classes}
    if label not in names:
        raise ValueError(f"--label is {label!r}, which is no class of the model. {did_you_mean(label, names)}")
    if len(classes) == 2 and label == str(classes[0]):
        raise ValueError(
            f"--label is {label!r}, the first of two classes; explanations speak for the second, {classes[1]!r}, and "
            "what is added to the one is taken from the other. Leave it out."
        )
    return names[label]


def write_explanation(explanation: Explanation, keys: tuple[str, pa.Array] | None, path: Path) -> None:
    """Write all sets to a file; keys, if given, replace the numbers of the sets."""
    if path.suffix.lower() == ".json":
        document = explanation.to_json()
        if keys is not None:
            for each, key in zip(document["sets"], keys[1].to_pylist(), strict=True):
                each["key"] = None if key != key else key  # NaN is no JSON
        path.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False, default=str), "utf-8")
        return
    frame = explanation.to_frame()
    if keys is not None:
        name, column = keys
        if name in frame.column_names[1:]:
            raise ValueError(f"The key column is named {name!r}, as a column of the explanation is. Rename it.")
        frame = frame.set_column(0, name, column.take(frame["set"]))
    write_table(_without_lists(frame) if path.suffix.lower() == ".csv" else frame, path)


def _without_lists(table: pa.Table) -> pa.Table:
    """Replace lists by text, which CSV can hold, and make a column of each field of a structure."""
    table = table.flatten().combine_chunks()
    for name in list_columns(table):
        column = table[name].combine_chunks()
        lengths = pc.list_value_length(column).fill_null(0).to_numpy()
        absent = np.append(column.is_null().to_numpy(zero_copy_only=False), False)
        offsets = pa.array(np.append(0, lengths.cumsum()).astype(np.int32), mask=absent)
        texts = pa.ListArray.from_arrays(offsets, pc.list_flatten(column).cast(pa.string()))
        table = table.set_column(table.column_names.index(name), name, pc.binary_join(texts, CSV_SEPARATOR))
    return table
