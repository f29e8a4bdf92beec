import datetime as dt
import decimal
from itertools import pairwise

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.sets import PLACE, PLACE_FROM_START, SIZE, Feature, SetData, is_frame, read_sets

NAN = float("nan")
ROWS = {"a": [[1, 2], [], None, [3]], "b": [[0.5, None], [], [], [NAN]], "price": [1.5, None, 3.0, 4.0]}
NAMES = [Feature("a"), Feature("b"), Feature("price")]


def object_array(rows, make):
    column = np.empty(len(rows), dtype=object)
    column[:] = [None if row is None else make(row) for row in rows]
    return column


def as_pandas(make):
    return pd.DataFrame({name: object_array(ROWS[name], make) for name in "ab"} | {"price": ROWS["price"]})


FRAMES = {
    "arrow": pa.table(ROWS),
    "arrow large": pa.table(ROWS).cast(
        pa.schema([("a", pa.large_list(pa.int8())), ("b", pa.large_list(pa.float32())), ("price", pa.float64())])
    ),
    "arrow list view": pa.table(
        {
            "a": pa.array(ROWS["a"], pa.list_view(pa.int64())),
            "b": pa.array(ROWS["b"], pa.large_list_view(pa.float64())),
            "price": ROWS["price"],
        }
    ),
    "arrow chunked": pa.concat_tables([pa.table(ROWS).slice(0, 1), pa.table(ROWS).slice(1)]),
    "polars": pl.DataFrame(ROWS),
    "narwhals": nw.from_native(pl.DataFrame(ROWS)),
    "pandas lists": as_pandas(list),
    "pandas tuples": as_pandas(tuple),
    "pandas arrays": as_pandas(lambda row: np.array(row, dtype=float)),
    "pandas arrow": pa.table(ROWS).to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_every_kind_of_frame_reads_the_same(frame):
    assert is_frame(frame)
    data = read_sets(frame, NAMES)
    assert data.feature_names == ("a", "b")
    assert data.set_feature_names == ("price",)
    assert data.offsets.tolist() == [0, 2, 2, 2, 3]
    np.testing.assert_array_equal(data.values, [[1, 0.5], [2, NAN], [3, NAN]])
    np.testing.assert_array_equal(data.set_values, [[1.5], [NAN], [3], [4]])
    assert data.values.flags.f_contiguous


@given(
    st.lists(st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=4), min_size=1, max_size=9),
    st.sampled_from([pa.list_, pa.large_list, pa.list_view, pa.large_list_view]),
    st.data(),
)
def test_slices_and_chunks(rows, list_type, draw):
    array = pa.array(rows, list_type(pa.int16()))
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    start = draw.draw(st.integers(0, len(rows) - 1))
    edges = [0, *cuts, len(rows)]
    column = pa.chunked_array([array[low:high] for low, high in pairwise(edges)])
    data = read_sets(pa.table({"a": column}).slice(start), [Feature("a")])
    expected = [row or [] for row in rows[start:]]
    assert data.sizes.tolist() == [len(row) for row in expected]
    flat = [NAN if value is None else value for row in expected for value in row]
    np.testing.assert_array_equal(data.values[:, 0], flat)


def test_garbage_behind_null_lists_is_not_read():
    mask = pa.array([False, True, False])
    garbage = pa.ListArray.from_arrays(pa.array([0, 1, 3, 4]), pa.array([1.0, np.inf, 98, 4]), mask=mask)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2, np.inf, 98, 5, 6]), 2, mask=mask)
    assert read_sets(pa.table({"a": garbage}), [Feature("a")]).values[:, 0].tolist() == [1, 4]
    data = read_sets(pa.table({"a": fixed}).slice(1), [Feature("a")])
    assert data.values[:, 0].tolist() == [5, 6]
    assert data.sizes.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([True, None, False]), [1, NAN, 0]),
        (pa.array([2**63, 1, 0], pa.uint64()), [2.0**63, 1, 0]),
        (pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")]), [1.5, NAN, -2.25]),
        (pa.array(np.array([1, 2, 3], np.float16)), [1, 2, 3]),
        (pa.nulls(3), [NAN, NAN, NAN]),
        (pa.array([10, None, 20]).dictionary_encode(), [10, NAN, 20]),
    ],
)
def test_numbers_of_every_type(values, expected):
    np.testing.assert_array_equal(read_sets(pa.table({"a": values}), [Feature("a")]).values[:, 0], expected)


def test_plain_columns_alone_are_sets_of_one_token():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([3, None], dtype="Int64"), "name": ["u", "v"]})
    data = read_sets(frame, [Feature("b"), Feature("a"), Feature(SIZE)])
    assert data.feature_names == ("b", "a")
    assert data.set_feature_names == ()
    np.testing.assert_array_equal(data.values, [[3, 1], [NAN, 2]])
    assert data.sizes.tolist() == [1, 1]


