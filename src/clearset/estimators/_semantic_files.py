"""Fits over strings and texts on data in files: read whole where they fit into memory, else piece by piece."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from clearset.estimators._parameter_rules import is_auto
from clearset.sets import FileRows, Stream, as_stream, decoded_bytes, is_string, memory_limit, tables_within
from clearset.tokens import check_details, columns_read

# What a fit in memory takes, in bytes of its columns: codes, tokens, and what training reads of each.
_COPIES = 10
_PROBED, _PLACES = 1 << 20, 8
# What is known of every example, in bytes: label, weight, fold, places, and numbers of items and tokens.
EXAMPLE_BYTES = 150
# The share of the memory that this may take.
_MOST_OF_EXAMPLES = 0.6


class Rows(NamedTuple):
    """Examples in memory or in files, with what belongs to each."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any


def read_rows(
    parameters: Mapping[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    column: str | Sequence[str] | None = None,
    *,
    to_train: bool = True,
) -> Rows:
    """Read examples in files, whose labels, weights and groups are named by columns; leave others as they are.

    What would take more than `max_memory` to fit on is left in the files, as `FileRows`, on which a GPU cannot train.
    """
    details = check_details(parameters["details"])
    is_text = isinstance(X, str) and not isinstance(y, str) and not os.path.exists(X)  # noqa: PTH110 (may be long)
    stream = None if is_text else as_stream(X)
    if stream is None:
        return Rows(X, y, sample_weight, groups)
    named = {"y": y, "sample_weight": sample_weight, "groups": groups}
    others = list(dict.fromkeys(name for name in named.values() if isinstance(name, str)))
    stream.check_columns(others)
    tokens = None if is_auto(parameters["tokens"]) else parameters["tokens"]
    items = columns_read(stream, column, tokens, [*others, *details])
    read = list(dict.fromkeys([*items, *details]))
    columns = list(dict.fromkeys([*read, *others]))
    allowed = memory_limit(parameters["max_memory"])
    table = None
    if _bytes_of_fit(stream, columns) <= allowed:
        # What seems small by a few rows need not be: others may be longer.
        most = allowed // _COPIES
        table = tables_within(stream.tables(columns, most // 4), stream.select(columns).schema, most)
    if table is not None:
        found = {name: table[each] if isinstance(each, str) else each for name, each in named.items()}
        X = table.select(read)
    else:
        if to_train and parameters["device"] == "cuda":
            raise ValueError(
                f"These {stream.n_rows:,} examples do not fit into max_memory, {allowed / 1e9:,.1f} GB, and "
                "device='cuda' trains on tokens in memory. Allow more memory, or use device='cpu', which reads them "
                "piece by piece."
            )
        left = _left_for_tokens(stream, allowed)
        found = {name: stream.column(each) if isinstance(each, str) else each for name, each in named.items()}
        X = FileRows(stream.select(read), left)
    weights, of_groups = found["sample_weight"], found["groups"]
    weights = weights.to_numpy() if isinstance(weights, pa.ChunkedArray) else weights
    of_groups = _numbered(of_groups) if isinstance(of_groups, pa.ChunkedArray) else of_groups
    return Rows(X, found["y"], weights, of_groups)


def check_in_files(column: Any, X: Any, read: Rows, token_y: Any) -> None:
    """Raise a ValueError if a column is named, but neither X, from which rows were read, nor token_X is in files."""
    if column is not None and read.X is X and not isinstance(token_y, str):
        raise ValueError(
            f"column is {column!r}, but X is a {type(X).__name__}, which is in memory. Leave it out, and give X with "
            "the columns to read."
        )


def memory_of(X: Any) -> float:
    """Return the bytes that the tokens of examples may take."""
    return X.max_memory if isinstance(X, FileRows) else float("inf")


def _numbered(groups: pa.ChunkedArray) -> Any:
    """Return groups as numbers in the same order, which take less memory than strings."""
    if not is_string(groups.type) or groups.null_count:
        return groups.to_numpy()
    coded = groups.dictionary_encode().combine_chunks()
    coded = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    ranks = np.argsort(np.argsort(coded.dictionary.to_numpy(zero_copy_only=False)))
    return ranks.astype(np.int32)[coded.indices.to_numpy()]


def _bytes_of_fit(stream: Stream, columns: list[str]) -> int:
    n = stream.n_rows
    if not n:
        raise ValueError("X holds no examples: 0 samples, while at least 1 is required.")
    # The first rows may be small ones, as where data are sorted.
    starts = sorted({n * part // _PLACES for part in range(_PLACES)})
    probes = [next(stream.tables(columns, _PROBED, rows=(start, n))) for start in starts]
    return int(_COPIES * n * sum(map(_bytes_of_row, probes)) / len(probes))


def _bytes_of_row(table: pa.Table) -> float:
    return sum(map(decoded_bytes, table.to_batches())) / len(table)


def _left_for_tokens(stream: Stream, allowed: int) -> int:
    """Return the memory that is left beside what is known of every example; raise an error if it is too little."""
    needed = EXAMPLE_BYTES * stream.n_rows
    if needed > _MOST_OF_EXAMPLES * allowed:
        raise ValueError(
            f"What is known of each of {stream.n_rows:,} examples (label, weight, fold, place) takes about "
            f"{needed / 1e6:,.0f} MB of memory, and max_memory is {allowed / 1e6:,.0f} MB. Allow "
            f"{needed / _MOST_OF_EXAMPLES / 1e6:,.0f} MB, or train the set function on a part of the examples and "
            "count the tokens of all others, which may be any number: fit(part, y, token_X=folder, token_y=column)."
        )
    return allowed - needed
