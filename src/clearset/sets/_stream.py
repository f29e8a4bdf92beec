"""Rows that need not fit into memory: Parquet files, folders of them, and Arrow data sets."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.dataset as ds

from ._parquet_files import open_parquet
from ._record_batches import decoded_bytes, record_batches
from ._unknown_names import unknown_name

_MOST_ROWS = 1 << 17


class _Unit(NamedTuple):
    """Rows that are stored together: a row group of a Parquet file, or a fragment of another data set."""

    fragment: ds.Fragment
    first: int
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """Rows of an Arrow data set, read as tables that fit into memory.

    Made by `as_stream`. Files are read in the order of their paths, however they were listed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import pyarrow.dataset as ds
    >>> from clearset.sets import as_stream
    >>> stream = as_stream(ds.dataset(pa.table({"stars": [[5, 4], [1]], "label": [1.0, 0.0]})))
    >>> stream
    Stream(2 rows, columns=['stars', 'label'])
    >>> [len(table) for table in stream.tables(["stars"])]
    [2]
    """

    schema: pa.Schema  # names and types of the columns
    units: tuple[_Unit, ...]
    as_listed: bool = True  # whether rows come in the order of the data set that was given
    lacking: Mapping[str, str] = field(default_factory=dict)  # columns that some file does not have, and which

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.units[-1].first + self.units[-1].n_rows if self.units else 0

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"Stream({self.n_rows:,} rows, columns={self.schema.names})"

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise an error unless there are columns of these names."""
        for name in names:
            if name not in self.schema.names:
                raise ValueError(unknown_name("Column", name, tuple(self.schema.names)))
            if name in self.lacking:
                raise ValueError(
                    f"'{self.lacking[name]}' has no column {name!r}, which other files have. Add it there, move the "
                    "file away, or name the columns to read."
                )

    def select(self, names: Sequence[str]) -> Self:
        """Return the same rows with some of the columns."""
        self.check_columns(names)
        return replace(self, schema=pa.schema([self.schema.field(name) for name in dict.fromkeys(names)]))

    def described(self) -> dict[str, str]:
        """Return the columns, and the size and time of change of each file; raise an error where there are no files."""
        found = {f"the column {field.name!r}": str(field.type) for field in self.schema}
        for unit in self.units:
            if not isinstance(unit.fragment, ds.ParquetFileFragment):
                raise ValueError(
                    "The rows are not in files, so that it cannot be told whether they have changed. Write them to "
                    "Parquet files, or leave checkpoint out."
                )
            name = f"the file '{unit.fragment.path}'"
            if name not in found:
                about = unit.fragment.filesystem.get_file_info(unit.fragment.path)
                found[name] = f"{about.size} bytes of {about.mtime_ns} ns"
        return found

    def tables(
        self, columns: Sequence[str], bytes_at_once: int = 1 << 26, *, rows: tuple[int, int] | None = None
    ) -> Iterator[pa.Table]:
        """Read some columns, in tables of at most so many bytes, or of one row that has more.

        Parameters
        ----------
        columns : sequence of str
            Their names.
        bytes_at_once : int
            The most that a table takes in memory; strings of dictionaries count as often as they occur.
        rows : (start, stop), optional
            Which rows; by default all.

        Yields
        ------
        pyarrow.Table
            The rows, in their order, none of them twice.
        """
        self.check_columns(columns)
        start, stop = rows or (0, self.n_rows)
        for unit in self.units:
            first = unit.first
            if first >= stop:
                return
            if first + unit.n_rows > start:
                batches = record_batches(unit.fragment, self.schema, columns, bytes_at_once)
                yield from _gathered(_between(batches, start - first, stop - first), bytes_at_once)

    def column(self, name: str) -> pa.ChunkedArray:
        """Read one column whole."""
        self.check_columns([name])
        chunks = [chunk for table in self.tables([name], 1 << 22) for chunk in table[name].chunks]
        return pa.chunked_array(chunks, type=self.schema.field(name).type)


def as_stream(X: object, *, by_path: bool = True) -> Stream | None:
    """Return the stream of a Parquet file, a folder of Parquet files or an Arrow data set; None for anything else.

    Parameters
    ----------
    X : object
        A path of a file or folder (a string or path-like), a ``pyarrow.dataset.Dataset``, or anything else.
    by_path : bool, default=True
        Whether the files of a data set are read in the order of their paths, or as they are listed.

    Returns
    -------
    Stream or None
        The rows.

    Examples
    --------
    >>> as_stream([[1.0], [2.0]]) is None
    True
    """
    if isinstance(X, Stream):
        return X
    if isinstance(X, str | os.PathLike):
        X = open_parquet(Path(os.fspath(X)))
    if not isinstance(X, ds.Dataset):
        return None
    if getattr(X, "_scan_options", None):
        raise ValueError(
            "The data set has a filter, which would have to be applied in every pass over it. Write the filtered rows "
            "to a folder first: pyarrow.dataset.write_dataset(dataset, folder, format='parquet')."
        )
    names = X.schema.names
    if not names:
        raise ValueError("The data set has no columns.")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"The data set has more than one column named {twice!r}. Rename them.")
    fragments = list(X.get_fragments())
    schema, lacking = _unified(X, fragments)
    units, first = [], 0
    ordered = sorted(fragments, key=_path) if by_path else fragments
    for fragment in ordered:
        for part, n_rows in _parts(fragment):
            units.append(_Unit(part, first, n_rows))
            first += n_rows
    as_listed = [_path(fragment) for fragment in ordered] == [_path(fragment) for fragment in fragments]
    return Stream(schema, tuple(units), as_listed, lacking)


