"""Sets that are read from a stream, a piece at a time."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ._arrow_columns import is_list
from ._built_in import PLACES, SIZE
from ._features import Feature, feature_columns
from ._fingerprint import DataColumn, Fingerprint, SetHashes, fingerprint_of
from ._read_sets import read_sets
from ._set_data import SetData
from ._stream import Stream
from ._value_sample import Gather

Sizes: TypeAlias = npt.NDArray[np.integer]


class SetSource(Protocol):
    """Sets that are gone through piece by piece: `SetData` in memory, or a `SetStream`."""

    first: int
    """The number of the first set that `pieces` yields: other processes read those before."""

    @property
    def n_read(self) -> int:
        """Number of sets that `pieces` yields."""

    def __len__(self) -> int: ...

    def pieces(self) -> Iterator[SetData]:
        """Yield the sets, some at a time, in their order."""

    @property
    def sizes(self) -> Sizes:
        """Number of tokens of each set."""

    def sizes_known(self, names: Sequence[str]) -> Sizes:
        """Return the sizes of the sets; 0 where the only token has no value of any of these features."""

    def is_of_sets(self, name: str) -> bool:
        """Return whether a feature has one value for each set (else one for each token)."""

    def fingerprint(self) -> Fingerprint:
        """Return a hash of the sets, which is the same from wherever they were read."""


class SetStream:
    """Sets that are read from a stream again in every pass.

    Parameters
    ----------
    stream : Stream
        The rows, one set each.
    features : sequence of Feature
        The columns to read.
    max_memory : int
        The bytes that may be used; a piece takes a small part of it.
    rows : (start, stop), optional
        Which rows are read here; the others are read by other processes. By default all.
    gather : callable, optional
        Gives the arrays of all processes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import pyarrow.dataset as ds
    >>> from clearset.sets import Feature, SetStream, as_stream
    >>> rows = as_stream(ds.dataset(pa.table({"stars": [[5, 4], None, [1]]})))
    >>> sets = SetStream(rows, [Feature("stars")], 10**9)
    >>> sets.sizes.tolist()
    [2, 0, 1]
    """

    def __init__(
        self,
        stream: Stream,
        features: Sequence[Feature],
        max_memory: int,
        rows: tuple[int, int] | None = None,
        gather: Gather | None = None,
    ) -> None:
        self.stream, self.features = stream, tuple(features)
        self.rows, self._gather = rows or (0, stream.n_rows), gather or (lambda array: [array])
        self.first = self.rows[0]
        self._columns = feature_columns(features)
        stream.check_columns(self._columns)
        # A piece is held as Arrow, as numbers, as positions and packed, some of it twice.
        self._bytes_at_once = max_memory // 24
        self._lists = [name for name in self._columns if is_list(stream.schema.field(name).type)]
        self._seen: tuple[Sizes, Sizes] | None = None  # sizes, and sizes known, once a pass has found them
        self._all: tuple[Sizes, Sizes] | None = None  # the same of all processes
        self._digests: npt.NDArray[np.uint8] | None = None  # of the content, once a pass has found them

    def __len__(self) -> int:
        return self.stream.n_rows

    @property
    def n_read(self) -> int:
        """Number of sets that `pieces` yields."""
        return self.rows[1] - self.rows[0]

    def pieces(self) -> Iterator[SetData]:
        """Yield the sets, some at a time, in their order."""
        first, sizes, known = self.rows[0], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        hashes = SetHashes(len(self)) if self._digests is None else None
        for table in self.stream.tables(self._columns, self._bytes_at_once, rows=self.rows):
            try:
                piece = read_sets(table, self.features)
            except (TypeError, ValueError) as error:
                last = first + len(table) - 1
                raise type(error)(f"In the rows {first:,} to {last:,}, here counted from 0: {error}") from None
            sizes.append(piece.sizes.astype(np.int32))
            if not self._lists:
                known.append(piece.sizes_known(self._columns).astype(np.int32))
            if hashes is not None:
                hashes.add(first, piece)
            yield piece
            first += len(table)
        if self._all is None:
            together = np.concatenate(sizes)
            self._seen = together, together if self._lists else np.concatenate(known)
        if hashes is not None:
            self._digests = hashes.digests()

    @property
    def sizes(self) -> Sizes:
        """Number of tokens of each set; found in the first pass."""
        return self._look_through()[0]

    def sizes_known(self, names: Sequence[str]) -> Sizes:  # noqa: ARG002 (of the features that are read)
        """Return the sizes of the sets; 0 where the only token has no value of any feature."""
        return self._look_through()[1]

    def is_of_sets(self, name: str) -> bool:
        """Return whether a feature has one value for each set (else one for each token)."""
        return name == SIZE or bool(self._lists and name not in (*self._lists, *PLACES))

    def fingerprint(self) -> Fingerprint:
        """Return a hash of the sets of all processes; found in the first pass."""
        sizes, _ = self._look_through()
        own = np.empty(0, np.uint8) if self._digests is None else self._digests
        kinds = {feature.name: feature.kind for feature in self.features}
        columns = [DataColumn(name, kinds[name], "set" if self.is_of_sets(name) else "token") for name in self._columns]
        return fingerprint_of(self._gather(own), len(self), int(sizes.sum()), columns)

    def _look_through(self) -> tuple[Sizes, Sizes]:
        if self._all is None:
            if self._seen is None:
                for _ in self.pieces():
                    pass
            sizes, known = self._seen or (np.empty(0, np.int32), np.empty(0, np.int32))
            together = _joined(self._gather(sizes))
            self._all = together, together if known is sizes else _joined(self._gather(known))
            self._seen = None
        return self._all


def _joined(parts: Sequence[Sizes]) -> Sizes:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
