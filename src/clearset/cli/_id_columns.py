"""Columns of the data that are copied to an explanation, so that its sets can be told apart."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from clearset.models import Explanation


def with_ids(explanation: Explanation, table: pa.Table, names: Sequence[str]) -> Explanation:
    """Return an explanation whose tokens have these columns of their sets as well."""
    tokens = explanation.tokens
    for place, name in enumerate(dict.fromkeys(names), start=1):
        if name in tokens.column_names:
            raise ValueError(f"--id is {name!r}, but the explanation has a column of that name. Rename it.")
        tokens = tokens.add_column(place, name, table[name].take(tokens["set"]))
    return replace(explanation, tokens=tokens)


def called_by(table: pa.Table, names: Sequence[str]) -> tuple[str, pa.Array] | None:
    """Return the first of these columns, and what to call each set: its values in all of them; None without any."""
    if not names:
        return None
    first, *others = names
    rows = table.select(list(dict.fromkeys(names))).to_pylist()
    texts = [", ".join([str(row[first]), *(f"{name} {row[name]}" for name in others)]) for row in rows]
    return first, pa.array(texts) if others else table[first].combine_chunks()
