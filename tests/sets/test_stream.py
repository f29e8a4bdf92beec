"""Rows of Parquet files, folders and data sets come in one order, however they are stored."""

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from clearset.sets import _stream, as_stream

TABLE = pa.table({"x": [[float(row), row + 0.5] for row in range(50)], "label": list(range(50))})


@pytest.fixture
def folder(tmp_path):
    """Three files of 20, 20 and 10 rows, in row groups of 7."""
    for number, name in enumerate(["a.parquet", "b.parquet", "c.parquet"]):
        pq.write_table(TABLE.slice(20 * number, 20), tmp_path / name, row_group_size=7)
    return tmp_path


def read(stream, *columns, **options):
    tables = list(stream.tables(list(columns or ("x", "label")), **options))
    return pa.concat_tables(tables)


def test_files_are_read_in_the_order_of_their_paths(folder):
    listed = [folder / name for name in ("c.parquet", "a.parquet", "b.parquet")]
    for given in (folder, str(folder), ds.dataset(folder), ds.dataset(listed), ds.dataset(listed[::-1])):
        stream = as_stream(given)
        assert len(stream) == stream.n_rows == 50
        assert read(stream) == TABLE
        assert stream.column("label").to_pylist() == list(range(50))


def test_one_file(tmp_path):
    pq.write_table(TABLE, tmp_path / "one.pq")
    assert read(as_stream(tmp_path / "one.pq")) == TABLE


@pytest.mark.parametrize("group", [1, 3, 50])
@pytest.mark.parametrize("bytes_at_once", [1, 100, 1000, 1 << 26])
def test_tables_have_about_so_many_bytes(tmp_path, group, bytes_at_once):
    pq.write_table(TABLE, tmp_path / "one.parquet", row_group_size=group)
    tables = list(as_stream(tmp_path / "one.parquet").tables(["x", "label"], bytes_at_once))
    assert pa.concat_tables(tables) == TABLE
    row = TABLE.nbytes / 50
    assert max(len(table) for table in tables) <= max(1, 1.5 * bytes_at_once / row)
    assert len(tables) <= max(50 / group + 1, 50 * row / bytes_at_once * 4) + 1


@pytest.mark.parametrize(
    "rows", [(0, 50), (0, 0), (0, 1), (5, 6), (6, 8), (19, 41), (20, 20), (40, 50), (49, 50), (50, 50)]
)
@pytest.mark.parametrize("bytes_at_once", [60, 1 << 26])
def test_some_of_the_rows(folder, rows, bytes_at_once):
    tables = list(as_stream(folder).tables(["label"], bytes_at_once, rows=rows))
    labels = [label for table in tables for label in table["label"].to_pylist()]
    assert labels == list(range(*rows))
    assert all(len(table) for table in tables)


def test_shares_of_the_rows_make_up_all(folder):
    stream, cuts = as_stream(folder), [0, 3, 21, 22, 50]
    shares = [read(stream, rows=share) for share in pairwise(cuts)]
    assert pa.concat_tables(shares) == TABLE


def test_a_row_group_is_read_only_where_its_rows_are_wanted(folder, monkeypatch):
    read_groups = []
    batches = _stream.record_batches
    monkeypatch.setattr(
        _stream, "record_batches", lambda fragment, *rest: read_groups.append(fragment) or batches(fragment, *rest)
    )
    list(as_stream(folder).tables(["label"], rows=(41, 43)))
    assert len(read_groups) == 1


def test_folders_named_by_a_key(tmp_path):
    for key in ("b", "a"):
        (tmp_path / f"shop={key}").mkdir()
        pq.write_table(pa.table({"label": [1, 2]}), tmp_path / f"shop={key}" / "part.parquet")
    table = read(as_stream(tmp_path), "label", "shop")
    assert table["shop"].cast(pa.string()).to_pylist() == ["a", "a", "b", "b"]
    assert table["label"].to_pylist() == [1, 2, 1, 2]


def test_hidden_files_are_left_out(folder):
    (folder / "_SUCCESS").write_text("")
    (folder / ".part.crc").write_text("")
    assert len(as_stream(folder)) == 50


def test_a_data_set_in_memory_and_one_of_other_files(tmp_path):
    assert read(as_stream(ds.dataset(TABLE))) == TABLE
    (tmp_path / "rows.json").write_text("\n".join(json.dumps(row) for row in TABLE.to_pylist()))
    stream = as_stream(ds.dataset(tmp_path / "rows.json", format="json"))
    assert read(stream, "label")["label"].to_pylist() == list(range(50))


