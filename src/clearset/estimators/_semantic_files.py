"""Fits over strings and texts on data in files: read whole where they fit into memory, and refused otherwise."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from clearset.estimators._parameter_rules import is_auto
from clearset.sets import Stream, as_stream, memory_limit
from clearset.tokens import check_details, item_columns

# What a fit takes, in bytes of its columns: codes, tokens, and what training reads of each.
_COPIES = 10
_PROBED = 1 << 20


class Rows(NamedTuple):
    """Examples in memory, with what belongs to each."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any


def in_memory(parameters: Mapping[str, Any], X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
    """Read examples in files, whose labels, weights and groups are named by columns; leave others as they are."""
    stream = as_stream(X) if not isinstance(X, str) or isinstance(y, str) else None
    if stream is None:
        return Rows(X, y, sample_weight, groups)
    named = {"y": y, "sample_weight": sample_weight, "groups": groups}
    others = list(dict.fromkeys(name for name in named.values() if isinstance(name, str)))
    stream.check_columns(others)
    tokens = None if is_auto(parameters["tokens"]) else parameters["tokens"]
    details = check_details(parameters["details"])
    items = item_columns(stream.schema, tokens, [*others, *details])
    columns = list(dict.fromkeys([*items, *details, *others]))
    _check_size(stream, columns, parameters["max_memory"])
    table = pa.concat_tables(stream.tables(columns))
    found = {name: table[each] if isinstance(each, str) else each for name, each in named.items()}
    weights, of_groups = (
        each.to_numpy() if isinstance(each, pa.ChunkedArray) else each for each in list(found.values())[1:]
    )
    return Rows(table.select(list(dict.fromkeys([*items, *details]))), found["y"], weights, of_groups)


def _check_size(stream: Stream, columns: list[str], max_memory: int | str | None) -> None:
    first = next(stream.tables(columns, _PROBED), None)
    if first is None:
        raise ValueError("X holds no examples: 0 samples, while at least 1 is required.")
    needed = _COPIES * first.nbytes // len(first) * stream.n_rows
    allowed = memory_limit(max_memory)
    if needed > allowed:
        raise ValueError(
            f"A fit on these {stream.n_rows:,} examples needs about {needed / 1e9:,.1f} GB, and max_memory allows "
            f"{allowed / 1e9:,.1f} GB. Allow more, or train the set function on a part of the examples and count the "
            "tokens of all others, which may be any number: fit(part, y, token_X=folder, token_y=column)."
        )
