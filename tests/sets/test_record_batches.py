"""Rows of files are decoded a few at a time, however they are stored, and come in tables of bounded size."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from clearset.sets import as_stream
from clearset.sets._record_batches import record_batches

LIMIT = 100_000


def strings(sizes, of_each=lambda place: f"a string with number {place % 1000}"):
    """Return rows of so many strings each."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    words = pa.array([of_each(place) for place in range(1000)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), words.take(pa.array(np.arange(offsets[-1]) % 1000)))


def with_dictionary(lists):
    return pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())


def growing():
    return np.concatenate([np.full(2000, 3), np.full(300, 200), np.full(2000, 3)])


ROWS = {
    "small rows first": strings(np.concatenate([np.zeros(1100, int), np.full(3000, 60)])),
    "rows that grow in the middle": strings(growing()),
    "one huge row": strings(np.concatenate([np.full(500, 3), [30_000], np.full(500, 3)])),
    "long strings, each in the file once": strings(np.full(3000, 2), lambda place: f"{place % 7}" * 3000),
    "a dictionary": with_dictionary(strings(growing())),
    "a dictionary of texts": pa.array([f"{row % 9}" * 2000 for row in range(3000)]).dictionary_encode(),
    "texts": pa.array(["short"] * 1500 + ["long" * 500] * 1500),
    "numbers": pa.array(np.arange(60_000.0)),
    "lists of numbers": pa.array([[]] * 1100 + [np.arange(300.0)] * 1000),
}


def plain(column):
    """Return rows whose strings stand there as often as they occur."""
    type_ = pa.list_(pa.string()) if pa.types.is_list(column.type) else pa.string()
    return column.cast(type_) if "dictionary" in str(column.type) else column


@pytest.fixture(params=["one row group", "row groups of 700", "several files", "a data set in memory", "feather"])
def stored(request, tmp_path):
    def store(column):
        table = pa.table({"x": column})
        if request.param == "a data set in memory":
            return ds.dataset(table)
        if request.param == "feather":
            ds.write_dataset(table, tmp_path / "f", format="feather")
            return ds.dataset(tmp_path / "f", format="feather")
        files = 3 if request.param == "several files" else 1
        for number in range(files):
            start, stop = (len(table) * part // files for part in (number, number + 1))
            rows = 700 if request.param == "row groups of 700" else 1 << 20
            pq.write_table(table.slice(start, stop - start), tmp_path / f"{number}.parquet", row_group_size=rows)
        return tmp_path

    return store


@pytest.mark.parametrize("what", ROWS)
def test_tables_are_of_bounded_size_however_rows_are_stored(what, stored):
    tables = list(as_stream(stored(ROWS[what])).tables(["x"], LIMIT))
    assert [row for table in tables for row in table["x"].to_pylist()] == ROWS[what].to_pylist()
    sizes = [plain(table["x"].combine_chunks()).nbytes for table in tables if len(table) > 1]
    assert max(sizes) < 1.2 * LIMIT
    together = plain(ROWS[what]).nbytes
    assert len(tables) < 4 * together / LIMIT + 10 + len(ROWS[what]) / 700  # and not of a few rows each


@pytest.mark.parametrize("what", ["small rows first", "rows that grow in the middle", "texts", "lists of numbers"])
def test_row_groups_are_not_decoded_whole(what, tmp_path):
    column = pa.concat_arrays([ROWS[what]] * 4)
    pq.write_table(pa.table({"x": column}), tmp_path / "one.parquet", row_group_size=1 << 20)
    stream, before = as_stream(tmp_path), pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() - before for _ in stream.tables(["x"], LIMIT))
    n_bytes = column.nbytes
    del column
    assert most < 0.4 * n_bytes  # a page of a file, which is a megabyte, and a table


SUDDEN = {
    "long sets": pa.ListArray.from_arrays(
        pa.array(np.concatenate([[0], np.cumsum([1] * 20_000 + [5_000] * 200 + [1] * 2_000)]), pa.int32()),
        pa.array(np.arange(22_000 + 1_000_000.0)),
    ),
    "a long text that comes often": pa.array(["short"] * 2_000 + ["long" * 5_000] * 1_000),
    "a long entry of a dictionary": pa.array(
        ["short", "long" * 5_000] * 1_000 + [f"other {row}" for row in range(5_000)]
    ).dictionary_encode(),
}


@pytest.mark.parametrize("what", SUDDEN)
def test_neighbours_that_are_suddenly_large(what, tmp_path):
    """The rows before and what metadata say of rows do not tell of them."""
    pq.write_table(pa.table({"x": SUDDEN[what]}), tmp_path / "one.parquet", row_group_size=1 << 20)
    stream, limit, before, found = as_stream(tmp_path), 1 << 20, pa.total_allocated_bytes(), []
    most = 0
    for table in stream.tables(["x"], limit):
        most = max(most, pa.total_allocated_bytes() - before)
        assert plain(table["x"].combine_chunks()).nbytes < 1.2 * limit or len(table) == 1
        found += [hash(str(row)) for row in table["x"].to_pylist()]
        del table
    assert found == [hash(str(row)) for row in SUDDEN[what].to_pylist()]
    assert most < 6.5 * limit  # a table, twice while it is put together, and a page of the file


