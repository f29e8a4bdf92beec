import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from clearset.sets import PLACE, PLACE_FROM_START, SIZE, SetData


def example(sizes=(2, 0, 3, 1)):
    n_tokens = sum(sizes)
    return SetData(
        np.arange(2 * n_tokens).reshape(n_tokens, 2),
        np.concatenate(([0], np.cumsum(sizes))).astype(int),
        ["a", "b"],
        set_values=100 + np.arange(len(sizes)),
        set_feature_names=["price"],
    )


def as_rows(data):
    """Every set as (list of tokens, set values), by a plain loop."""
    rows = []
    for start, stop, own in zip(data.offsets[:-1], data.offsets[1:], data.set_values, strict=True):
        rows.append((data.values[start:stop].tolist(), own.tolist()))
    return rows


def test_basic_facts():
    data = example()
    assert len(data) == 4
    assert data.n_tokens == 6
    assert data.sizes.tolist() == [2, 0, 3, 1]
    assert data.values.flags.f_contiguous
    assert data.values.dtype == np.float64
    assert repr(data) == "SetData(4 sets, 6 tokens, features=['a', 'b'], set_features=['price'])"


def test_columns():
    data = example()
    for name, expected, expected_per_set in [
        ("b", [1, 3, 5, 7, 9, 11], False),
        ("price", [100, 101, 102, 103], True),
        (SIZE, [2, 0, 3, 1], True),
        (PLACE, [1, 0, 2, 1, 0, 0], False),
        (PLACE_FROM_START, [0, 1, 0, 1, 2, 0], False),
    ]:
        values, per_set = data.column(name)
        assert values.tolist() == expected
        assert per_set is expected_per_set
    with pytest.raises(ValueError, match="Did you mean 'price'"):
        data.column("prize")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.permutations(range(8)))
def test_places_are_those_of_lists_in_chosen_sets_as_well(sizes, order):
    rows = [row for row in order if row < len(sizes)]
    data = example(tuple(sizes))[rows]
    assert data.column(PLACE_FROM_START)[0].tolist() == [t for row in rows for t in range(sizes[row])]
    assert data.column(PLACE)[0].tolist() == [sizes[row] - 1 - t for row in rows for t in range(sizes[row])]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_indexing_equals_indexing_a_list_of_sets(sizes, draw):
    data = example(tuple(sizes))
    rows = as_rows(data)
    n_sets = len(sizes)
    ends = st.none() | st.integers(-10, 10)
    key = draw.draw(
        st.builds(slice, ends, ends, st.none() | st.sampled_from([1, 2, -1, -3]))
        | st.integers(-n_sets, n_sets - 1)
        | st.lists(st.integers(-n_sets, n_sets - 1), max_size=9)
        | st.lists(st.booleans(), min_size=n_sets, max_size=n_sets).map(np.array)
    )
    if isinstance(key, slice):
        expected = rows[key]
    elif isinstance(key, int):
        expected = [rows[key]]
    elif isinstance(key, list):
        expected = [rows[place] for place in key]
    else:
        expected = [row for row, chosen in zip(rows, key, strict=True) if chosen]
    part = data[key]
    assert as_rows(part) == expected
    assert part.offsets[0] == 0
    assert part.offsets[-1] == len(part.values)


def test_slices_are_views_and_iteration_ends():
    data = example()
    assert np.shares_memory(data[1:3].column("a")[0], data.column("a")[0])
    assert np.shares_memory(data[2].column("price")[0], data.column("price")[0])
    assert [len(one) for one in data] == [1, 1, 1, 1]


def test_scikit_learn_splits_it():
    data = example()
    assert data.shape == (4, 3)
    train, test, _, labels = train_test_split(data, np.arange(4), test_size=2, random_state=0)
    assert isinstance(train, SetData)
    assert as_rows(test) == [as_rows(data)[label] for label in labels]


@pytest.mark.parametrize("key", [4, -5, [0, 4], [-5], np.ones(3, dtype=bool)])
def test_out_of_range(key):
    with pytest.raises(IndexError, match="4 sets"):
        example()[key]


@pytest.mark.parametrize("key", ["a", 1.5, [0.5], [[0]], True])
def test_wrong_keys(key):
    with pytest.raises(TypeError, match="an int, a slice"):
        example()[key]


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"values": [["a", "b"]]}, TypeError, "real numbers"),
        ({"values": np.zeros((3, 2), dtype=complex)}, TypeError, "real numbers"),
        ({"values": np.zeros((3, 3))}, ValueError, r"\(rows, 2\)"),
        ({"values": np.zeros(3)}, ValueError, r"\(rows, 2\)"),
        ({"offsets": [1, 3]}, ValueError, "begin with 0"),
        ({"offsets": [0, 2]}, ValueError, "number of tokens, 3"),
        ({"offsets": [0, 2, 1, 3]}, ValueError, "falls from 2 to 1 at set 1"),
        ({"offsets": [0.0, 3.0]}, TypeError, "ints"),
        ({"offsets": []}, TypeError, "ints"),
        ({"feature_names": "ab"}, TypeError, "sequence of strings"),
        ({"feature_names": ["a", 1]}, TypeError, "sequence of strings"),
        ({"feature_names": ["a", "a"]}, ValueError, "'a' is used twice"),
        ({"feature_names": ["a", SIZE]}, ValueError, "reserved"),
        ({"feature_names": ["a", PLACE]}, ValueError, "'cs.PLACE' is reserved"),
        ({"feature_names": [], "values": np.zeros((3, 0))}, ValueError, "at least one token feature"),
        ({"set_values": [1.0, 2.0], "set_feature_names": ["a"]}, ValueError, "'a' is used twice"),
        ({"set_values": [1.0], "set_feature_names": ["p"]}, ValueError, "1 rows, but there are 2 sets"),
        ({"set_values": [1.0, 2.0]}, ValueError, r"\(rows, 0\)"),
        ({"set_feature_names": ["p"]}, ValueError, r"\(rows, 1\)"),
        ({"categories": {"c": ("x",)}}, ValueError, "'c' is unknown"),
        ({"categories": {"a": ("x",)}}, ValueError, "codes from 0 to 0"),
        ({"categories": {"a": ("x", "x")}}, ValueError, "not distinct"),
    ],
)
def test_refuses(changes, error, match):
    arguments = {"values": [[0, 1], [2, 3], [4, 5]], "offsets": [0, 1, 3], "feature_names": ["a", "b"]}
    with pytest.raises(error, match=match):
        SetData(**{**arguments, **changes})


def test_infinity_is_named_with_feature_and_first_set():
    values = [[0, 1], [2, np.nan], [3, -np.inf], [4, np.inf]]
    with pytest.raises(ValueError, match=r"'b' holds -inf in set 2 "):
        SetData(values, [0, 2, 2, 4], ["a", "b"])
    with pytest.raises(ValueError, match=r"'p' holds inf in set 1 "):
        SetData([1], [0, 1, 1], ["a"], set_values=[0, np.inf], set_feature_names=["p"])


def test_one_feature_may_be_one_dimensional_and_of_any_real_type():
    for dtype in (bool, np.int8, np.uint64, np.float16, np.float32):
        data = SetData(np.array([1, 0, 1], dtype=dtype), np.array([0, 3], dtype=np.uint32), ["a"])
        assert data.values.tolist() == [[1.0], [0.0], [1.0]]
        assert data.offsets.dtype == np.int64
