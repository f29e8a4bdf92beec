"""The rows of a piece of an Arrow data set, decoded a few at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import types

# Column chunks of Parquet are read through buffers, smaller ones where there are many: a row group may be larger than
# memory.
_LEAST_BUFFER, _MOST_BUFFER = 1 << 14, 1 << 20
# Rows decoded in one go: few at first, for nobody knows how large the next ones are, and more while they are small.
_FIRST_DECODED, _MOST_DECODED = 1 << 4, 1 << 10
# Neighbours of so many bytes each may come at any time, however small the ones before.
_SUDDEN_BYTES = 1 << 15
# A batch takes one part in so many of the bytes of a table.
_OF_A_BATCH = 16
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
    in_types = {name: fragment.physical_schema.field(name).type for name in in_file}
    options = fragment.format.read_options
    with (
        fragment.open() as source,
        pq.ParquetFile(
            source,
            metadata=fragment.metadata,
            read_dictionary=list(options.dictionary_columns),
            coerce_int96_timestamp_unit=options.coerce_int96_timestamp_unit,
            buffer_size=int(min(max(bytes_at_once // (len(in_file) + 1), _LEAST_BUFFER), _MOST_BUFFER)),
            pre_buffer=False,
        ) as file,
    ):
        for group in fragment.row_groups:
            most = _most_decoded(fragment.metadata.row_group(group.id), in_types, bytes_at_once)
            n_rows = min(_FIRST_DECODED, most)
            for read in file.iter_batches(n_rows, row_groups=[group.id], columns=in_file):
                # What metadata say of a row is its mean, and strings that come often take less in files than in memory.
                goal, at_most = bytes_at_once // _OF_A_BATCH, most
                if (shared := sum(map(_bytes_of_dictionary, read.columns))) > bytes_at_once:
                    # It is there anyway, and read anew with each batch, of which there had better be few.
                    goal, at_most = max(goal, shared // 8), _MOST_DECODED
                alike = goal * len(read) // max(sum(map(_bytes_read, read.columns)), 1)
                n_rows = max(min(2 * n_rows, at_most, alike), 1)
                file.reader.set_batch_size(n_rows)  # of the next batch
                found = [_column(read, name, wanted.field(name).type, from_path) for name in columns]
                yield pa.RecordBatch.from_arrays(list(map(_with_own_dictionary, found)), schema=wanted)


def decoded_bytes(batch: pa.RecordBatch) -> int:
    """Return the bytes that rows take once dictionaries, which many batches may share, are taken apart."""
    return sum(map(_bytes_of, batch.columns))


def _bytes_of(column: pa.Array) -> int:
    if types.is_dictionary(column.type):
        return int(column.indices.nbytes) + _bytes_looked_up(column)
    if _is_list(column.type):
        return _bytes_of_offsets(column) + _bytes_of(_elements(column))
    return int(column.nbytes)


def _bytes_read(column: pa.Array) -> int:
    """Return the bytes that a column takes as it is read, without the dictionary, which all batches have anew."""
    if types.is_dictionary(column.type):
        return int(column.indices.nbytes)
    if _is_list(column.type):
        return _bytes_of_offsets(column) + _bytes_read(_elements(column))
    return int(column.nbytes)


def _bytes_of_dictionary(column: pa.Array) -> int:
    if types.is_dictionary(column.type):
        return int(column.dictionary.nbytes)
    return _bytes_of_dictionary(column.values) if _is_list(column.type) else 0


def _is_list(type_: pa.DataType) -> bool:
    return bool(types.is_list(type_) or types.is_large_list(type_))


def _bytes_of_offsets(column: pa.Array) -> int:
    return (len(column) + 1) * (8 if types.is_large_list(column.type) else 4)


def _elements(column: pa.Array) -> pa.Array:
    """Return the elements of the lists of a column, and no others."""
    first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
    return column.values.slice(first, last - first)


def _bytes_looked_up(column: pa.DictionaryArray) -> int:
    """Return the bytes of what a dictionary stands for."""
    words = column.dictionary
    if not (types.is_string(words.type) or types.is_large_string(words.type)):
        return len(column) * (int(words.nbytes) // max(len(words), 1))
    lengths = pc.binary_length(words).fill_null(0).cast(pa.int64())
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)


def _with_own_dictionary(column: pa.Array) -> pa.Array:
    """Leave out what a column does not use of a dictionary with more entries than the column.

    Each of many small batches has the whole dictionary of a row group, which to keep or to join with others would take
    more than the batches themselves.
    """
    type_ = column.type
    if types.is_dictionary(type_) and len(column.dictionary) > len(column):
        used = column.indices.drop_null().unique()
        codes = pc.index_in(column.indices, value_set=used).cast(type_.index_type)
        return pa.DictionaryArray.from_arrays(codes, column.dictionary.take(used), ordered=type_.ordered)
    if _is_list(type_) and types.is_dictionary(type_.value_type):
        own = _with_own_dictionary(elements := _elements(column))
        if own is not elements:
            offsets = pc.subtract(column.offsets, column.offsets[0])
            make = pa.LargeListArray if types.is_large_list(type_) else pa.ListArray
            return make.from_arrays(offsets, own, type=type_, mask=column.is_null())
    return column


def _most_decoded(group: Any, columns: Mapping[str, pa.DataType], bytes_at_once: int) -> int:
    """Return how many rows of a row group to decode in one go at most."""
    n_bytes, sudden = 0, 0
    for place in range(group.num_columns):
        chunk = group.column(place)
        name: str = chunk.path_in_schema
        within = [column for column in columns if name == column or name.startswith(f"{column}.")]
        if not within:
            continue
        n_bytes += _VALUE_BYTES * chunk.num_values
        if _has_dictionary(columns[within[0]]):  # of which only the numbers of entries are decoded
            sudden = max(sudden, _SUDDEN_BYTES // 4)
        else:
            n_bytes += max(chunk.total_uncompressed_size - _VALUE_BYTES * chunk.num_values, 0)
            if name not in columns or chunk.physical_type == "BYTE_ARRAY":
                sudden = _SUDDEN_BYTES
    per_row = max(n_bytes // max(group.num_rows, 1), 1)
    most = min(bytes_at_once // _OF_A_BATCH // per_row, bytes_at_once // max(sudden, 1))
    return int(min(max(most, 1), _MOST_DECODED))


def _has_dictionary(type_: pa.DataType) -> bool:
    return bool(types.is_dictionary(type_) or (_is_list(type_) and types.is_dictionary(type_.value_type)))


def _column(batch: pa.RecordBatch, name: str, type_: pa.DataType, from_path: Mapping[str, Any]) -> pa.Array:
    """Return a column of a file, or what the path of the file says; nulls where neither has it."""
    if name in from_path or name not in batch.schema.names:
        return pa.repeat(pa.scalar(from_path.get(name)).cast(type_), len(batch))
    column = batch.column(name)
    return column if column.type.equals(type_) else column.cast(type_)
