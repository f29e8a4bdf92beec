"""Sets in requests: which forms a model reads, and what is said of others."""

import re
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.serve import _service

from .schemas import fits

MOST = 100
NOTHING = {"stars": None, "store": None, "price": None}
OPTIONS: dict[str, Any] = {"cover": True, "refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}


def set_reader(estimator: Any) -> Any:
    return _service.set_reader(estimator.as_model())


@pytest.fixture(scope="module")
def words() -> Any:
    texts = ["ripe cherry", "thin and sour", "ripe plum", "sour finish"] * 10
    return cs.SemanticRegressor(cs.NGrams(2), **OPTIONS).fit(texts, [94.0, 82.0, 92.0, 84.0] * 10)


@pytest.fixture(scope="module")
def pairs() -> Any:
    sets = [(["a"], ["x"]), (["b"], ["x", "y"]), (["a", "b"], ["y"]), (["b"], [])] * 10
    return cs.SemanticRegressor(cs.Cross(), **OPTIONS).fit(sets, [1.0, 2.0, 3.0, 4.0] * 10)


@pytest.fixture(scope="module")
def named_pairs() -> Any:
    frame = pa.table({"shop": [["x"], ["y"]] * 10, "year": ["1", "2"] * 10, "goods": [["a"], ["b", "a"]] * 10})
    return cs.SemanticRegressor(cs.Cross("goods", "shop"), **OPTIONS).fit(frame, [1.0, 2.0] * 10)


@pytest.fixture(scope="module")
def cast() -> Any:
    frame = pa.table({"cast": [["ann"], ["bob"], ["ann", "bob"]] * 10, "pay": [[1.0], [2.0], [3.0, 1.0]] * 10})
    details: dict[str, Any] = {"details": ["pay"], "features": ["mean_label", "pay"]}
    return cs.SemanticRegressor(cs.Items(), **details, **OPTIONS).fit(frame, [1.0, 2.0, 3.0] * 10)


@pytest.mark.parametrize("sets", [[NOTHING], [NOTHING | {"stars": []}], [NOTHING, NOTHING | {"stars": [3]}]])
def test_a_set_of_which_nothing_is_known_is_empty(regressor: Any, sets: list[Any]) -> None:
    empty = pa.table({"stars": [[1.0], []], "store": [["market"], []], "price": pa.array([1.0, None])})
    assert regressor.predict(set_reader(regressor).read(sets, MOST))[0] == regressor.predict(empty)[1]


def test_places_are_those_of_the_lists() -> None:
    visits = pa.table({"pain": [[1.0, 5.0], [5.0, 1.0], [2.0], [], [3.0, 2.0, 4.0]] * 8})
    model = cs.SetRegressor(["pain", cs.PLACE], epochs=5, random_state=0).fit(visits, [5.0, 1.0, 2.0, 0.0, 4.0] * 8)
    reader = set_reader(model)
    assert list(reader.schema()["properties"]) == ["pain"]
    assert reader.schema()["description"].endswith("The order of tokens matters.")
    sets = [{"pain": row} for row in ([1, 5], [5, 1], [], [None, 2])]
    expected = model.predict(pa.table({"pain": [row["pain"] for row in sets]}))
    assert model.predict(reader.read(sets, MOST)).tolist() == expected.tolist()
    assert expected[0] != expected[1]


@pytest.mark.parametrize("name", ["stars", "store", "price"])
def test_a_forbidden_feature_may_be_left_out(regressor: Any, reviews: Any, name: str) -> None:
    model = regressor.edit().forbid(name).model
    frame = reviews[0].drop_columns([name])
    sets = _service.set_reader(model)
    assert model.predict(sets.read(frame.to_pylist(), MOST)).tolist() == model.predict(frame).tolist()
    assert name not in sets.schema()["required"]


def test_a_row_of_a_plain_table_is_one_token() -> None:
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(
        pa.table({"a": [0.0, 1.0, 2.0, None], "b": [1.0, 0.0, 2.0, 1.0]}), [0.0, 1.0, 4.0, 2.0]
    )
    read = partial(set_reader(model).read, most=MOST)
    expected = model.predict(pa.table({"a": [2.0, None], "b": pa.array([None, None], pa.float64())}))
    nothing = {"a": None, "b": None}
    assert model.predict(read([{"a": 2, "b": None}, nothing])).tolist() == expected.tolist()
    assert model.predict(read([{"a": [2], "b": None}, nothing])).tolist() == expected.tolist()
    for left, right in ((True, 1), (2**60, 2.0**60)):
        assert model.predict(read([{"a": left, "b": 1}]))[0] == model.predict(read([{"a": right, "b": 1}]))[0]


def test_categories_that_are_numbers() -> None:
    frame = pa.table({"kind": [[1, 2], [2], [3, 1], [3]] * 5, "on": [[True, False], [True], [True] * 2, [False]] * 5})
    features = [cs.Feature("kind", kind="categorical"), cs.Feature("on", kind="categorical")]
    model = cs.SetRegressor(features, epochs=2, random_state=0, n_jobs=1).fit(frame, [1.0, 2.0, 3.0, 4.0] * 5)
    read = partial(set_reader(model).read, most=MOST)
    sets = [{"kind": [1.0, 2], "on": [True, False]}, {"kind": [None], "on": [True]}]
    expected = model.predict(pa.table({"kind": [[1, 2], [None]], "on": [[True, False], [True]]}))
    assert model.predict(read(sets)).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="Set 1 has a text in 'kind', which must hold numbers"):
        read([{"kind": [1], "on": None}, {"kind": ["1"], "on": None}])


