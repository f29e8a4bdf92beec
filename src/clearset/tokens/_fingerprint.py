"""A hash of examples of strings and texts, the same from whatever they were read."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from clearset.sets import (
    DataColumn,
    FileRows,
    Fingerprint,
    count_examples,
    decode,
    digest,
    fingerprint_of,
    in_one_form,
    unnest,
)
from clearset.tokens._item_columns import STRING, from_python, read_rows

# Of files one part in so many of the memory allowed is read at once, and no more bytes than these.
_OF_MEMORY, _MOST_BYTES = 48, 1 << 24
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
    n, hashes = count_examples(X), dict[str, _ColumnHash]()
    try:
        for piece in _pieces(X):
            for name, column in piece.items():
                hashes.setdefault(name, _ColumnHash()).add(column)
        contents = {name: (each.digest(), each.count) for name, each in hashes.items()}
        kinds = {name: "numeric" if name in details else "strings" for name in contents}
    except _UNREADABLE:
        rows = json.dumps(read_rows(X), sort_keys=True, default=lambda value: type(value).__name__)
        contents, kinds = {"": (digest(rows.encode(errors="surrogatepass")), 0)}, {"": "other"}
    columns = [DataColumn(name, kind, "token") for name, kind in kinds.items()]
    n_items = sum(count for name, (_, count) in contents.items() if name not in details)
    hashed = columns if len(columns) > 1 else [replace(columns[0], name="")]
    found = fingerprint_of([content for _, (content, _) in sorted(contents.items())], n, n_items, hashed)
    return replace(found, columns=tuple(sorted(columns, key=lambda column: column.name)))


def _pieces(X: Any) -> Iterator[dict[str, pa.ChunkedArray]]:
    if isinstance(X, FileRows):
        names, at_once = list(X.stream.schema.names), min(X.max_memory // _OF_MEMORY, _MOST_BYTES)
        yield from (dict(zip(names, table.columns, strict=True)) for table in X.stream.tables(names, at_once))
    else:
        yield _columns(X)


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


class _ColumnHash:
    """The hash of a column that comes in pieces, wherever these begin."""

    def __init__(self) -> None:
        self.count = 0  # of values
        self._hashes: dict[str, Any] = {}

    def add(self, column: pa.ChunkedArray, depth: int = 0) -> None:
        """Add further rows."""
        elements, offsets = unnest(column)
        if offsets is not None:
            self._update(f"sizes {depth}", np.diff(offsets).astype("<i8"))
            self.add(_chunked(elements), depth + 1)
            return
        for chunk in _chunked(decode(elements)).chunks:
            if types.is_floating(chunk.type):
                self._update("numbers", in_one_form(chunk.to_numpy(zero_copy_only=False)))
                self.count += len(chunk)
                continue
            strings = chunk.cast(STRING)
            present = strings.drop_null()
            ends = np.frombuffer(present.buffers()[1], np.int64, len(present) + 1, 8 * present.offset)
            letters = np.frombuffer(present.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]]
            self._update("lengths", pc.binary_length(strings).fill_null(-1).to_numpy().astype("<i8"))
            self._update("letters", letters)
            self.count += len(present)

    def digest(self) -> bytes:
        """Return the hash of all rows."""
        named = sorted(self._hashes.items())
        return digest(*(part for name, found in named for part in (digest(name.encode()), found.digest())))

    def _update(self, name: str, values: npt.NDArray[Any]) -> None:
        self._hashes.setdefault(name, hashlib.sha256()).update(values.data)
