"""Parquet files with a description and a checksum; their footers as Arrow reads them."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.artifact import ArtifactError, ParquetFormat, read_rows
from clearset.artifact._parquet_footer import read_declared

FORMAT = ParquetFormat("list of things", "things.save", b"things")
ROWS = pa.table({"name": ["ä", "", None], "weights": [[0.5], [], [1.0, 2.0]], "count": [1, 2, 3]})
DOCUMENT = {"note": "clearset_sha256\x18@", "numbers": [1, 2.5, None]}


def test_content_comes_back() -> None:
    content = FORMAT.pack(ROWS, DOCUMENT)
    rows, document = FORMAT.unpack(content, "file")
    assert rows.equals(ROWS)
    assert document == {"version": 2, **DOCUMENT}
    assert FORMAT.pack(ROWS, DOCUMENT) == content


def test_further_metadata_stays() -> None:
    content = FORMAT.pack(ROWS.replace_schema_metadata({b"more": b"kept"}), {})
    assert pa.parquet.read_schema(pa.BufferReader(content)).metadata[b"more"] == b"kept"


def test_packing_what_was_unpacked_makes_a_new_checksum() -> None:
    other = ParquetFormat("more", "more.save", b"more")
    content = other.pack(FORMAT.unpack(FORMAT.pack(ROWS, DOCUMENT), "file")[0], {"a": 1})
    assert FORMAT.unpack(content, "file")[1]["note"] == DOCUMENT["note"]
    assert other.unpack(content, "file")[1] == {"version": 2, "a": 1}


def test_every_bit_counts() -> None:
    content = FORMAT.pack(ROWS.slice(0, 1).select(["count"]), {})
    for bit in range(0, 8 * len(content), 3):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ArtifactError, match="'file'"):
            FORMAT.unpack(bytes(changed), "file")


def test_tables_that_compress_well_come_back() -> None:
    rows = pa.table({"count": pa.array(np.zeros(400_000, np.int64))})
    content = FORMAT.pack(rows, {})
    assert 300_000 <= len(content) < 310_000
    assert FORMAT.unpack(content, "file")[0].equals(rows)
    buffer = io.BytesIO()
    pa.parquet.write_table(rows.replace_schema_metadata({b"things": b'{"version": 1}'}), buffer)
    with pytest.raises(ArtifactError, match=r"it declares 400,000 rows .* 300,000 bytes are needed"):
        FORMAT.unpack(buffer.getvalue(), "file")


def arrow_says(content: bytes) -> tuple[int, int, int]:
    metadata = pa.parquet.read_metadata(pa.BufferReader(content))
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    bytes_of_columns = sum(column.total_uncompressed_size for column in columns)
    return metadata.num_rows, sum(column.num_values for column in columns), bytes_of_columns


@given(
    st.lists(st.lists(st.one_of(st.none(), st.floats(width=32)), max_size=4), min_size=1, max_size=30),
    st.integers(1, 40),
    st.sampled_from(["zstd", "none", "snappy"]),
    st.sampled_from(["1.0", "2.4", "2.6"]),
    st.integers(1, 40),
)
@settings(max_examples=100, deadline=None)
def test_footers(lists: list[Any], n_columns: int, compression: str, version: str, group: int) -> None:
    rows = pa.table({f"column {place}": pa.array(lists, pa.list_(pa.float64())) for place in range(n_columns)})
    rows = rows.append_column("text", pa.array([str(each) for each in lists]))
    buffer = io.BytesIO()
    options = {"version": version, "row_group_size": group, "write_page_index": n_columns % 2 == 0}
    pa.parquet.write_table(rows, buffer, compression=compression, **options)
    declared = read_declared(buffer.getvalue())
    assert (declared.rows, declared.values, declared.uncompressed) == arrow_says(buffer.getvalue())


def test_damaged_footers() -> None:
    content, rng = FORMAT.pack(ROWS, DOCUMENT), np.random.default_rng(0)
    for _ in range(3000):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), rng.integers(1, 5)):
            changed[place] = rng.integers(256)
        try:
            read_declared(bytes(changed)[: rng.integers(len(content) // 2, len(content) + 1)])
            read_declared(bytes(changed))
        except ValueError:
            continue


def test_strings_that_are_no_utf8() -> None:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"token": pa.array([b"a\xff"]).view(pa.string())}), file)
    with pytest.raises(ArtifactError, match="Parquet structure is broken"):
        read_rows(file.getvalue(), "a")
