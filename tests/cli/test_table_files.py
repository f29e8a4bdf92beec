from pathlib import Path

import pyarrow as pa
import pytest

from clearset.cli._options import CsvFormat
from clearset.cli._table_files import (
    check_column,
    count_tokens,
    did_you_mean,
    list_columns,
    names_in,
    read_table,
    write_table,
)

TABLE = pa.table({"key": [1, 2], "name": ["a,b", None], "x": [0.5, None]})


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".parquet", ".pq"])
def test_what_is_written_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    write_table(TABLE, path)
    assert read_table(path, CsvFormat()).equals(TABLE)


def test_csv_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,ok,word\n1,true,\n2,false,x\n")
    assert read_table(path, CsvFormat()).to_pydict() == {"id": [1, 2], "ok": [True, False], "word": [None, "x"]}


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(TABLE, None)
    assert capsys.readouterr().out.splitlines() == ['"key","name","x"', '1,"a,b",0.5', "2,,"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", "x", "neither CSV nor Parquet by its name"),
        ("a.csv", "", "a.csv' is empty"),
        ("a.csv", "x,y\n1\n", "Cannot read .*a.csv"),
        ("a.csv", "x,x\n1,2\n", "more than one column named 'x'"),
        ("a.csv", "x,y\n", "has no rows"),
        ("a.parquet", "x", "Cannot read .*a.parquet"),
    ],
)
def test_unreadable(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name, CsvFormat())


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_table(tmp_path / "no.csv", CsvFormat())


def test_columns() -> None:
    lists = pa.table({"x": [[1.0, 2.0], [], [3.0]], "price": [1, 2, 3]})
    assert list_columns(lists) == ["x"]
    assert count_tokens(lists) == 3
    assert count_tokens(TABLE) == 2
    with pytest.raises(ValueError, match=r"'t\.csv' has no column 'nmae'\. Did you mean 'name'\?"):
        check_column(TABLE, "nmae", Path("t.csv"))
    assert did_you_mean("zzz", ["a", "b"]) == "There are: a, b."
    assert names_in(" a, b,") == ["a", "b"]


def test_texts_are_read_as_written(tmp_path: Path) -> None:
    written = ["03", "True", "NA", "null", "1.50", "2020-01-01"]
    path = tmp_path / "t.csv"
    path.write_text("item,other\n" + "".join(f"{item},NA\n" for item in written) + ",1\n")
    table = read_table(path, CsvFormat(), ["item", "absent"])
    assert table.to_pydict() == {"item": [*written, None], "other": [None] * 6 + [1]}
