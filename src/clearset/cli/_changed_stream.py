"""Rows of files that are changed on the way, and whose reading is reported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from clearset.sets import Stream


@dataclass(frozen=True, eq=False, repr=False)
class ChangedStream(Stream):
    """A stream that tells how many rows were read, and changes its tables on the way."""

    report: Callable[[int], None] = lambda _rows: None
    change: Callable[[pa.Table], pa.Table] = lambda table: table
    told: str = ""  # what tells this change from others

    def described(self) -> dict[str, str]:
        """Return the columns and files, and how tables are changed."""
        return {**super().described(), "the separator": self.told}

    def tables(
        self, columns: Sequence[str], bytes_at_once: int = 1 << 26, *, rows: tuple[int, int] | None = None
    ) -> Iterator[pa.Table]:
        """Read as every stream does."""
        for table in super().tables(columns, bytes_at_once, rows=rows):
            yield self.change(table)
            self.report(len(table))
