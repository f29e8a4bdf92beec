"""Explanations as lines of text, and as files."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.artifact import write_file
from clearset.cli._id_columns import beside
from clearset.cli._options import CSV_SEPARATOR
from clearset.cli._table_files import check_format, did_you_mean, list_columns
from clearset.display import item_texts, set_feature_texts, token_texts
from clearset.models import Explanation, Importance, Model

# Longer names and texts are cut.
_MOST_CHARACTERS = 60


def explained_lines(explanation: Explanation, keys: tuple[str, pa.Array] | None, top: int) -> Iterator[str]:
    """Yield the lines of each set: the prediction, then the `top` tokens and features that add most."""
    # With `keys`, the name of the key column and the key of each set, sets are called by these.
    for number, one in enumerate(explanation):
        yield _head(one, number, keys)
        texts = [*token_texts(one, _MOST_CHARACTERS), *set_feature_texts(one, _MOST_CHARACTERS)]
        amounts = [*one.tokens["contribution"].to_pylist(), *one.of_sets["contribution"].to_pylist()]
        without = [*one.tokens["without"].to_pylist(), *[None] * len(one.of_sets)]
        order = sorted(range(len(amounts)), key=lambda row: -abs(amounts[row]))
        rows = [("adds", "without it", "")]
        rows += [(_signed(amounts[row]), _text(without[row]), texts[row]) for row in order[:top]]
        if left := order[top:]:
            rows.append((_signed(sum(amounts[row] for row in left)), "", f"{len(left):,} others together"))
        widths = [max(len(row[place]) for row in rows) for place in range(2)]
        for added, left_out, text in rows:
            yield f"  {added:>{widths[0]}}  {left_out:>{widths[1]}}  {text}".rstrip()
        yield ""


def reason_lines(explanation: Explanation, keys: tuple[str, pa.Array] | None, k: int, direction: str) -> Iterator[str]:
    """Yield the lines of each set: the prediction, then up to k reasons why it is not higher, or not lower."""
    for number, one in enumerate(explanation):
        yield _head(one, number, keys)
        reasons = one.reasons(k, direction).to_pylist()
        for row in reasons:
            yield f"  {row['rank']}. {row['reason']} ({_signed(row['contribution'])})"
        if not reasons:
            yield f"  nothing {direction} it"
        yield ""


def _head(one: Explanation, number: int, keys: tuple[str, pa.Array] | None) -> str:
    name = f"set {number}" if keys is None else f"{_text(keys[0])} {_text(keys[1][number].as_py())}"
    what = "" if one.label is None else f" of {_text(one.label.tolist()[0])}"
    return f"{name}: prediction{what} {_text(float(one.prediction[0]))}, base rate {_text(float(one.base[0]))}"


def _signed(value: float) -> str:
    return f"{value:+.4g}"


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


def check_output(output: Path | None, effects: bool, reasons: int | None) -> None:
    """Raise an error if explanations cannot be written to a file of this name."""
    as_json = output is not None and output.suffix.lower() == ".json"
    if output is not None and not as_json:
        try:
            check_format(output)
        except ValueError:
            raise ValueError(f"'{output}' is neither .csv, .parquet nor .json. Use one of these.") from None
    if effects and not as_json:
        raise ValueError("--effects are written to JSON only. Give a file: --output explanation.json.")
    if reasons is not None and as_json:
        raise ValueError("--reasons are rows of a table. Give a .csv or .parquet file.")


def check_printed(output: Path | None, sets: int | None, top: int | None, reasons: int | None) -> None:
    """Raise an error if options that say what is printed would do nothing."""
    for name, given in (("sets", sets), ("top", top)):
        if given is not None and output is not None:
            raise ValueError(
                f"--{name} says what is printed, but everything is written to '{output}'. Leave out one of the two."
            )
    if top is not None and reasons is not None:
        raise ValueError(
            f"--top is {top}, but of reasons --reasons says how many are named, {reasons}. Leave out one of the two."
        )


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


def rows_of_reasons(
    reasons: pa.Table, table: pa.Table, copied: Sequence[str], keys: tuple[str, pa.Array] | None, first_set: int = 0
) -> pa.Table:
    """Return reasons with columns of their sets beside them; keys, if given, replace the numbers of the sets."""
    return _with_keys(beside(reasons, table.select(list(dict.fromkeys(copied)))), keys, first_set)


def _with_keys(frame: pa.Table, keys: tuple[str, pa.Array] | None, first_set: int) -> pa.Table:
    """Replace the numbers of sets by their keys, or count them from `first_set` on."""
    if keys is None:
        return frame if not first_set else frame.set_column(0, "set", pc.add(frame["set"], first_set))
    name, column = keys
    if name in frame.column_names[1:]:
        raise ValueError(f"The key column is named {name!r}, as a column of the explanation is. Rename it.")
    return frame.set_column(0, name, column.take(frame["set"]))


def write_explanation(explanation: Explanation, keys: tuple[str, pa.Array] | None, path: Path) -> None:
    """Write all sets to a JSON file; keys, if given, are beside the numbers of the sets."""
    document = explanation.to_json()
    if keys is not None:
        for each, key in zip(document["sets"], keys[1].to_pylist(), strict=True):
            each["key"] = None if key != key else key  # NaN is no JSON
    write_file(path, json.dumps(document, ensure_ascii=False, allow_nan=False, default=str).encode())


def rows_of_explanation(
    explanation: Explanation, keys: tuple[str, pa.Array] | None, path: Path | None, first_set: int = 0
) -> pa.Table:
    """Return all sets as rows of a file; keys, if given, replace the numbers of the sets."""
    frame = _with_keys(explanation.to_frame(details=True), keys, first_set)
    return _without_lists(frame) if path is not None and path.suffix.lower() == ".csv" else frame


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


def importance_lines(importance: Importance, top: int) -> Iterator[str]:
    """Yield the features, then the tokens, the most important first."""
    by_contribution = "contribution" in importance.features.column_names
    what = f"in the unit of the {importance.unit}" if by_contribution else f"what shuffling costs in {importance.unit}"
    yield f"Over {importance.n_sets:,} sets, {what}:"
    yield ""
    for table in (importance.features, importance.tokens):
        if table is None:
            continue
        first, *numbers = table.column_names
        named = table.slice(0, top)
        names = item_texts(named, _MOST_CHARACTERS) if first == "token" else map(_text, named[first].to_pylist())
        columns = [[first, *names], *([name, *map(_text, named[name].to_pylist())] for name in numbers)]
        widths = [max(map(len, column)) for column in columns]
        for name, *cells in zip(*columns, strict=True):
            aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
            yield "  ".join([f"{name:<{widths[0]}}", *aligned])
        if len(table) > top:
            yield f"... and {len(table) - top:,} more"
        yield ""
