import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import clearset as cs
from clearset.tuning._checksum import checksum

LISTS = [[float(row)] * (1 + row % 3) for row in range(30)]


def sets(rows):
    return cs.SetData(np.concatenate(rows), np.cumsum([0, *map(len, rows)]), ["x"])


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda rows: [set(row) for row in rows],
        lambda rows: [np.array(row) for row in rows],
        lambda rows: pa.table({"x": rows}),
        pa.array,
        lambda rows: pl.DataFrame({"x": rows}),
        pl.Series,
        lambda rows: pd.DataFrame({"x": rows}),
        lambda rows: pd.Series([np.array(row) for row in rows]),
        lambda rows: np.array([sum(row) for row in rows])[:, None],
        lambda rows: np.array([str(row) for row in rows], dtype=object),
        lambda rows: np.array([str(row) for row in rows]),
        lambda rows: csr_matrix(np.array([sum(row) for row in rows])[:, None]),
        sets,
    ],
)
def test_all_forms(make):
    before = checksum(make(LISTS))
    assert checksum(make(LISTS)) == before
    assert checksum(make([*LISTS[:17], [5.5], *LISTS[18:]])) != before
    assert checksum(make(LISTS[::-1])) != before
    assert checksum(make(LISTS[:-1])) != before


def test_slices_and_orders_of_memory_change_nothing():
    array = np.arange(12.0).reshape(3, 4)
    assert checksum(np.asfortranarray(array)) == checksum(array)
    assert checksum(array[:, ::-1][:, ::-1]) == checksum(array)
    assert checksum(array.reshape(4, 3)) != checksum(array)
    assert checksum(pa.array(LISTS)[3:]) == checksum(pa.array(LISTS[3:]))


def test_names_count():
    assert checksum(pl.DataFrame({"a": [1]})) != checksum(pl.DataFrame({"b": [1]}))
    values = np.concatenate(LISTS)
    offsets = np.cumsum([0, *map(len, LISTS)])
    assert checksum(cs.SetData(values, offsets, ["y"])) != checksum(sets(LISTS))


def test_of_many_rows_some_are_looked_at():
    rows = [[str(row)] for row in range(20_000)]
    before = checksum(rows)
    assert checksum([*rows[:-1], ["other"]]) != before
    assert checksum([["other"], *rows[1:]]) != before
    assert checksum(pa.array(rows)) == checksum(pa.chunked_array([rows[:7], rows[7:]]))


def test_the_same_in_another_process():
    script = "from clearset.tuning._checksum import checksum; print(checksum([{'salt', 'lime', 'feta'}, {'salt'}]))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)  # noqa: S603
    assert int(out.stdout) == checksum([{"feta", "lime", "salt"}, {"salt"}])
