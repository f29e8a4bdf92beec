"""Tables to train on: sets, labels and weights, what each column is used for, and what looks wrong with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
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
from clearset.cli._options import CSV_SEPARATOR, CsvFormat, Task, TrainingOptions
from clearset.cli._table_files import check_column, is_parquet, list_columns, names_in, plain_column, read_sets
from clearset.engines import processes
from clearset.sets import BUILT_IN, Feature, Stream, as_stream, memory_limit, resolve_features

# So many rows of data that are not read at once show what columns hold.
_FIRST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The sets of a table, their labels, and what is to be said of its columns."""

    X: pa.Table | Stream
    y: Any
    weights: Any  # or None
    features: Sequence[Feature | str] | None  # what the estimator is told of features
    uses: ColumnUses
    warnings: list[str]


def training_stream(options: TrainingOptions, max_memory: str | None) -> Stream | None:
    """Return the rows of a folder, or of a file where memory is limited or several processes read it; else None."""
    path = options.data
    if not path.is_dir() and max_memory is None and processes().count == 1:
        return None
    memory_limit(max_memory)  # or an error, before anything is read
    given = {"--by": options.by, "--set-columns": options.set_columns}
    given |= {f"--{each.name}": getattr(options, each.name) for each in fields(CsvFormat)}
    if wrong := [name for name, value in given.items() if value]:
        how = "a folder" if path.is_dir() else "read piece by piece (--max-memory, or several processes)"
        raise ValueError(
            f"{wrong[0]} is for one file that is read into memory, but '{path}' is {how}. Give Parquet files with one "
            "row a set and its tokens in lists, or one file without --max-memory."
        )
    if not path.is_dir() and path.exists() and not is_parquet(path):
        raise ValueError(f"--max-memory and several processes are for Parquet files, but '{path}' is none by its name.")
    return as_stream(path)


def read_training_data(
    options: TrainingOptions, items: ItemColumns | None, declared: Declarations, stream: Stream | None = None
) -> TrainingData:
    """Read the table to train on; of a stream, the first rows, the labels and the weights."""
    path, label, weight = options.data, options.label, options.weight
    table = (
        read_training_table(path, options, items.names if items else ())
        if stream is None
        else _first_rows(stream, path)
    )
    for name in (label, weight):
        if name:
            check_column(table, name, path)
    whole = stream is None or len(table) == len(stream)
    if stream is not None and items is not None:
        stream = items.of_stream(stream, path, [label] if weight is None else [label, weight])
    rest = table.drop_columns([name for name in (label, weight, options.by) if name])
    ignore = names_in(options.ignore)
    for name in ignore:
        check_column(rest, name, path)
    if items is None:
        uses = uses_of_numbers(rest, declared.features, str(options.features), ignore, _decimal(options), whole=whole)
        X = rest if declared.features else rest.drop_columns(list(uses.ignored))
        if not uses.features:
            raise ValueError(_nothing_to_learn_from(path, uses))
    else:
        uses, X = uses_of_items(items.names, rest.column_names), items.take(table, path)
    features: Sequence[Feature | str] | None = declared.features
    if stream is not None and items is None and features is None:
        features = resolve_features(X, None)
    named = table if stream is None else pa.table({name: stream.column(name) for name in (label, weight) if name})
    others = {"key": options.by, "label": label, "weight": weight}
    return TrainingData(
        X=X if stream is None else stream,
        y=plain_column(named, label, path),
        weights=None if weight is None else plain_column(named, weight, path),
        features=features,
        uses=replace(uses, uses={**uses.uses, **{use: [name] for use, name in others.items() if name}}),
        warnings=list(_warnings(table, X, uses, options, declared, of_items=items is not None, whole=whole)),
    )


def read_held_out(
    path: Path, options: TrainingOptions, items: ItemColumns | None, data: TrainingData
) -> tuple[pa.Table | Stream, Any]:
    """Return the sets of the table to validate on, with the columns of those to train on, and their labels."""
    in_pieces = path.is_dir() or (isinstance(data.X, Stream) and is_parquet(path))
    if in_pieces and items is not None and (held := as_stream(path)) is not None:
        first = _first_rows(held, path)
        check_column(first, options.label, path)
        items.take(first, path)
        return items.of_stream(held, path, [options.label]), options.label
    named = [name for name in data.uses.features if name not in BUILT_IN]
    columns = named if isinstance(data.X, Stream) else data.X.column_names
    if in_pieces and (held := as_stream(path)) is not None:
        held.check_columns([*columns, options.label])
        return held, plain_column(pa.table({options.label: held.column(options.label)}), options.label, path)
    table = read_training_table(path, options, items.names if items else ())
    for name in [options.label, *([] if items else columns)]:
        check_column(table, name, path)
    return items.take(table, path) if items else table.select(columns), plain_column(table, options.label, path)


def _first_rows(stream: Stream, path: Path) -> pa.Table:
    """Return rows that show what columns hold."""
    tables = list(stream.tables(stream.schema.names, rows=(0, _FIRST_ROWS)))
    if not tables:
        raise ValueError(f"'{path}' has no rows.")
    return pa.concat_tables(tables)


def read_training_table(path: Path, options: TrainingOptions, texts: Sequence[str]) -> pa.Table:
    """Return a table with one row for each set, whose labels and weights are constant within each; see `read_table`."""
    taken = [options.label] if options.weight is None else [options.label, options.weight]
    return read_sets(path, options, options.by, names_in(options.set_columns), texts, taken if options.by else ())


def _decimal(options: TrainingOptions) -> str | None:
    """Return what stands before the decimals of a CSV file; None for Parquet files."""
    return None if is_parquet(options.data) or options.data.is_dir() else options.decimal or "."


def _nothing_to_learn_from(path: Path, uses: ColumnUses) -> str:
    why = "; ".join(f"{name!r}: {reason}" for name, reason in list(uses.ignored.items())[:5])
    return (
        f"'{path}' has no column to learn from beside the label{f' ({why})' if why else ''}. Features are numbers; "
        "categories are declared in a file (--features), items and texts are named by --column."
    )


def _warnings(
    table: pa.Table,
    X: pa.Table,
    uses: ColumnUses,
    options: TrainingOptions,
    declared: Declarations,
    *,
    of_items: bool,
    whole: bool,
) -> Iterator[str]:
    """Yield a line for each thing that looks wrong with the columns, of which these are all rows or the first."""
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
        yield from features_without_values(X, uses.features if whole else ())
    else:
        yield from keys_as_features(X, [name for name in uses.features if name not in (key, *BUILT_IN)])
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
