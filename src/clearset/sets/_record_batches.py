"""The rows of a piece of an Arrow data set, decoded a few at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import types

# Column chunks of Parquet are read through a buffer of this size: a row group may be larger than memory.
_BUFFER_BYTES = 1 << 20
# Rows decoded in one go: few, for nobody knows how large the next ones are, and enough that each costs little.
_MOST_DECODED = 1 << 10
# A value in memory takes about so many bytes at least, however little it takes in a file.
_VALUE_BYTES = 8


def record_batches(
    fragment: ds.Fragment, schema: pa.Schema, columns: Sequence[str], bytes_at_once: int
) -> Iterator[pa.RecordBatch]:
    """Decode the rows of a fragment, in batches that take much less than so many bytes, if rows are alike.

    A data set decodes a row group of Parquet whole before its first batch; here only the rows of a batch are decoded.

    Parameters
    ----------
    fragment : pyarrow.dataset.Fragment
        The rows; of a Parquet file some of its row groups.
    schema : pyarrow.Schema
        The types that columns shall have.
    columns : sequence of str
        The columns to read.
    bytes_at_once : int
        Bytes, as they are in memory.
    """
    if not isinstance(fragment, ds.ParquetFileFragment):
        yield from fragment.to_batches(
            schema=schema, columns=list(columns), batch_size=_MOST_DECODED, batch_readahead=1, fragment_readahead=1
        )
        return
    wanted = pa.schema([schema.field(name) for name in columns])
    from_path: Mapping[str, Any] = ds.get_partition_keys(fragment.partition_expression)
    in_file = [name for name in columns if name in fragment.physical_schema.names and name not in from_path]
    options = fragment.format.read_options
    with (
        fragment.open() as source,
        pq.ParquetFile(
            source,
            metadata=fragment.metadata,
            read_dictionary=list(options.dictionary_columns),
            coerce_int96_timestamp_unit=options.coerce_int96_timestamp_unit,
            buffer_size=_BUFFER_BYTES,
            pre_buffer=False,
        ) as file,
    ):
        for group in fragment.row_groups:
            n_rows = _rows_decoded(fragment.metadata.row_group(group.id), in_file, bytes_at_once)
            for batch in file.iter_batches(n_rows, row_groups=[group.id], columns=in_file):
                found = [_column(batch, name, wanted.field(name).type, from_path) for name in columns]
                yield pa.RecordBatch.from_arrays(found, schema=wanted)


def decoded_bytes(batch: pa.RecordBatch) -> int:
    """Return the bytes that rows take once dictionaries, which many batches may share, are taken apart."""
    return sum(_bytes_of(column) for column in batch.columns)


def _bytes_of(column: pa.Array) -> int:
    n_bytes: int = column.nbytes
    if types.is_dictionary(column.type):
        of_dictionary: int = column.dictionary.nbytes
        return n_bytes - of_dictionary + len(column) * (of_dictionary // max(len(column.dictionary), 1))
    if types.is_list(column.type) or types.is_large_list(column.type):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        elements = column.values.slice(first, last - first)
        return n_bytes - int(elements.nbytes) + _bytes_of(elements)
    return n_bytes


def _rows_decoded(group: Any, columns: Sequence[str], bytes_at_once: int) -> int:
    """Return how many rows of a row group to decode in one go: a sixteenth of the bytes, if rows are alike."""
    n_bytes = 0
    for place in range(group.num_columns):
        chunk = group.column(place)
        if any(chunk.path_in_schema == name or chunk.path_in_schema.startswith(f"{name}.") for name in columns):
            n_bytes += max(chunk.total_uncompressed_size, _VALUE_BYTES * chunk.num_values)
    per_row = max(n_bytes // max(group.num_rows, 1), 1)
    return int(min(max(bytes_at_once // 16 // per_row, 1), _MOST_DECODED))


def _column(batch: pa.RecordBatch, name: str, type_: pa.DataType, from_path: Mapping[str, Any]) -> pa.Array:
    """Return a column of a file, or what the path of the file says; nulls where neither has it."""
    if name in from_path or name not in batch.schema.names:
        return pa.repeat(pa.scalar(from_path.get(name)).cast(type_), len(batch))
    column = batch.column(name)
    return column if column.type.equals(type_) else column.cast(type_)