def test_files_without_rows(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "a.parquet")
    assert len(as_stream(tmp_path)) == 0
    assert list(as_stream(tmp_path).tables(["x"])) == []
    assert len(as_stream(tmp_path).column("x")) == 0
    pq.write_table(TABLE, tmp_path / "b.parquet")
    assert read(as_stream(tmp_path)) == TABLE


def test_a_stream_is_a_stream_and_other_data_are_none():
    stream = as_stream(ds.dataset(TABLE))
    assert as_stream(stream) is stream
    assert repr(stream) == "Stream(50 rows, columns=['x', 'label'])"
    for other in (TABLE, np.zeros((2, 2)), [[1.0]], None, {"x": [1]}):
        assert as_stream(other) is None


def test_rows_can_be_gone_through_again(folder):
    stream = as_stream(folder)
    assert read(stream) == read(stream) == TABLE


def test_unknown_columns_are_named(folder):
    with pytest.raises(ValueError, match=r"'labell'.*'label'"):
        list(as_stream(folder).tables(["x", "labell"]))
    with pytest.raises(ValueError, match="'y'"):
        as_stream(folder).column("y")


def test_what_is_no_data(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder .*nowhere"):
        as_stream(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="holds no Parquet files"):
        as_stream(tmp_path)
    (tmp_path / "rows.parquet").write_text("x,label\n1,2\n")
    with pytest.raises(ValueError, match=r"Cannot read .*rows\.parquet.* as Parquet"):
        as_stream(tmp_path / "rows.parquet")
    (tmp_path / "empty.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"Cannot read .*empty\.csv.* as Parquet"):
        as_stream(tmp_path / "empty.csv")


def test_another_format_is_named_and_what_to_do(tmp_path):
    text, whole = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    text.write_text("x,label\n1,2\n")
    for given in (text, str(text), tmp_path):
        with pytest.raises(ValueError, match=r"rows\.csv' as Parquet, the only format.* is a \.csv file") as caught:
            as_stream(given)
        assert "pandas.read_csv" in str(caught.value)
        assert "clearset fit" in str(caught.value)
        assert "magic bytes" not in str(caught.value)
    (tmp_path / "rows.feather").write_bytes(b"ARROW1")
    with pytest.raises(ValueError, match=r"does not begin as such files do\. Read it with pyarrow, pandas or polars"):
        as_stream(tmp_path / "rows.feather")
    pq.write_table(TABLE, whole)
    whole.write_bytes(whole.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"Cannot read .*rows\.parquet' as Parquet: .*corrupted"):
        as_stream(whole)


def test_one_wrong_file_of_a_folder_is_named(folder):
    (folder / "d.parquet").write_text("x,label\n1,2\n")
    with pytest.raises(ValueError, match=r"Cannot read .*d\.parquet"):
        as_stream(folder)


def test_columns_of_one_name_are_refused(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="duplicate field names"):
        as_stream(tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="more than one column named 'x'"):
        as_stream(ds.dataset(twice))


def test_no_columns_are_refused(tmp_path):
    pq.write_table(pa.table({}), tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="no columns"):
        as_stream(tmp_path / "none.parquet")


def test_a_filtered_data_set_is_refused(folder):
    with pytest.raises(ValueError, match=r"filter.*write_dataset"):
        as_stream(ds.dataset(folder).filter(ds.field("label") > 3))


def test_files_may_differ_in_types_that_go_together(tmp_path):
    pq.write_table(pa.table({"x": pa.array([1, 2], pa.int8()), "y": pa.nulls(2)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1000.5], "y": ["b"]}), tmp_path / "b.parquet")
    (tmp_path / "README.txt").write_text("no Parquet")
    stream = as_stream(tmp_path)
    assert stream.column("x").to_pylist() == [1.0, 2.0, 1000.5]
    assert stream.column("y").to_pylist() == [None, None, "b"]


def test_a_file_that_lacks_a_column_is_named(tmp_path):
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [3]}), tmp_path / "b.parquet")
    stream = as_stream(tmp_path)
    assert stream.column("x").to_pylist() == [1, 3]
    with pytest.raises(ValueError, match=r"b\.parquet' has no column 'y', which other files have"):
        stream.column("y")


def test_a_data_set_may_be_read_as_it_is_listed(tmp_path):
    for name in "ab":
        pq.write_table(pa.table({"x": [name]}), tmp_path / f"{name}.parquet")
    listed = ds.dataset([str(tmp_path / "b.parquet"), str(tmp_path / "a.parquet")])
    by_path, as_listed = as_stream(listed), as_stream(listed, by_path=False)
    assert (by_path.column("x").to_pylist(), by_path.as_listed) == (["a", "b"], False)
    assert (as_listed.column("x").to_pylist(), as_listed.as_listed) == (["b", "a"], True)
