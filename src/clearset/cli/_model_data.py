"""Tables on disk as a saved model reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from clearset.cli._items import ItemColumns
from clearset.cli._tables import columns_of_fit, read_sets


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


def _columns(table: pa.Table, path: Path, model: Any, names: list[str], separator: str | None) -> pa.Table:
    """Return what the model reads of a table."""
    if not hasattr(model, "token_table_"):
        if names or separator:
            raise ValueError("--column and --separator are for models of items or texts; this is none.")
        return columns_of_fit(table, model)
    known = list(getattr(model, "feature_names_in_", []))
    if not names and not known:
        raise ValueError("The model was trained on a column without a name. Give that of DATA with --column.")
    if names and known and len(names) != len(known):
        raise ValueError(f"The model was trained on {len(known)} columns; --column names {len(names)}.")
    taken = ItemColumns(names or known, model.setting_.tokens, separator).take(table, path)
    return taken.rename_columns(known) if known else taken
