import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clearset.sets import column_names, count_examples, take_examples

ROWS = [["a", "b"], [], ["c"]]
CONTAINERS = {
    "list": (ROWS, list),
    "tuple": (tuple(ROWS), list),
    "array": (np.array([*ROWS, None], dtype=object)[:3], list),
    "pandas series": (pd.Series(ROWS, index=[2, 1, 0]), list),
    "pandas frame": (pd.DataFrame({"items": ROWS}, index=[2, 1, 0]), lambda X: list(X["items"])),
    "polars series": (pl.Series(ROWS), lambda X: X.to_list()),
    "polars frame": (pl.DataFrame({"items": ROWS}), lambda X: X["items"].to_list()),
    "arrow array": (pa.array(ROWS), lambda X: X.to_pylist()),
    "arrow chunks": (pa.chunked_array([ROWS[:1], ROWS[1:]]), lambda X: X.to_pylist()),
    "arrow table": (pa.table({"items": ROWS}), lambda X: X["items"].to_pylist()),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_rows_are_taken_by_their_places(name):
    X, listed = CONTAINERS[name]
    assert count_examples(X) == 3
    assert listed(take_examples(X, np.array([2, 0, 2]))) == [["c"], ["a", "b"], ["c"]]
    assert len(take_examples(X, np.array([], dtype=np.int64))) == 0


@pytest.mark.parametrize("X", [None, 3, "text", {"a": 1}, {"a"}, iter([])])
def test_what_holds_no_examples(X):
    with pytest.raises(TypeError, match="column of lists or strings, a frame, or a list"):
        count_examples(X)


def test_at_least_one_example():
    with pytest.raises(ValueError, match="0 samples"):
        count_examples([])


def test_names_of_columns():
    assert column_names(pa.table({"a": [1], "b": [2]})).tolist() == ["a", "b"]
    assert column_names(pd.Series([1], name="a")).tolist() == ["a"]
    assert column_names(pd.Series([1])) is None
    assert column_names(pd.DataFrame([[1, 2]])) is None
    assert column_names([[1]]) is None