def test_dictionaries_hold_what_rows_use(tmp_path):
    """Otherwise each of many tables would hold the whole dictionary of a row group."""
    rng = np.random.default_rng(0)
    words = pa.array([f"a word of some length with number {number}" for number in range(20_000)])
    codes = pa.array(rng.integers(0, 20_000, 30_000), pa.int16(), mask=rng.random(30_000) < 0.1)
    plain_words = pa.DictionaryArray.from_arrays(codes, words)
    lists = pa.ListArray.from_arrays(
        np.arange(0, 30_001, 3, np.int32), plain_words, mask=pa.array(np.arange(10_000) % 9 == 0)
    )
    large = lists.cast(pa.large_list(lists.type.value_type))
    table = pa.table({"s": plain_words[:10_000], "l": lists, "g": large})
    pq.write_table(table, tmp_path / "one.parquet")
    found = list(as_stream(tmp_path).tables(table.column_names, 50_000))
    assert pa.concat_tables(found).to_pylist() == table.to_pylist()
    assert {each.schema for each in found} == {pq.read_schema(tmp_path / "one.parquet").remove_metadata()}
    assert max(each.nbytes for each in found) < 300_000 < words.nbytes / 2


def written(folder, *tables, **options):
    folder.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=7, **options)
    return ds.dataset(folder, format="parquet", partitioning="hive", partition_base_dir=str(folder.parent))


N = 15
ODD = {
    "nested": pa.table({"a": [{"b": row, "c": [row]} for row in range(N)], "a.b": range(N), "a.": ["x"] * N}),
    "dictionaries": pa.table(
        {
            "s": pa.array(["x", "y", None] * 5).dictionary_encode(),
            "l": pa.array([["a"], [], None] * 5, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        }
    ),
    "views": pa.table({"s": pa.array(["a"] * N, pa.string_view()), "l": pa.array([[1]] * N, pa.list_view(pa.int64()))}),
    "times": pa.table({"t": pa.array(range(N), pa.timestamp("ns")), "d": pa.array(range(N), pa.date32())}),
    "nothing": pa.table({"n": pa.nulls(N), "e": pa.array([None] * N, pa.large_list(pa.large_string()))}),
}


def check_same_as_data_set(dataset):
    stream = as_stream(dataset)
    names = stream.schema.names
    for columns in (names, names[::-1], names[:1], names[-1:]):
        found = pa.concat_tables(stream.tables(columns, 50))
        assert found.schema.remove_metadata().equals(dataset.schema.empty_table().select(columns).schema)
        assert found.to_pylist() == dataset.to_table(columns=columns).to_pylist()


@pytest.mark.parametrize("what", ODD)
def test_columns_are_those_of_the_data_set(what, tmp_path):
    for name, options in {"a": {}, "b": {"use_deprecated_int96_timestamps": True, "store_schema": False}}.items():
        check_same_as_data_set(written(tmp_path / name, ODD[what], **options))


def test_columns_of_folders_stand_above_those_of_files(tmp_path):
    written(tmp_path / "shop=a", pa.table({"n": range(N), "shop": ["own"] * N}))
    written(tmp_path / "shop=b", pa.table({"n": range(N), "shop": ["own"] * N}))
    check_same_as_data_set(ds.dataset(tmp_path, partitioning="hive"))


def test_columns_of_folders_may_be_dictionaries(tmp_path):
    for shop in "ab":
        written(tmp_path / f"shop={shop}", pa.table({"n": range(N)}))
    in_dictionary = ds.HivePartitioning.discover(infer_dictionary=True)
    check_same_as_data_set(ds.dataset(tmp_path, partitioning=in_dictionary))


def test_declared_types_and_columns_that_no_file_has(tmp_path):
    table = pa.table({"n": pa.array(range(N), pa.int16()), "s": ["x"] * N})
    written(tmp_path / "a", table)
    schema = pa.schema([("n", pa.float64()), ("s", pa.large_string()), ("no", pa.list_(pa.string()))])
    check_same_as_data_set(ds.dataset(tmp_path / "a", schema=schema))
    form = ds.ParquetFileFormat(dictionary_columns=["s"])
    check_same_as_data_set(ds.dataset(tmp_path / "a", format=form))


def test_some_row_groups_of_a_file(tmp_path):
    (fragment,) = written(tmp_path / "a", pa.table({"n": range(N)})).get_fragments()
    some = fragment.subset(row_group_ids=[0, 2])
    found = [row for batch in record_batches(some, some.physical_schema, ["n"], 50) for row in batch["n"].to_pylist()]
    assert found == [0, 1, 2, 3, 4, 5, 6, 14]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not tell which files are open")
def test_files_are_closed_when_reading_stops(tmp_path):
    def is_open():
        return str(tmp_path / "a" / "0.parquet") in [os.path.realpath(fd) for fd in Path("/proc/self/fd").iterdir()]

    (fragment,) = written(tmp_path / "a", pa.table({"n": range(N)})).get_fragments()
    batches = record_batches(fragment, fragment.physical_schema, ["n"], 50)
    assert len(next(batches)) < N
    assert is_open()
    batches.close()
    assert not is_open()