def test_texts_and_lists_of_words(words: Any) -> None:
    read = partial(set_reader(words).read, most=MOST)
    assert words.predict(read(["Ripe CHERRY!", ""])).tolist() == words.predict(["Ripe CHERRY!", ""]).tolist()
    lists = [["ripe", "cherry"], []]
    assert words.predict(read(lists)).tolist() == words.predict(lists).tolist()


def test_pairs(pairs: Any, named_pairs: Any) -> None:
    sets = [[["a"], ["x"]], [[], ["y", "z"]]]
    asked = [(left, right) for left, right in sets]
    assert pairs.predict(set_reader(pairs).read(sets, MOST)).tolist() == pairs.predict(asked).tolist()
    frame = pa.table({"shop": [["x"], []], "year": ["1", "1"], "goods": [["a"], ["b"]]})
    expected = named_pairs.predict(frame).tolist()
    read = partial(set_reader(named_pairs).read, most=MOST)
    assert named_pairs.predict(read([[["a"], ["x"]], [["b"], []]])).tolist() == expected
    assert named_pairs.predict(read(frame.to_pylist())).tolist() == expected
    assert (
        named_pairs.predict(read([{"goods": ["a"], "shop": ["x"]}, {"goods": ["b"], "shop": None}])).tolist()
        == expected
    )
    with pytest.raises(ValueError, match="'shop' is unknown") as caught:
        named_pairs.predict(frame.select(["goods"]))
    with pytest.raises(ValueError, match=f"Set 1: {re.escape(str(caught.value))}"):
        read([{"goods": ["a"], "shop": ["x"]}, {"goods": ["b"]}])


def test_details_may_be_missing(cast: Any) -> None:
    frame = pa.table({"cast": [["ann", "bob"], []], "pay": pa.array([[None, None], []], pa.list_(pa.float64()))})
    nothing = {"cast": None, "pay": None}
    for one in ({"cast": ["ann", "bob"], "pay": None}, {"cast": ["ann", "bob"], "pay": [None, None]}):
        assert cast.predict(set_reader(cast).read([one, nothing], MOST)).tolist() == cast.predict(frame).tolist()


