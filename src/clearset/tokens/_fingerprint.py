"""A hash of examples of strings and texts, the same from whatever they were read."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import types

from clearset.sets import (
    DataColumn,
    Fingerprint,
    combined,
    count_examples,
    decode,
    digest,
    fingerprint_of,
    in_one_form,
    unnest,
)
from clearset.tokens._item_columns import STRING, from_python, read_rows

_UNREADABLE = (pa.ArrowException, TypeError, ValueError, UnicodeEncodeError, OverflowError)


def fingerprint_examples(X: Any, details: Sequence[str] = ()) -> Fingerprint:
    """Return a hash of examples of strings and texts.

    Parameters
    ----------
    X : column of lists or of strings, frame, array or list
        The examples. Objects that only one's own tokenizer understands count by their types alone.
    details : sequence of str, default=()
        The columns that hold numbers of items.

    Returns
    -------
    Fingerprint
        The name of a single column does not matter for the hash.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.tokens import fingerprint_examples
    >>> recipes = [["salt", "lime"], ["sugar"]]
    >>> found = fingerprint_examples(pa.table({"items": recipes}))
    >>> found.sha256 == fingerprint_examples(recipes).sha256, found.n_tokens
    (True, 3)
    """
    n = count_examples(X)
    try:
        contents = {name: _content(column) for name, column in _columns(X).items()}
        kinds = {name: "numeric" if name in details else "strings" for name in contents}
    except _UNREADABLE:
        rows = json.dumps(read_rows(X), sort_keys=True, default=lambda value: type(value).__name__)
        contents, kinds = {"": (digest(rows.encode(errors="surrogatepass")), 0)}, {"": "other"}
    columns = [DataColumn(name, kind, "token") for name, kind in kinds.items()]
    n_items = sum(count for name, (_, count) in contents.items() if name not in details)
    hashed = columns if len(columns) > 1 else [replace(columns[0], name="")]
    found = fingerprint_of([content for _, (content, _) in sorted(contents.items())], n, n_items, hashed)
    return replace(found, columns=tuple(sorted(columns, key=lambda column: column.name)))


def _columns(X: Any) -> dict[str, pa.ChunkedArray]:
    """Return the columns by name, which a single one may lack."""
    if isinstance(X, list | tuple):
        return {"": from_python([sorted(row) if isinstance(row, set | frozenset) else row for row in X])}
    if isinstance(X, np.ndarray):
        return {"": from_python(X.tolist())}
    if isinstance(X, pa.Array | pa.ChunkedArray):
        return {"": pa.chunked_array([X]) if isinstance(X, pa.Array) else X}
    frame = nw.from_native(X, allow_series=True)
    series = [frame] if isinstance(frame, nw.Series) else [frame.get_column(name) for name in frame.columns]
    return {str(each.name or ""): _chunked(each.to_arrow()) for each in series}


def _chunked(column: Any) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _content(column: pa.ChunkedArray) -> tuple[bytes, int]:
    """Return a digest of a column, and the number of its values."""
    elements, offsets = unnest(column)
    if offsets is not None:
        content, count = _content(_chunked(elements))
        return digest(np.diff(offsets).astype("<i8"), content), count
    values = combined(decode(elements))
    if types.is_floating(values.type):
        return digest(in_one_form(values.to_numpy(zero_copy_only=False))), len(values)
    strings = values.cast(STRING)
    lengths = pa.compute.binary_length(strings).fill_null(-1).to_numpy().astype("<i8")
    present = strings.drop_null()
    ends = np.frombuffer(present.buffers()[1], np.int64, len(present) + 1, 8 * present.offset)
    letters = np.frombuffer(present.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]]
    return digest(lengths, letters), len(present)
