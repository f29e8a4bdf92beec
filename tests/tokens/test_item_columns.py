import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clearset.tokens._item_columns import read_column, read_pair

ROWS = [["salt", "lime"], None, [], ["", "Æ\n\x1f"]]
EXPECTED = [["salt", "lime"], [], [], ["", "Æ\n\x1f"]]


def objects(rows: list[Any]) -> np.ndarray:
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        tuple(ROWS),
        [None if row is None else tuple(row) for row in ROWS],
        pd.Series(ROWS),
        pd.DataFrame({"items": ROWS}),
        pl.Series(ROWS),
        pl.DataFrame({"items": ROWS}),
        pa.array(ROWS),
        pa.chunked_array([pa.array(ROWS[:1]), pa.array(ROWS[1:], pa.list_(pa.string()))]),
        pa.table({"items": ROWS}),
        pa.array(ROWS, pa.large_list(pa.large_string())),
        pa.array(ROWS, pa.list_(pa.string_view())),
        pa.array(ROWS, pa.list_view(pa.string())),
        pa.array(ROWS, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        pa.DictionaryArray.from_arrays([1, None, 0, 2], pa.array([ROWS[2], ROWS[0], ROWS[3]])),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays([0, 1], pa.array([ROWS[0], None])),
                pa.DictionaryArray.from_arrays([0, 2, 1], pa.array([["?"], ROWS[3], ROWS[2]])).slice(1),
            ]
        ),
        pa.array([["before"], *ROWS, ["after"]]).slice(1, 4),
        objects(ROWS),
        objects(ROWS).reshape(-1, 1),
        [["salt", None, "lime"], float("nan"), [None], ["", "Æ\n\x1f"]],
    ],
    ids=lambda X: f"{type(X).__module__}.{type(X).__name__}",
)
def test_columns_of_lists(X: Any) -> None:
    assert read_column(X).sets().to_pylist() == EXPECTED


def test_python_sets() -> None:
    rows = read_column([{"a", "b"}, frozenset("c"), set()]).sets().to_pylist()
    assert [set(row) for row in rows] == [{"a", "b"}, {"c"}, set()]


@pytest.mark.parametrize(
    "X",
    [
        ["salt", None, "lime"],
        pd.Series(["salt", None, "lime"], dtype="category"),
        pd.Series(["salt", None, "lime"]),
        pl.Series(["salt", None, "lime"], dtype=pl.Categorical),
        pl.Series(["salt", None, "lime"], dtype=pl.Enum(["lime", "salt"])),
        pa.array(["salt", None, "lime"]).dictionary_encode(),
        np.array([["salt"], [None], ["lime"]], object),
        pa.table({"x": ["salt", None, "lime"]}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_columns_of_categories_are_sets_of_one(X: Any) -> None:
    column = read_column(X)
    assert column.offsets is None
    assert column.sets().to_pylist() == [["salt"], [], ["lime"]]


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([[3, 1], [2]], [["3", "1"], ["2"]]),
        (np.array([5, 6]), [["5"], ["6"]]),
        ([[True], [False, None]], [["true"], ["false"]]),
        ([[dt.date(2024, 2, 29)]], [["2024-02-29"]]),
        ([], []),
        ([None, None], [[], []]),
        ([[], []], [[], []]),
        (pa.chunked_array([], pa.list_(pa.string())), []),
    ],
)
def test_what_is_no_string_becomes_one(X: Any, expected: list[list[str]]) -> None:
    assert read_column(X).sets().to_pylist() == expected


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a"], ["b"], ["c", 1]], r"Row 2 .*several types"),
        ([["a"], None, [1], ["b"]], r"Row 2 .*int64>, while row 0 holds list"),
        (["a", ["b"]], r"Row 1 .*row 0 holds string"),
        ([["a"], ["\ud800"]], r"Row 1 "),
        (pd.Series([["a"], ["b", 2]]), r"Row 1 "),
        ([[], None, [0.5]], r"numbers with fractions \(first in row 2.*SetRegressor"),
        (np.array([0.5, 1.5]), r"numbers with fractions \(first in row 0"),
        ([[], [["a"]]], r"lists in lists \(first in row 1"),
        ([{"a": 1}], r"values of type struct"),
        ([b"a"], r"values of type binary"),
        (7, r"X is a int"),
        ("salt", r"X is a str"),
    ],
)
def test_what_cannot_be_read(X: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        read_column(X)


def test_two_columns_where_one_is_needed() -> None:
    with pytest.raises(ValueError, match=r"2 columns \('a', 'b'\)"):
        read_column(pa.table({"a": [["x"]], "b": [["y"]]}))
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        read_column(np.array([["x", "y"]]))


def test_lazy_frames_are_refused() -> None:
    with pytest.raises(TypeError, match="Collect it first"):
        read_column(pl.LazyFrame({"a": ["x"]}))


PAIRS = [(["a", "b"], ["b"]), ([], ["c"]), (None, None)]


@pytest.mark.parametrize(
    "X",
    [
        PAIRS,
        [list(pair) for pair in PAIRS],
        pd.DataFrame({"bought": [p[0] for p in PAIRS], "seen": [p[1] for p in PAIRS]}),
        pl.DataFrame({"bought": [p[0] for p in PAIRS], "seen": [p[1] for p in PAIRS]}),
        pd.DataFrame({"bought": [p[0] for p in PAIRS], "seen": [p[1] for p in PAIRS]}).to_numpy(),
    ],
    ids=lambda X: type(X).__name__,
)
def test_pairs(X: Any) -> None:
    left, right = read_pair(X, 0, 1)
    assert left.sets().to_pylist() == [["a", "b"], [], []]
    assert right.sets().to_pylist() == [["b"], ["c"], []]


def test_pairs_by_name_among_more_columns() -> None:
    frame = pa.table({"id": [1], "seen": [["a"]], "bought": ["b"]})
    left, right = read_pair(frame, "bought", "seen")
    assert left.sets().to_pylist() == [["b"]]
    assert right.sets().to_pylist() == [["a"]]


@pytest.mark.parametrize(
    ("X", "left", "message"),
    [
        (pa.table({"seen": [["a"]], "b": [["b"]]}), "seem", "Did you mean 'seen'"),
        (pa.table({"seen": [["a"]], "b": [["b"]]}), 2, "only 2 column"),
        ([(["a"], ["b"]), (["a"],)], 1, "Row 1 .*has no position 1"),
        (["ab"], 0, "every row is a pair"),
    ],
)
def test_pairs_that_are_none(X: Any, left: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_pair(X, left, 1)
    with pytest.raises(TypeError, match="no names"):
        read_pair([(["a"], ["b"])], "seen", "bought")
