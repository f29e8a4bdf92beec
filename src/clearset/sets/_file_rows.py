"""Some rows of data in files, which are read a few at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._stream import Stream, tables_within


@dataclass(frozen=True, eq=False, repr=False)
class FileRows:
    """Rows of a stream that need not fit into memory.

    Parameters
    ----------
    stream : Stream
        All rows; its columns are those to read.
    max_memory : int
        Bytes that may be used.
    chosen : ndarray of shape (n,), optional
        Which of the rows they are, rising; None: all.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import pyarrow.dataset as ds
    >>> from clearset.sets import FileRows, as_stream
    >>> rows = FileRows(as_stream(ds.dataset(pa.table({"items": [["a"], ["b"], ["c"]]}))), 10**9)
    >>> some = rows.take(np.array([0, 2]))
    >>> len(some), some.read()["items"].to_pylist()
    (2, [['a'], ['c']])
    """

    stream: Stream
    max_memory: int
    chosen: npt.NDArray[np.integer] | None = None

    def __len__(self) -> int:
        return len(self.stream) if self.chosen is None else len(self.chosen)

    def __repr__(self) -> str:
        return f"FileRows({len(self):,} of {self.stream!r})"

    def take(self, rows: npt.NDArray[np.integer]) -> "FileRows":
        """Return some of the rows, whose places rise."""
        chosen = rows if self.chosen is None else self.chosen[rows]
        return replace(self, chosen=chosen.astype(np.int32) if len(self.stream) < 2**31 else chosen)

    def without(self, names: Sequence[str]) -> "FileRows":
        """Return the same rows without some of the columns."""
        kept = [name for name in self.stream.schema.names if name not in names]
        return replace(self, stream=self.stream.select(kept))

    def tables(self, share: int) -> Iterator[pa.Table]:
        """Read the rows, in tables that take one part in so many of the memory allowed."""
        first = 0
        for number, table in enumerate(self.stream.tables(self.stream.schema.names, self.max_memory // share)):
            if self.chosen is None:
                yield table
            else:
                low, high = np.searchsorted(self.chosen, [first, first + len(table)])
                if high - low == len(table):
                    yield table
                elif low < high:
                    yield table.take(pa.array(self.chosen[low:high] - first))
            first += len(table)
            if number % 4 == 0:  # Arrow's threads keep more than they need, and giving it back takes time
                pa.default_memory_pool().release_unused()

    def read(self, most: float = float("inf")) -> pa.Table | None:
        """Read all of the rows into memory; return None if they take more than so many bytes there."""
        return tables_within(self.tables(80), self.stream.schema, most)