def test_arrays_are_sets_of_one_token():
    X = np.array([[1, 2, 3], [4, 5, 6]])
    for array in (X, X.astype(np.float32), X.tolist(), np.asfortranarray(X), X.astype(object)):
        data = read_sets(array, [Feature("x2"), Feature("x0")])
        assert data.values.tolist() == [[3, 1], [6, 4]]
        assert data.offsets.tolist() == [0, 1, 2]
    assert not is_frame(X)
    mixed = np.array([["u", 1], [None, NAN]], dtype=object)
    data = read_sets(mixed, [Feature("x0", kind="categorical"), Feature("x1")])
    np.testing.assert_array_equal(data.values, [[0, 1], [NAN, NAN]])
    assert data.categories == {"x0": ("u",)}


CATEGORICAL = {
    "strings": pa.table({"c": [["u", "v"], None, ["u", None]]}),
    "dictionary": pa.table(
        {"c": pa.array([["u", "v"], None, ["u", None]], pa.list_(pa.dictionary(pa.int8(), pa.string())))}
    ),
    "dictionary of lists": pa.table(
        {"c": pa.DictionaryArray.from_arrays([1, None, 0], pa.array([["u", None], ["u", "v"]]))}
    ),
    "polars enum": pl.DataFrame({"c": [["u", "v"], None, ["u", None]]}, schema={"c": pl.List(pl.Enum(["v", "u"]))}),
    "polars categorical": pl.DataFrame({"c": [["u", "v"], None, ["u", None]]}, schema={"c": pl.List(pl.Categorical)}),
    "pandas": pd.DataFrame({"c": object_array([["u", "v"], None, ["u", NAN]], list)}),
}


@pytest.mark.parametrize("frame", CATEGORICAL.values(), ids=CATEGORICAL.keys())
def test_categories(frame):
    data = read_sets(frame, [Feature("c", kind="categorical")])
    names = np.array([*data.categories["c"], None], dtype=object)
    codes = np.nan_to_num(data.values[:, 0], nan=len(names) - 1).astype(int)
    assert names[codes].tolist() == ["u", "v", "u", None]
    assert data.sizes.tolist() == [2, 0, 2]


def test_categories_of_whole_sets_and_over_chunks():
    frame = pd.DataFrame({"c": pd.Categorical(["u", None, "v"], categories=["w", "v", "u"]), "n": [1.0, NAN, 2.5]})
    data = read_sets(frame, [Feature("c", kind="categorical"), Feature("n", kind="categorical")])
    np.testing.assert_array_equal(data.values, [[0, 0], [NAN, NAN], [1, 1]])
    assert data.categories == {"c": ("u", "v"), "n": (1, 2.5)}
    chunks = pa.chunked_array([pa.array(["u", "v"]).dictionary_encode(), pa.array(["v", "x"]).dictionary_encode()])
    data = read_sets(pa.table({"c": chunks}), [Feature("c", kind="categorical")])
    assert [data.categories["c"][int(code)] for code in data.values[:, 0]] == ["u", "v", "v", "x"]
    nothing = pa.table({"c": pa.array([[], None], pa.list_(pa.string())), "d": pa.nulls(2, pa.string())})
    data = read_sets(nothing, [Feature("c", kind="categorical"), Feature("d", kind="categorical")])
    assert data.categories == {"c": (), "d": ()}
    assert np.isnan(data.set_values).all()


def test_signed_zeros_are_one_category():
    data = read_sets(pa.table({"c": [0.0, -0.0, True + 0.0]}), [Feature("c", kind="categorical")])
    assert data.categories == {"c": (0, 1)}
    assert data.values[:, 0].tolist() == [0, 0, 1]


def test_columns_that_are_not_declared_do_not_matter():
    frame = pd.DataFrame({"a": [1, 2], "odd": [{1: object()}, "x"], "when": pd.period_range("2020", periods=2)})
    assert read_sets(frame, [Feature("a")]).values[:, 0].tolist() == [1, 2]


def test_set_data_passes_through():
    data = SetData([1, 2], [0, 2], ["a"])
    assert read_sets(data, [Feature("a"), Feature(SIZE)]) is data
    with pytest.raises(ValueError, match="'b' is unknown"):
        read_sets(data, [Feature("b")])
    with pytest.raises(ValueError, match="no sets"):
        read_sets(data[:0], [Feature("a")])
    coded = SetData([0, 1], [0, 2], ["a"], categories={"a": ("u", "v")})
    assert read_sets(coded, [Feature("a", kind="categorical")]) is coded
    with pytest.raises(TypeError, match="Declare it kind='categorical'"):
        read_sets(coded, [Feature("a")])


