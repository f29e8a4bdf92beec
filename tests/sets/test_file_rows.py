"""Some rows of files are those of the table that was written, however it is divided."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.sets import FileRows, as_stream, column_names, count_examples, take_examples

TABLE = pa.table({"items": [[f"item {n}"] * (n % 4) for n in range(500)], "number": np.arange(500)})


@pytest.fixture
def rows(tmp_path: Path) -> FileRows:
    pq.write_table(TABLE.slice(0, 230), tmp_path / "a.parquet", row_group_size=60)
    pq.write_table(TABLE.slice(230), tmp_path / "b.parquet", row_group_size=7)
    stream = as_stream(tmp_path)
    assert stream is not None
    return FileRows(stream, 10_000)


def test_all_rows(rows: FileRows) -> None:
    assert len(rows) == count_examples(rows) == 500
    assert rows.read().equals(TABLE)
    assert len(list(rows.tables(80))) > 10
    assert column_names(rows).tolist() == ["items", "number"]  # type: ignore[union-attr]
    assert rows.without(["number"]).read().equals(TABLE.select(["items"]))


@pytest.mark.parametrize("chosen", [[], [499], list(range(100, 400)), list(range(0, 500, 3))])
def test_some_of_some_rows(rows: FileRows, chosen: list[int]) -> None:
    some = take_examples(rows, np.array(chosen, np.int64))
    assert len(some) == len(chosen)
    assert some.read().equals(TABLE.take(pa.array(chosen, pa.int64())))
    again = some.take(np.arange(0, len(chosen), 2))
    assert again.read()["number"].to_pylist() == chosen[::2]
