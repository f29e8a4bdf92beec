"""Tables on disk as a saved model reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from clearset.cli._items import ItemColumns
from clearset.cli._tables import check_column, columns_of_fit, names_in, read_sets
from clearset.cli._training import plain_column


def read_for(
    model: Any,
    path: Path,
    by: str | None,
    set_columns: Sequence[str],
    columns: list[str],
    separator: str | None,
) -> tuple[pa.Table, pa.Table]:
    """Read a table, one row a set, and give it with what the model reads of it.

    Parameters
    ----------
    model
        A fitted model.
    path
        CSV or Parquet.
    by, set_columns
        The key of a long table, and its columns of whole sets.
    columns
        Columns of items; empty for those the model was trained on.
    separator
        What stands between items.
    """
    texts = columns
    if not texts and hasattr(model, "token_table_"):
        texts = list(getattr(model, "feature_names_in_", []))
    table = read_sets(path, by, set_columns, texts)
    return table, _columns(table, path, model, columns, separator)


class ShownData(NamedTuple):
    """Data to show a model on.

    Attributes
    ----------
    X, y
        What the model reads, and the labels; None for what there is not.
    names
        What the sets are called, by their keys; None where there are none.
    """

    X: pa.Table | None = None
    y: Any = None
    names: list[str | None] | None = None


def read_shown(
    model: Any,
    path: Path,
    label: str | None,
    by: str | None,
    set_columns: str,
    columns: list[str],
    separator: str | None,
) -> ShownData:
    """Read what the model reads of a table, and labels and keys if these are named; options as in `read_for`."""
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


def _columns(table: pa.Table, path: Path, model: Any, names: list[str], separator: str | None) -> pa.Table:
    """Return what the model reads of a table."""
    if not hasattr(model, "token_table_"):
        if names or separator:
            raise ValueError("--column and --separator are for models of items or texts; this is none.")
        return columns_of_fit(table, model)
    known = list(getattr(model, "feature_names_in_", []))
    if not names and not known:
        raise ValueError(
            "The model was trained on a column without a name. Name that of the data with --column."
        )
    if names and known and len(names) != len(known):
        raise ValueError(f"The model was trained on {len(known)} columns; --column names {len(names)}.")
    taken = ItemColumns(names or known, model.setting_.tokens, separator).take(table, path)
    return taken.rename_columns(known) if known else taken
