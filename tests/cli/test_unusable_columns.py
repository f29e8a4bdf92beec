import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from clearset.cli._unusable_columns import why_unusable
from clearset.sets import feature_columns, resolve_features

NAN = float("nan")


def why(values, decimal: str | None = ".", name: str = "a column") -> str | None:
    return why_unusable(name, pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values)]), decimal)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        [True, False],
        [[1.5], [], None, [2.5]],
        [1.0, None],  # whether it is missing tells something
        [1.0, NAN],
        pa.array([1, 2], pa.decimal128(5, 2)),
        pa.array(np.array([1, 2], np.float16)),
    ],
)
def test_features(values) -> None:
    assert why(values) is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, None], "has no values"),
        (pa.array([None, None], pa.float64()), "has no values"),
        ([NAN, NAN], "has no values"),
        (pa.array([[], None], pa.list_(pa.int64())), "has no values"),
        (pa.array([None, None], pa.string()), "has no values"),
        ([3, 3], "the same value everywhere, 3"),
        ([[0.5], [0.5, 0.5]], "the same value everywhere, 0.5"),
        (["9,4", None, "10"], "text, first value '9,4'; decimal commas? --decimal ,"),
        (["1,200", "1,5"], "text, first value '1,200'; decimal commas? --decimal ,"),
        (["1,200", "950"], "text, first value '1,200'; decimal commas? --decimal , (or thousands? Remove the ',')"),
        (
            ["1", "2.5", "-", "1e3", "?"],
            "text, because 2 of 5 values are no numbers, the first '-'; leave such cells empty",
        ),
        (["red", "blue"], "text, first value 'red'; a category? Declare it with --features"),
        ([["red"], ["blue"]], "text, first value 'red'; items? --column 'a column'; or a category? Declare it with "
         "--features"),
        (["a nice and rather long text", "a nice one, too, for me"],
         "text, first value 'a nice and rather long text'; to read its words: --column 'a column'"),
        (["x" * 50, "y"], f"text, first value '{'x' * 39}…'; a category? Declare it with --features"),
        (["two\nlines", "y"], r"text, first value 'two\nlines'; a category? Declare it with --features"),
        (pa.array(["red", "b"], pa.string_view()), "text, first value 'red'; a category? Declare it with --features"),
        ([dt.date(2020, 1, 2)], "dates or times, first value 2020-01-02; convert them to numbers, such as days"),
        ([[[1]], [[2]]], "lists in lists; unnest one level"),
        ([{"a": 1}], "values of type struct<a: int64>"),
        ([b"a"], "values of type binary"),
    ],
)  # fmt: skip
def test_reasons(values, reason: str) -> None:
    assert why(values) == reason


def test_decimals_depend_on_the_format() -> None:
    assert why(["9.4", "1"], ",") == "text, first value '9.4'; decimal points? --decimal ."
    assert why(["9,4", "1"], None) == "text, first value '9,4'; convert it to numbers"
    assert why(["9,4", "x"], ",") == (
        "text, because 1 of 2 values are no numbers, the first 'x'; leave such cells empty"
    )


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 12", "__index_level_0__"])
def test_what_pandas_calls_nameless(name: str) -> None:
    assert why([0, 1, 2], name=name) == "has no name, as row numbers have that pandas writes"


def test_reserved_names() -> None:
    assert why([1, 2], name="cs.SIZE") == "A column is named 'cs.SIZE', which is reserved. Rename the column."


def test_every_other_column_is_one_that_estimators_take() -> None:
    columns = {
        "numbers": [1.5, 2.0], "flags": [True, False], "lists": [[1], [2]], "texts": ["a", "b"],
        "category": pa.array(["a", "b"]).dictionary_encode(), "code": pa.array([1, 2]).dictionary_encode(),
        "dates": [dt.date(2020, 1, 1)] * 2, "nested": [[[1]], [[2]]],
    }  # fmt: skip
    taken = feature_columns(resolve_features(pa.table(columns), None))
    assert [name for name, values in columns.items() if why(values) is None] == taken