def test_numbers_in_set_data_become_categories_where_declared():
    data = SetData([[7, 1], [5, 2], [7, 3]], [0, 2, 3], ["a", "b"], set_values=[[9.0], [NAN]], set_feature_names=["p"])
    read = read_sets(data, [Feature("a", kind="categorical"), Feature("b"), Feature("p", kind="categorical")])
    assert read.categories == {"a": (7, 5), "p": (9,)}
    assert read.values.tolist() == [[0, 1], [1, 2], [0, 3]]
    np.testing.assert_array_equal(read.set_values, [[0], [NAN]])
    assert data.values[0, 0] == 7


DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("frame", "feature", "error", "match"),
    [
        (
            pa.table({"stars": [[None], ["five"]]}),
            Feature("stars", monotonic="increasing"),
            TypeError,
            r"Feature 'stars' is declared increasing but column 'stars' holds strings \(first: 'five'\). "
            r"Convert it to numbers, or declare it kind='categorical'.",
        ),
        (pl.DataFrame({"star_rating": [1]}), Feature("star_ratng"), ValueError, "Did you mean 'star_rating'"),
        (pa.table({"a": [[[1]]]}), Feature("a"), TypeError, "lists in lists"),
        (pa.table({"a": [[[1]]]}), Feature("a", kind="categorical"), TypeError, "lists in lists"),
        (pl.DataFrame({"a": [[DAY]]}), Feature("a"), TypeError, "dates or times"),
        (pl.DataFrame({"a": [DAY]}), Feature("a", kind="categorical"), TypeError, "dates or times"),
        (pa.table({"a": [{"u": 1}]}), Feature("a"), TypeError, "struct"),
        (pd.DataFrame({"a": [1, [2]]}), Feature("a"), TypeError, "Column 'a' cannot be read"),
        (pd.DataFrame({"a": [[1], ["x"]]}), Feature("a"), TypeError, "Column 'a' cannot be read"),
        (pa.table({"a": [[1.0], [2, np.inf]]}), Feature("a"), ValueError, "'a' holds inf in set 1 "),
        (pa.table({"a": [1.0, -np.inf]}), Feature("a", kind="categorical"), ValueError, "'a' holds -inf"),
        (pa.table({"a": pa.array([], pa.int8())}), Feature("a"), ValueError, "0 sample"),
        (pa.Table.from_arrays([[1], [2]], ["a", "a"]), Feature("a"), ValueError, "more than one column named 'a'"),
        (pa.table({"a": [1], SIZE: [2]}), Feature("a"), ValueError, "reserved"),
        (pl.LazyFrame({"a": [1]}), Feature("a"), TypeError, "collect"),
        (pl.DataFrame({"a": [1], PLACE: [2]}), Feature("a"), ValueError, "'cs.PLACE', which is reserved"),
        (pa.table({"a": [[1]]}), Feature(SIZE), ValueError, "No column is declared"),
        (pa.table({"a": [[1]]}), Feature(PLACE), ValueError, "No column is declared"),
        (np.zeros(3), Feature("x0"), ValueError, "Reshape your data"),
        (np.zeros((3, 0)), Feature("x0"), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.zeros((0, 3)), Feature("x0"), ValueError, "0 sample"),
        (np.zeros((3, 1), dtype=complex), Feature("x0"), ValueError, "Complex data not supported"),
        ([[1], [2, 3]], Feature("x0"), ValueError, "neither a frame nor a two-dimensional array"),
        (np.array([["a"]]), Feature("x0"), TypeError, "strings"),
        (np.zeros((3, 1)), Feature("a"), ValueError, "'a' is unknown"),
    ],
)
def test_refuses(frame, feature, error, match):
    with pytest.raises(error, match=match):
        read_sets(frame, [feature])


def test_rows_of_differing_lengths_are_named():
    frame = pa.table({"a": [[1], None, [1, 2]], "b": [[1], [], [1, 2]], "c": [[1], [], [1]]})
    with pytest.raises(ValueError, match=r"Row 2 .*'a' holds 2 token\(s\) but column 'c' holds 1"):
        read_sets(frame, [Feature("a"), Feature("b"), Feature("c")])


@pytest.mark.parametrize("name", [PLACE, PLACE_FROM_START])
@pytest.mark.parametrize("frame", [pa.table({"a": [1, 2]}), pa.table({"a": [1], "b": [[1, 2]]})])
def test_places_without_lists_are_refused(frame, name):
    with pytest.raises(ValueError, match=f"{name} is the place of a token.*from_long.*or leave {name} out"):
        read_sets(frame, [Feature("a"), Feature(name)])


def test_size_without_its_lists_is_refused():
    frame = pa.table({"a": [[1], [2, 3]], "price": [1, 2]})
    with pytest.raises(ValueError, match="Declare 'a', or leave SIZE out"):
        read_sets(frame, [Feature("price"), Feature(SIZE)])
