"""Columns of the data that are copied to an explanation, so that its sets can be told apart."""

from collections.abc import Sequence
from dataclasses import fields, replace

import pyarrow as pa

from clearset.models import Explanation


def with_ids(explanation: Explanation, table: pa.Table, names: Sequence[str]) -> Explanation:
    """Return an explanation in whose tables every row has these columns of its set as well."""
    parts = {field.name: getattr(explanation, field.name) for field in fields(explanation)}
    ids = table.select(list(dict.fromkeys(names)))
    found = {name: beside(part, ids) for name, part in parts.items() if isinstance(part, pa.Table)}
    return replace(explanation, **found)


def beside(rows: pa.Table, ids: pa.Table) -> pa.Table:
    """Put the columns of sets beside rows whose first column is the number of their set."""
    for place, name in enumerate(ids.column_names, start=1):
        if name in rows.column_names:
            raise ValueError(f"--id is {name!r}, but the explanation has a column of that name. Rename it.")
        rows = rows.add_column(place, name, ids[name].take(rows["set"]))
    return rows


def called_by(table: pa.Table, names: Sequence[str]) -> tuple[str, pa.Array] | None:
    """Return the first of these columns, and what to call each set: its values in all of them; None without any."""
    if not names:
        return None
    first, *others = names
    rows = table.select(list(dict.fromkeys(names))).to_pylist()
    texts = [", ".join([str(row[first]), *(f"{name} {row[name]}" for name in others)]) for row in rows]
    return first, pa.array(texts) if others else table[first].combine_chunks()
