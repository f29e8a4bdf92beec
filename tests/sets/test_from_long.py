import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.sets import Feature, from_long, read_sets

NAN = float("nan")
LONG = {
    "stars": [5, 4, None, 2, 1],
    "product": ["b", "a", "b", "c", "a"],
    "price": [9.0, None, 9.0, 3.0, None],
    "word": ["u", "v", None, "x", "y"],
}
KINDS = {
    "arrow": pa.table,
    "polars": pl.DataFrame,
    "pandas": lambda columns: pd.DataFrame(columns, index=[7, 7, 3, 2, 1]),
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_one_row_per_set_in_order_of_first_appearance(make):
    frame = make(LONG)
    sets = from_long(frame, by="product", set_columns=["price"])
    assert type(sets) is type(frame)
    table = nw.from_native(sets).to_arrow()
    assert table.column_names == ["product", "price", "stars", "word"]
    assert table["product"].to_pylist() == ["b", "a", "c"]
    assert table["stars"].to_pylist() == [[5, None], [4, 1], [2]]
    assert table["word"].to_pylist() == [["u", None], ["v", "y"], ["x"]]
    data = read_sets(sets, [Feature("stars"), Feature("price"), Feature("word", kind="categorical")])
    np.testing.assert_array_equal(data.set_values[:, 0], [9, NAN, 3])
    np.testing.assert_array_equal(data.values[:, 0], [5, NAN, 4, 1, 2])


def test_plain_columns_keep_their_dtype_in_pandas_and_lists_are_arrow():
    frame = pd.DataFrame(LONG).astype({"product": "category", "price": "float32"})
    sets = from_long(frame, by="product", set_columns="price")
    assert sets["product"].dtype == frame["product"].dtype
    assert sets["price"].dtype == np.float32
    assert isinstance(sets["stars"].dtype, pd.ArrowDtype)
    assert sets.index.tolist() == [0, 1, 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("uv"), st.integers(0, 9)), min_size=1, max_size=30))
def test_several_keys_equal_a_dict_of_lists(rows):
    shop, day, value = (list(column) for column in zip(*rows, strict=True))
    expected = {}
    for one, other, number in rows:
        expected.setdefault((one, other), []).append(number)
    sets = from_long(pl.DataFrame({"value": value, "day": day, "shop": shop}), by=("shop", "day"))
    assert sets.columns == ["shop", "day", "value"]
    assert sets.rows() == [(*key, numbers) for key, numbers in expected.items()]


def test_chunks_and_dictionaries():
    first, second = pa.table(LONG).slice(0, 2), pa.table(LONG).slice(2)
    encoded = [
        part.set_column(3, "word", part["word"].dictionary_encode()).set_column(
            1, "product", part["product"].dictionary_encode()
        )
        for part in (first, second)
    ]
    sets = from_long(pa.concat_tables(encoded), by="product", set_columns="price")
    assert sets["product"].to_pylist() == ["b", "a", "c"]
    assert sets["word"].to_pylist() == [["u", None], ["v", "y"], ["x"]]
    polars = pl.DataFrame(LONG).with_columns(pl.col("word", "product").cast(pl.Categorical))
    assert from_long(polars, by="product")["word"].to_list() == [["u", None], ["v", "y"], ["x"]]


def test_nan_equals_nan_within_a_set():
    frame = pd.DataFrame({"k": [1, 1, 2], "p": [NAN, NAN, 1.0], "v": [1, 2, 3]})
    assert from_long(frame, "k", "p")["v"].tolist() == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"set_columns": "stars"}, r"'stars' is not constant within the set product='b': it holds 5 and, in row 2 "),
        ({"by": "prodct"}, "Did you mean 'product'"),
        ({"set_columns": ["prize"]}, "Did you mean 'price'"),
        ({"by": "price"}, "'price' is null in row 1 "),
        ({"by": []}, "by is empty"),
        ({"set_columns": ["product"]}, "named twice"),
        ({"by": list(LONG)}, "left to describe tokens"),
    ],
)
def test_refuses(changes, match):
    with pytest.raises(ValueError, match=match):
        from_long(pa.table(LONG), **{"by": "product", **changes})


def test_refuses_nan_keys_no_rows_and_other_things():
    with pytest.raises(ValueError, match="'k' is null in row 1 "):
        from_long(pd.DataFrame({"k": [1.0, NAN], "v": [1, 2]}), "k")
    with pytest.raises(ValueError, match="'k' is null in row 1 "):
        from_long(pa.table({"k": [1.0, NAN], "v": [1, 2]}), "k")
    with pytest.raises(ValueError, match="no rows"):
        from_long(pl.DataFrame({"k": [], "v": []}), "k")
    with pytest.raises(TypeError, match="collect"):
        from_long(pl.LazyFrame(LONG), "product")
    with pytest.raises(TypeError, match="received dict"):
        from_long(LONG, "product")
    with pytest.raises(TypeError, match="cannot be compared"):
        from_long(pa.table({"k": [[1], [2]], "v": [1, 2]}), "k")