def tables_within(tables: Iterable[pa.Table], schema: pa.Schema, most: float) -> pa.Table | None:
    """Return tables as one, or None as soon as they take more than so many bytes.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        The tables.
    schema : pyarrow.Schema
        Their columns, for there may be no table.
    most : float
        Bytes; strings of dictionaries count as often as they occur.

    Returns
    -------
    pyarrow.Table or None
        All rows.
    """
    together, n_bytes = [schema.empty_table()], 0
    for table in tables:
        n_bytes += sum(map(decoded_bytes, table.to_batches()))
        if n_bytes > most:
            return None
        together.append(table)
    return pa.concat_tables(together)


def refuse_files(X: object) -> None:
    """Raise an error if data are in files, where they have to be in memory.

    Parameters
    ----------
    X : object
        The data.
    """
    is_path = isinstance(X, os.PathLike) or (isinstance(X, str) and os.path.exists(X))  # noqa: PTH110 (may be a text)
    if is_path or isinstance(X, ds.Dataset):
        what = f"the path '{os.fspath(X)}'" if isinstance(X, str | os.PathLike) else "an Arrow data set"
        raise TypeError(
            f"X is {what}. fit, predict, predict_proba, transform and score read files, but this needs sets in memory. "
            "Read some of the rows first, such as pyarrow.dataset.dataset(path, format='parquet').head(1000)."
        )


def _between(batches: Iterator[pa.RecordBatch], start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows from one place to another, none of which need be there."""
    first = 0
    for batch in batches:
        low, high = max(start - first, 0), min(stop - first, len(batch))
        if low < high:
            yield batch.slice(low, high - low)
        first += len(batch)
        if first >= stop:
            return


def _gathered(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Yield the rows of batches in tables of at most so many bytes, or of one row."""
    together: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for piece, size in (cut for batch in batches for cut in _cut(batch, most)):
        if together and (n_bytes + size > most or n_rows + len(piece) > _MOST_ROWS):
            yield _table(together)
            together, n_rows, n_bytes = [], 0, 0
        together.append(piece)
        n_rows, n_bytes = n_rows + len(piece), n_bytes + size
    if together:
        yield _table(together)


def _cut(batch: pa.RecordBatch, most: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Halve rows until each part takes at most so many bytes, or is one row; yield the parts and their bytes."""
    size = decoded_bytes(batch)
    if size <= most or len(batch) == 1:
        yield batch, size
        return
    half = len(batch) // 2
    yield from _cut(batch.slice(0, half), most)
    yield from _cut(batch.slice(half), most)


def _table(batches: list[pa.RecordBatch]) -> pa.Table:
    table = pa.Table.from_batches(batches)
    return table if len(batches) == 1 else table.combine_chunks()


def _unified(dataset: ds.Dataset, fragments: list[ds.Fragment]) -> tuple[pa.Schema, dict[str, str]]:
    """Return the columns of all files, in types that hold the values of each, and those that some file lacks."""
    if not all(isinstance(fragment, ds.ParquetFileFragment) for fragment in fragments) or len(fragments) < 2:
        return dataset.schema, {}
    schemas = [_physical_schema(fragment) for fragment in fragments]
    if all(schema.equals(schemas[0]) for schema in schemas):
        return dataset.schema, {}
    try:
        together = pa.unify_schemas([dataset.schema, *schemas], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"The files have columns of one name and types that do not go together: {error}.") from error
    in_files = {name for schema in schemas for name in schema.names}
    lacking = {
        name: _path(fragment)
        for fragment, schema in zip(fragments, schemas, strict=True)
        for name in in_files - set(schema.names)
    }
    return together.remove_metadata(), lacking


def _physical_schema(fragment: ds.Fragment) -> pa.Schema:
    try:
        return fragment.physical_schema
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"Cannot read '{fragment.path}' as Parquet. Move it out of the folder: {error}") from error


def _parts(fragment: ds.Fragment) -> list[tuple[ds.Fragment, int]]:
    if not isinstance(fragment, ds.ParquetFileFragment):
        return [(fragment, fragment.count_rows())]
    try:
        return [(part, sum(group.num_rows for group in part.row_groups)) for part in fragment.split_by_row_group()]
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"Cannot read '{fragment.path}' as Parquet. Move it out of the folder: {error}") from error


def _path(fragment: ds.Fragment) -> str:
    return getattr(fragment, "path", "")
