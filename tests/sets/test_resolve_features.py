import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clearset.sets import SIZE, Feature, SetData, read_sets, resolve_features

COLUMNS = {
    "lists": [[1, 2], []],
    "floats": [[0.5], [None]],
    "words": [["a"], ["b"]],
    "name": ["u", "v"],
    "flag": [True, None],
    "number": [1.5, 2.5],
    "none": [None, None],
}
NUMERIC = ["lists", "floats", "flag", "number"]


def names(features):
    return [feature.name for feature in features]


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).assign(flag=[True, False], odd=[{1: 2}, "x"]),
        pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    ],
)
def test_none_takes_every_numeric_column(frame):
    resolved = resolve_features(frame, None)
    assert names(resolved) == [*NUMERIC, SIZE]
    assert set(resolved) == {Feature(name) for name in (*NUMERIC, SIZE)}


def test_none_takes_dictionaries_of_lists_of_numbers():
    lists = pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([[1.5], [2.0, 3.0]]))
    words = pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([["a"], ["b"]]))
    frame = pa.table({"lists": lists, "words": words})
    assert resolve_features(frame, None) == (Feature("lists"), Feature(SIZE))
    assert read_sets(frame, [Feature("lists")]).values[:, 0].tolist() == [1.5, 2.0, 3.0, 1.5]


def test_none_of_arrays_and_set_data():
    assert names(resolve_features(np.zeros((2, 3)), None)) == ["x0", "x1", "x2"]
    data = SetData([[0, 1]], [0, 1], ["a", "c"], set_values=[2], set_feature_names=["p"], categories={"c": "uv"})
    assert resolve_features(data, None) == (Feature("a"), Feature("c", kind="categorical"), Feature("p"), Feature(SIZE))


def test_none_takes_the_size_where_it_may_differ():
    lists, plain = {"a": [[1.0], [2.0]], "b": [["x"], []]}, {"p": [1.0, 2.0]}
    for frame, sizes in (
        (pa.table(lists | plain), True),
        (pa.table(plain), False),
        (pa.table(plain | {"b": lists["b"]}), False),
    ):
        assert (SIZE in names(resolve_features(frame, None))) is sizes
        assert (SIZE in names(resolve_features(frame.schema.empty_table(), None))) is sizes
    assert names(resolve_features(SetData([1.0, 2.0], [0, 1, 2], ["a"]), None)) == ["a", SIZE]


SHOP, GRADE, ITEMS = ["web", "town", None], [3, 1, 3], [["a", "b"], [], ["a", None]]


def arrow_categories():
    listed = pa.array(ITEMS, pa.list_(pa.dictionary(pa.int8(), pa.string())))
    shop, grade = (pa.array(column).dictionary_encode() for column in (SHOP, GRADE))
    return pa.table({"shop": shop, "grade": grade, "items": listed})


def polars_categories():
    kinds = {"shop": pl.Categorical(), "grade": pl.Enum(["1", "2", "3"]), "items": pl.List(pl.Enum(["a", "b", "c"]))}
    return pl.DataFrame({"shop": SHOP, "grade": list(map(str, GRADE)), "items": ITEMS}, schema=kinds)


def pandas_categories():
    plain = pd.DataFrame({"shop": pd.Categorical(SHOP, ["moon", "town", "web"]), "grade": pd.Categorical(GRADE)})
    return plain.assign(items=pd.Series(ITEMS, dtype=pd.ArrowDtype(arrow_categories()["items"].type)))


@pytest.mark.parametrize("make", [arrow_categories, polars_categories, pandas_categories])
def test_none_takes_columns_of_categories(make):
    frame = make()
    resolved = resolve_features(frame, None)
    assert resolved == (*(Feature(name, kind="categorical") for name in ("shop", "grade", "items")), Feature(SIZE))
    data = read_sets(frame, resolved)
    grades = {3: "3", 1: "1"} if make is polars_categories else {3: 3, 1: 1}
    expected = {"shop": SHOP, "grade": [grades[grade] for grade in GRADE], "items": ["a", "b", "a", None]}
    for name, values in expected.items():
        codes, known = data.column(name)[0].tolist(), data.categories[name]
        assert [None if code != code else known[int(code)] for code in codes] == values


def test_none_leaves_out_categories_of_what_is_no_category():
    dates = pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"]))
    frame = pd.DataFrame({"x": [1.0, 2.0], "date": dates})
    assert resolve_features(frame, None) == (Feature("x"),)


def test_names_and_features_keep_their_order():
    stars = Feature("number", monotonic="increasing")
    assert resolve_features(pa.table(COLUMNS), [SIZE, stars, "lists"]) == (Feature(SIZE), stars, Feature("lists"))


@pytest.mark.parametrize(
    ("features", "error", "match"),
    [
        ([], ValueError, "features is empty"),
        (["number", Feature("number")], ValueError, "declared twice"),
        (["nunber"], ValueError, "Did you mean 'number'"),
        ("number", TypeError, "Put it into a list"),
        (Feature("number"), TypeError, "Put it into a list"),
        ([3], TypeError, "neither a name nor a Feature"),
    ],
)
def test_refuses(features, error, match):
    with pytest.raises(error, match=match):
        resolve_features(pa.table(COLUMNS), features)


def test_a_frame_with_numbered_columns_is_an_array():
    assert [feature.name for feature in resolve_features(pd.DataFrame([[1, 2]]), None)] == ["x0", "x1"]


def test_refuses_frames_without_numbers_or_with_odd_names():
    with pytest.raises(ValueError, match="No column holds numbers"):
        resolve_features(pl.DataFrame({"a": ["u"]}), None)
    with pytest.raises(ValueError, match="reserved"):
        resolve_features(pl.DataFrame({SIZE: [1]}), None)
    with pytest.raises(TypeError, match="collect"):
        resolve_features(pl.LazyFrame({"a": [1]}), None)
