"""From tables on disk to what a saved model reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

import clearset as cs
from clearset.cli._item_columns import ItemColumns
from clearset.cli._options import TableOptions
from clearset.cli._table_files import check_column, columns_of_fit, list_columns, names_in, plain_column, read_sets
from clearset.files import Key
from clearset.models import FittedJointModel, Model, SemanticModel, columns_of


def load_model(path: Path, key: Key | None = None) -> Model:
    """Load a model, which must be signed if there is a key."""
    return cs.load(path, key=key)


def read_for(model: Model, path: Path, options: TableOptions, copied: Sequence[str] = ()) -> tuple[pa.Table, pa.Table]:
    """Return a table with one row for each set, and the columns of it that the model reads.

    The columns `copied` have one value a set, as a label has.
    """
    texts = options.column or []
    if isinstance(model, FittedJointModel):
        texts = [name for each in _engine_columns(model, options.separator) for name in each.names]
    elif not texts and model.semantic:
        texts = list(model.feature_names_in or ())
    others = [] if options.by is None else [name for name in copied if name != options.by]
    table = read_sets(path, options, options.by, names_in(options.set_columns), texts, others)
    for name in copied:
        check_column(table, name, path)
        if name in list_columns(table):
            raise ValueError(f"Column {name!r} of '{path}' holds lists; a key, label or --id has one value a set.")
    return table, columns_for(model, table, path, options)


def columns_for(model: Model, table: pa.Table, path: Path, options: TableOptions) -> pa.Table:
    """Return the columns of a table that the model reads."""
    return _columns(table, path, model, options.column or [], options.separator)


class ShownData(NamedTuple):
    """Data to show a model on; what there is not is None."""

    X: pa.Table | None = None  # what the model reads
    y: Any = None  # the labels
    names: list[str | None] | None = None  # what the sets are called, by their keys


def read_shown(model: Model, path: Path | None, options: TableOptions, label: str | None) -> ShownData:
    """Return what the model reads of a table, if there is one, its labels and its keys, where named."""
    if path is None:
        return ShownData()
    table, X = read_for(model, path, options, () if label is None else (label,))
    by, keys = options.by, None
    if by is not None:
        keys = [None if key in (None, "") else f"{by} {key}" for key in table[by].to_pylist()]
    if label is None:
        return ShownData(X, None, keys)
    return ShownData(X, plain_column(table, label, path), keys)


def _engine_columns(model: FittedJointModel, separator: str | None) -> list[ItemColumns]:
    """Return the columns of items or texts of each engine."""
    return [
        ItemColumns(
            [name for name in columns_of(column) if name not in engine.setting.details],
            engine.setting.tokens,
            None if engine.setting.tokens.in_order else separator,
        )
        for column, engine in model.engines.items()
    ]


def _columns(table: pa.Table, path: Path, model: Model, names: list[str], separator: str | None) -> pa.Table:
    """Return what the model reads of a table."""
    if isinstance(model, FittedJointModel):
        if names:
            raise ValueError("--column renames the column of a model, but a JointModel has several. Rename them.")
        taken = [each.take(table, path) for each in _engine_columns(model, separator)]
        columns = {name: table[name] for name in table.column_names}
        columns |= {name: part[name] for part in taken for name in part.column_names}
        return pa.table({name: columns[name] for name in model.feature_names_in if name in columns})
    if not isinstance(model, SemanticModel):
        if names or separator:
            raise ValueError("--column and --separator are for models of items or texts; this is none.")
        return columns_of_fit(table, model)
    known = list(model.feature_names_in or ())
    if not names and not known:
        raise ValueError("The model was trained on a column without a name. Name that of the data with --column.")
    if names and known and len(names) != len(known):
        raise ValueError(f"The model was trained on {len(known)} columns; --column names {len(names)}.")
    taken = ItemColumns(names or known, model.setting.tokens, separator).take(table, path)
    return taken.rename_columns(known) if known else taken
