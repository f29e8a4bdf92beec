"""Rows of files that are changed on the way, and whose reading is reported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import pyarrow as pa

from clearset.sets import Stream


@dataclass(frozen=True, eq=False, repr=False)
class ChangedStream(Stream):
    """The rows of another stream, which tells how many were read, and changes tables on the way."""

    _: KW_ONLY
    source: Stream
    report: Callable[[int], None] = lambda _rows: None
    change: Callable[[pa.Table], pa.Table] = lambda table: table
    told: str = ""  # what tells this change from others

    @classmethod
    def of(cls, source: Stream, change: Callable[[pa.Table], pa.Table] = lambda table: table, **others: Any) -> Self:
        """Return the rows of a stream; the change of a table without rows tells of which types the columns are."""
        schema = change(source.schema.empty_table()).schema
        return cls(schema, source.units, source.as_listed, source.lacking, source=source, change=change, **others)

    def described(self) -> dict[str, str]:
        """Return the columns and files, and how tables are changed."""
        return {**super().described(), "the separator": self.told}

    def tables(
        self, columns: Sequence[str], bytes_at_once: int = 1 << 26, *, rows: tuple[int, int] | None = None
    ) -> Iterator[pa.Table]:
        """Read as every stream does."""
        for table in self.source.tables(columns, bytes_at_once, rows=rows):
            yield self.change(table)
            self.report(len(table))
