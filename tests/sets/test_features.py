import copy
import io

import joblib
import numpy as np
import pytest

from clearset.sets import PLACE, SIZE, Feature
from clearset.sets._categories import as_category, places_of_codes, sorted_categories

DECLARED = [
    Feature("stars", monotonic="increasing"),
    Feature("words", keypoints=20, bounds=(0, 500), shape="concave", lattice_size=3),
    Feature("words", bounds=(None, 3)),
    Feature("store", kind="categorical", monotonic=[["flea", "shop"], ["shop", "flagship"]]),
    Feature(SIZE, monotonic="decreasing"),
]


@pytest.mark.parametrize("feature", DECLARED)
def test_survives_copies_and_files(feature):
    file = io.BytesIO()
    joblib.dump(feature, file)
    file.seek(0)
    for other in (copy.deepcopy(feature), joblib.load(file)):
        assert other == feature
        assert hash(other) == hash(feature)
        assert other is not feature


def test_normalises_what_it_is_given():
    feature = Feature("store", kind="categorical", monotonic=[["a", "b"], ["b", "c"], ["a", "b"]])
    assert feature.monotonic == (("a", "b"), ("b", "c")) == feature.pairs
    assert feature == Feature("store", kind="categorical", monotonic=(("a", "b"), ("b", "c")))
    assert Feature("x", keypoints=np.int64(3)).keypoints == 3
    assert type(Feature("x", keypoints=np.int64(3)).keypoints) is int
    assert Feature("x", bounds=[0, 1]) == Feature("x", bounds=(0.0, 1.0))
    assert Feature("x", kind="categorical", monotonic=[(1.0, np.float32(2.5))]).pairs == ((1, 2.5),)


def test_direction():
    assert [feature.direction for feature in DECLARED] == [1, 0, 0, 1, -1]
    assert Feature("x", monotonic="increasing").pairs == ()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"name": 3}, TypeError, "name is a string"),
        ({"name": ""}, ValueError, "empty"),
        ({"monotonic": "up"}, ValueError, "'increasing', 'decreasing', None"),
        ({"monotonic": [("a", "b")]}, ValueError, "kind='categorical'"),
        ({"kind": "text"}, ValueError, "'numeric', 'categorical'"),
        ({"kind": ["numeric"]}, ValueError, "'numeric', 'categorical'"),
        ({"keypoints": 1}, ValueError, "at least 2"),
        ({"keypoints": 2.5}, TypeError, "int or None"),
        ({"keypoints": True}, TypeError, "int or None"),
        ({"lattice_size": 1}, ValueError, "lattice_size=1"),
        ({"bounds": (1, 1)}, ValueError, "low must be below high"),
        ({"bounds": (0, float("inf"))}, ValueError, "finite"),
        ({"bounds": (float("nan"), 1)}, ValueError, "finite"),
        ({"bounds": (0, 1, 2)}, TypeError, "pair"),
        ({"bounds": 3}, TypeError, "pair"),
        ({"bounds": ("a", "b")}, TypeError, "pair"),
        ({"shape": "round"}, ValueError, "'convex', 'concave', None"),
        ({"kind": "categorical", "monotonic": "increasing"}, ValueError, "pairs of categories"),
        ({"kind": "categorical", "monotonic": [("a", "a")]}, ValueError, "below itself"),
        ({"kind": "categorical", "monotonic": [(1, True)]}, ValueError, "below itself"),
        ({"kind": "categorical", "monotonic": ["ab"]}, ValueError, "not a pair"),
        ({"kind": "categorical", "monotonic": [("a", float("nan"))]}, ValueError, "finite number"),
        ({"kind": "categorical", "monotonic": [("a", "b"), ("b", "c"), ("c", "a")]}, ValueError, "cycle"),
        ({"kind": "categorical", "keypoints": 3}, ValueError, "keypoints=3"),
        ({"kind": "categorical", "bounds": (0, 1)}, ValueError, "bounds="),
        ({"kind": "categorical", "shape": "convex"}, ValueError, "shape='convex'"),
        ({"name": SIZE, "kind": "categorical"}, ValueError, "SIZE is a number, the tokens"),
        ({"name": PLACE, "kind": "categorical"}, ValueError, "PLACE is a number, the place"),
    ],
)
def test_refuses(options, error, match):
    with pytest.raises(error, match=match):
        Feature(**{"name": "x", **options})


def test_categories_have_one_python_value():
    values = [np.float64(3.0), np.int8(3), 3, "3", np.str_("a"), 0.5, np.bool_(True)]
    assert [as_category(value) for value in values] == [3, 3, 3, "3", "a", 0.5, True]
    assert type(as_category(3.0)) is int


def test_sorted_categories_are_those_observed_and_named():
    assert sorted_categories("x", {"b", "a"}, {"c", "a"}) == ("a", "b", "c")
    assert sorted_categories("x", {10, 9.5}, {2}) == (2, 9.5, 10)
    with pytest.raises(TypeError, match="both strings and numbers"):
        sorted_categories("x", {1}, {"a"})
    with pytest.raises(ValueError, match="at most 100000"):
        sorted_categories("x", set(range(100_001)), set())


def test_unknown_categories_take_the_place_of_missing():
    assert places_of_codes("x", ("a", "c"), ("c", "b", "a")).tolist() == [1, 2, 0, 2]
    with pytest.raises(TypeError, match="fitted on categories like 'a' but holds 1"):
        places_of_codes("x", ("a",), (1,))
