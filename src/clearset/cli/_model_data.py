"""From tables on disk to what a saved model reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from clearset.cli._item_columns import ItemColumns
from clearset.cli._table_files import check_column, columns_of_fit, names_in, read_sets
from clearset.cli._training import plain_column
from clearset.models import Model, SemanticModel


def read_for(
    model: Model,
    path: Path,
    by: str | None,
    set_columns: Sequence[str],
    columns: list[str],
    separator: str | None,
) -> tuple[pa.Table, pa.Table]:
    """Return a table with one row for each set, and the columns of it that the model reads.

    Parameters
    ----------
    model : Model
        The model.
    path : Path
        A CSV or Parquet file.
    by : str, or None
        The key column of a long table.
    set_columns : sequence of str
        The columns of a long table that belong to whole sets.
    columns : list of str
        Columns of items; empty for those that the model was trained on.
    separator : str, or None
        What separates items.
    """
    texts = columns
    if not texts and model.semantic:
        texts = list(model.feature_names_in or ())
    table = read_sets(path, by, set_columns, texts)
    return table, _columns(table, path, model, columns, separator)


class ShownData(NamedTuple):
    """Data to show a model on; what there is not is None.

    Attributes
    ----------
    X : pyarrow.Table
        What the model reads.
    y : ndarray
        The labels.
    names : list
        What the sets are called, by their keys.
    """

    X: pa.Table | None = None
    y: Any = None
    names: list[str | None] | None = None


def read_shown(
    model: Model,
    path: Path,
    label: str | None,
    by: str | None,
    set_columns: str,
    columns: list[str],
    separator: str | None,
) -> ShownData:
    """Return what the model reads of a table, its labels and its keys, where named; options are as in `read_for`."""
    names = names_in(set_columns)
    if label is not None and by is not None and label not in names:
        names = [*names, label]  # a label belongs to the whole set
    table, X = read_for(model, path, by, names, columns, separator)
    keys = None
    if by is not None:
        keys = [None if key in (None, "") else f"{by} {key}" for key in table[by].to_pylist()]
    if label is None:
        return ShownData(X, None, keys)
    check_column(table, label, path)
    return ShownData(X, plain_column(table, label, path), keys)


def _columns(table: pa.Table, path: Path, model: Model, names: list[str], separator: str | None) -> pa.Table:
    """Return what the model reads of a table."""
    if not isinstance(model, SemanticModel):
        if names or separator:
            raise ValueError("--column and --separator are for models of items or texts; this is none.")
        return columns_of_fit(table, model)
    known = list(model.feature_names_in or ())
    if not names and not known:
        raise ValueError(
            "The model was trained on a column without a name. Name that of the data with --column."
        )
    if names and known and len(names) != len(known):
        raise ValueError(f"The model was trained on {len(known)} columns; --column names {len(names)}.")
    taken = ItemColumns(names or known, model.setting.tokens, separator).take(table, path)
    return taken.rename_columns(known) if known else taken
