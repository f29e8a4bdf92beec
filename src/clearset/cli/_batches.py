"""Data that need not fit into memory: Parquet files and folders of them, read batch by batch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from clearset.cli._changed_stream import ChangedStream
from clearset.cli._model_data import columns_for
from clearset.cli._options import TableOptions
from clearset.cli._table_files import check_column, check_no_format, is_parquet, list_columns
from clearset.models import Model
from clearset.sets import Stream, as_stream, memory_limit

# A reading of a batch takes several times its bytes.
_COPIES = 24


def in_batches(path: Path, max_memory: str | None) -> bool:
    """Return whether data are read in batches: folders, and Parquet files that are large or asked to be."""
    if path.is_dir():
        return True
    if max_memory is not None and not is_parquet(path):
        raise ValueError(f"--max-memory is for Parquet files and folders of them, but '{path}' is neither.")
    if not is_parquet(path) or not path.is_file():
        return False
    return max_memory is not None or 4 * path.stat().st_size > memory_limit(None)


@contextmanager
def reported(path: Path, what: str, quiet: bool, passes: int = 1) -> Iterator[Stream]:
    """Open data whose reading moves a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import Progress

    stream = as_stream(path)
    assert stream is not None  # noqa: S101
    if not stream.n_rows:
        raise ValueError(f"'{path}' has no rows.")
    with Progress(console=Console(stderr=True, quiet=quiet), transient=True) as progress:
        bar = progress.add_task(what, total=passes * stream.n_rows)
        yield ChangedStream.of(stream, report=lambda rows: progress.advance(bar, rows))


def batches_for(
    model: Model, stream: Stream, path: Path, options: TableOptions, copied: Sequence[str], max_memory: str | None
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield tables with one row for each set, and the columns of them that the model reads, as `read_for` does."""
    check_no_format(options, path)
    empty = stream.schema.empty_table()
    for name in copied:
        check_column(empty, name, path)
        if name in list_columns(empty):
            raise ValueError(f"Column {name!r} of '{path}' holds lists; a key, label or --id has one value a set.")
    if (options.by is not None or options.set_columns) and not list_columns(empty):
        raise ValueError(
            "--by and --set-columns group the rows of a long table, which takes all of them at once. Group them "
            "first, such as by clearset.from_long, or give a file that fits into memory, without --max-memory."
        )
    needed = columns_for(model, empty, path, options).column_names
    known = options.column or [name for name in needed if name in empty.column_names]
    columns = list(dict.fromkeys([*known, *copied]))
    for table in stream.tables(columns, memory_limit(max_memory) // _COPIES):
        yield table, columns_for(model, table, path, replace(options, by=None))


def first_rows(batches: Iterator[tuple[pa.Table, pa.Table]], n: int) -> tuple[pa.Table, pa.Table]:
    """Return the first rows of batches, at least n of them where there are so many."""
    found: list[tuple[pa.Table, pa.Table]] = []
    while sum(len(table) for table, _ in found) < n and (batch := next(batches, None)) is not None:
        found.append(batch)
    tables, read = zip(*found, strict=True)
    return pa.concat_tables(tables), pa.concat_tables(read)
