"""Tables to train on: sets, labels and weights, what each column is used for, and what looks wrong with them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clearset.cli._column_uses import ColumnUses, uses_of_items, uses_of_numbers
from clearset.cli._column_warnings import (
    features_without_values,
    forgotten_key,
    keys_as_features,
    lists_as_items,
    lists_as_text,
    numbers_as_classes,
)
from clearset.cli._features_file import Declarations
from clearset.cli._item_columns import ItemColumns
from clearset.cli._options import CSV_SEPARATOR, Task, TrainingOptions
from clearset.cli._table_files import check_column, is_parquet, list_columns, names_in, plain_column, read_sets


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The sets of a table, their labels, and what is to be said of its columns."""

    X: pa.Table
    y: Any
    weights: Any  # or None
    uses: ColumnUses
    warnings: list[str]


def read_training_data(options: TrainingOptions, items: ItemColumns | None, declared: Declarations) -> TrainingData:
    """Read the table to train on."""
    path, label, weight = options.data, options.label, options.weight
    table = _read(path, options, items)
    rest = table.drop_columns([name for name in (label, weight, options.by) if name])
    ignore = names_in(options.ignore)
    for name in ignore:
        check_column(rest, name, path)
    if items is None:
        uses = uses_of_numbers(rest, declared.features, str(options.features), ignore, _decimal(options))
        X = rest if declared.features else rest.drop_columns(list(uses.ignored))
        if not uses.features:
            raise ValueError(_nothing_to_learn_from(path, uses))
    else:
        uses, X = uses_of_items(items.names, rest.column_names), items.take(table, path)
    others = {"key": options.by, "label": label, "weight": weight}
    return TrainingData(
        X=X,
        y=plain_column(table, label, path),
        weights=None if weight is None else plain_column(table, weight, path),
        uses=replace(uses, uses={**uses.uses, **{use: [name] for use, name in others.items() if name}}),
        warnings=list(_warnings(table, X, uses, options, declared, of_items=items is not None)),
    )


def read_held_out(path: Path, options: TrainingOptions, items: ItemColumns | None, X: pa.Table) -> tuple[pa.Table, Any]:
    """Return the sets of the table to validate on, with the columns that X has, and their labels."""
    table = _read(path, options, items)
    for name in [] if items else X.column_names:
        check_column(table, name, path)
    held_out = items.take(table, path) if items else table.select(X.column_names)
    return held_out, plain_column(table, options.label, path)


def _read(path: Path, options: TrainingOptions, items: ItemColumns | None) -> pa.Table:
    taken = [options.label] if options.weight is None else [options.label, options.weight]
    of_sets = names_in(options.set_columns)
    if options.by:
        # As columns of whole sets, label and weight are checked to be constant within each set.
        of_sets = list(dict.fromkeys([*of_sets, *taken]))
    table = read_sets(path, options, options.by, of_sets, items.names if items else ())
    for name in taken:
        check_column(table, name, path)
    return table


def _decimal(options: TrainingOptions) -> str | None:
    """Return what stands before the decimals of a CSV file; None for a Parquet file."""
    return None if is_parquet(options.data) else options.decimal or "."


def _nothing_to_learn_from(path: Path, uses: ColumnUses) -> str:
    why = "; ".join(f"{name!r}: {reason}" for name, reason in list(uses.ignored.items())[:5])
    return (
        f"'{path}' has no column to learn from beside the label{f' ({why})' if why else ''}. Features are numbers; "
        "categories are declared in a file (--features), items and texts are named by --column."
    )


def _warnings(
    table: pa.Table, X: pa.Table, uses: ColumnUses, options: TrainingOptions, declared: Declarations, *, of_items: bool
) -> Iterator[str]:
    """Yield a line for each thing that looks wrong with the columns."""
    label, decimal = options.label, _decimal(options)
    key = forgotten_key(table, label) if options.by is None and _of_one_token(X, of_items) else None
    if key is not None:
        yield (
            f"every row is a set of one token, but '{key}' repeats, and '{label}' is the same wherever it does. If "
            f"the rows that share it are one set: --by {quote(key)}"
        )
    if of_items:
        yield from lists_as_items(table, X.column_names)
    elif declared.features:
        yield from features_without_values(X, uses.features)
    else:
        yield from keys_as_features(X, [name for name in uses.features if name != key])
        unread = [name for name in uses.ignored if name not in names_in(options.ignore)]
        yield from lists_as_text(table, unread, None if decimal is None else CSV_SEPARATOR)
    if options.task is not Task.regression:
        yield from numbers_as_classes(table[label], label, decimal)


def _of_one_token(X: pa.Table, of_items: bool) -> bool:
    """Return whether no set has more than one token."""
    lists = list_columns(X)
    if of_items and not lists:
        return False  # texts, whose words are the tokens
    return all((pc.max(pc.list_value_length(X[name])).as_py() or 0) <= 1 for name in lists)