def test_details_may_not_be_left_out(cast: Any) -> None:
    for X, error in ((pa.table({"cast": [["ann"]]}), ValueError), ([["ann"]], TypeError)):
        with pytest.raises(error, match="details names"):
            cast.predict(X)


@pytest.mark.parametrize(
    ("name", "sets", "said"),
    [
        ("cook", ["salt"], "Set 0 is a text; the model reads lists of texts"),
        ("cook", [["salt"], [1, 2]], "Set 1 is a list with a number in it"),
        ("cook", [[None]], "a list with null in it"),
        ("cook", [[["salt"]]], "a list with a list in it"),
        ("cook", [None], "Set 0 is null"),
        ("cook", [{"items": ["salt"]}], "Set 0 is an object"),
        ("words", [3], "Set 0 is a number; the model reads texts, or lists of words"),
        ("words", ["ripe", ["ripe"]], "Set 0 is a text and set 1 a list of words"),
        ("pairs", ["ab"], "Set 0 is a text; the model reads pairs of lists"),
        ("pairs", [["a", "b"]], "Set 0 has a text as part 1 of its pair"),
        ("pairs", [[None, None]], "Set 0 is a list of 2 with null"),
        ("pairs", [[["a"], ["x"], ["y"]]], "Set 0 is a list of 3"),
        ("pairs", [[["a"], [1]]], "a list with a number in it as part 2"),
        ("named_pairs", [{"goods": "a", "shop": []}], "Set 0 has a text as 'goods'"),
        ("named_pairs", [{"good": ["a"]}], "'good', which the model does not know"),
        ("cast", [["ann"]], "Set 0 is a list; the model reads objects with 'cast', 'pay'."),
        ("cast", [{"cast": ["ann"]}], "Set 0: Column 'pay' is unknown. There are: 'cast'."),
        ("cast", [{"pay": []}], "Set 0: Column 'cast' is unknown. There are: 'pay'."),
        ("cast", [{"cast": ["ann"], "pay": [1, 2]}], "2 values as 'pay'"),
        ("cast", [{"cast": ["ann"], "pay": 1}], "a number as 'pay'"),
        ("cast", [{"cast": ["ann"], "pay": ["x"]}], "a text in 'pay', which must hold numbers"),
    ],
)  # fmt: skip
def test_what_is_not_a_set(request: pytest.FixtureRequest, name: str, sets: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match="Set") as caught:
        set_reader(request.getfixturevalue(name)).read(sets, MOST)
    assert said in str(caught.value)
    assert "command line" not in str(caught.value)


@pytest.mark.parametrize("name", ["cook", "words", "pairs", "named_pairs", "cast", "regressor"])
def test_the_schema_says_what_is_read(request: pytest.FixtureRequest, name: str) -> None:
    model = request.getfixturevalue(name)
    sets = set_reader(model)
    fitting = 0
    for value in [
        "ripe", ["salt"], [], [1], [None], None, 3, [["a"], ["x"]], [["a"], [1]], [[], [], []], ["a", "b"],
        {}, {"goods": ["a"]}, {"goods": "a"}, {"cast": ["ann"], "pay": [1]}, {"cast": None}, {"stars": [1, None]},
        {"stars": ["five"]}, {"stars": [1], "price": 3}, {"stars": {}}, {"store": ["market"]}, NOTHING,
        NOTHING | {"stars": [1]}, NOTHING | {"stars": ["five"]}, NOTHING | {"stars": {}}, NOTHING | {"moons": 1},
        {"cast": None, "pay": None}, {"goods": ["a"], "shop": None}, {"goods": ["a"], "shop": [], "year": 1},
    ]:  # fmt: skip
        try:
            read = sets.read([value], MOST)
        except ValueError:
            read = None
        assert fits(value, sets.schema()) == (read is not None), value
        fitting += read is not None
        if read is not None:
            assert np.isfinite(model.predict(read)).all() if name != "cook" else len(model.predict(read)) == 1
    assert fitting
