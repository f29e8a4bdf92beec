from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clearset.sets import (
    Labels,
    check_numbers,
    check_weights,
    class_places,
    has_missing,
    join_classes,
    label_column,
    numbers_of_objects,
    read_labels,
    read_weights,
)

CONTAINERS = {
    "list": list,
    "numpy": np.array,
    "column": lambda y: np.array(y)[:, None],
    "pandas": pd.Series,
    "pandas frame": lambda y: pd.DataFrame({"y": y}),
    "polars": pl.Series,
    "arrow": pa.array,
    "dictionary": lambda y: pa.array(y).dictionary_encode(),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_classes_in_every_container(container):
    labels = read_labels(CONTAINERS[container](["thai", "greek", "thai"]), 3)
    assert labels.task == "classes"
    assert labels.classes.tolist() == ["greek", "thai"]
    assert labels.values.tolist() == [1, 0, 1]
    assert labels.values.dtype == np.int32


@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_in_every_container(container):
    labels = read_labels(CONTAINERS[container]([0.5, -0.0, 2.0]), 3)
    assert (labels.task, labels.classes) == ("number", None)
    np.testing.assert_array_equal(labels.values, [0.5, 0.0, 2.0])
    assert not np.signbit(labels.values[1])


def test_what_auto_takes_for_a_number():
    assert read_labels([1.0, 2.0, 1.0], 3).task == "classes"
    assert read_labels(np.arange(100), 100).task == "classes"
    assert read_labels(np.arange(101), 101).task == "number"
    assert read_labels([True, False], 2).classes.tolist() == [False, True]
    assert read_labels([Decimal("1.5"), Decimal("2")], 2).task == "number"
    assert read_labels([1, 2], 2, "number").task == "number"
    assert read_labels([0.5, 1.5], 2, "classes").classes.tolist() == [0.5, 1.5]


def test_labels_that_were_read_already_stay():
    labels = Labels(np.array([0, 0], np.int32), np.array(["a", "b"]), declared=True)
    assert read_labels(labels, 2) is labels


@pytest.mark.parametrize(
    ("y", "task", "error", "message"),
    [
        (["a", None], "auto", ValueError, r"missing in row 1 \(counted from 0\)"),
        ([1.0, np.inf], "auto", ValueError, "y is inf in row 1"),
        ([1.0, np.nan], "auto", ValueError, "y is missing in row 1"),
        (pa.array([1.0, np.nan]), "auto", ValueError, "y is missing in row 1"),  # as in files
        (["a", "b"], "number", TypeError, "first: 'a'"),
        ([["a"], ["b"]], "auto", ValueError, "shape|one label"),
        (pa.array([["a"], ["b"]]), "auto", TypeError, "one label an example"),
        (["a", 1], "auto", TypeError, "values of one type"),
        ([2**70, 1], "auto", ValueError, "64 bits"),
        (["a"], "auto", ValueError, "2 examples but y has 1"),
        (["a", "b"], "count", ValueError, "choose 'auto', 'classes' or 'number'"),
    ],
)
def test_labels_that_are_refused(y, task, error, message):
    if y == [["a"], ["b"]]:
        y = np.array([["a", "b"], ["b", "c"]])
    with pytest.raises(error, match=message):
        read_labels(y, 2, task)


def test_classes_of_two_sources():
    assert join_classes(np.array(["b", "a"]), np.array(["c", "a"])).tolist() == ["a", "b", "c"]
    with pytest.raises(TypeError, match="labels of one type"):
        join_classes(np.array(["a"]), np.array([1]))


def test_places_of_labels_among_classes():
    assert class_places(np.array(["b", "a", "b"]), np.array(["a", "b", "c"])).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"Labels \['z'\] are not among the classes"):
        class_places(np.array(["a", "z"]), np.array(["a", "b"]))


def test_missing_labels_of_every_kind():
    for missing in (None, np.nan, pd.NA, float("nan")):
        assert has_missing(np.array(["a", missing], dtype=object))
    assert has_missing(np.array([1.0, np.nan]))
    assert not has_missing(np.array(["a", "b"]))
    assert not has_missing(np.array(["a", 0, False], dtype=object))


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([np.int64(3), np.int64(1)], "i"),
        ([np.int64(3), 1, np.uint8(2)], "i"),
        ([np.float32(0.5), 1], "f"),
        ([1.5, float("nan")], "f"),
        ([True, np.bool_(False)], "b"),
        ([True, 2], "O"),
        (["a", "b"], "O"),
        ([1, None], "O"),
        ([1, pd.NA], "O"),
        ([2**70, 1], "O"),
        ([2**63, 1], "O"),
        ([], "O"),
    ],
)
def test_objects_that_are_all_numbers_are_numbers(objects, kind):
    found = numbers_of_objects(np.array(objects, dtype=object))
    assert found.dtype.kind == kind
    assert list(map(str, found.tolist())) == list(map(str, np.array(objects, dtype=found.dtype).tolist()))


def test_numbers_of_numpy_are_not_missing():
    assert not has_missing(np.array([np.int64(1), np.float32(2.0), np.bool_(True), np.str_("a")], dtype=object))
    assert has_missing(np.array([np.float64("nan")], dtype=object))


def test_a_column_of_labels():
    assert label_column(np.array([np.int64(1), 2], dtype=object), 2).dtype == np.int64
    assert label_column([[1], [2]], 2).tolist() == [1, 2]
    with pytest.raises(ValueError, match="3 labels but X has 2 sets"):
        label_column([1, 2, 3], 2)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        label_column(np.ones((2, 2)), 2)


def test_numbers_of_a_regression():
    assert check_numbers(np.array(["1.5", "2"])).tolist() == [1.5, 2.0]
    with pytest.raises(ValueError, match="1 of 2 labels are not finite, the first at position 1"):
        check_numbers(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"received 'five'.*SetClassifier"):
        check_numbers(np.array(["1", "five"]))
    with pytest.raises(ValueError, match="too large for a float"):
        check_numbers(np.array([10**400], dtype=object))
    for size in (1e200, 1e-200):
        with pytest.raises(ValueError, match="calculates with their squares"):
            check_numbers(np.array([size, -size / 2]))


def test_weights_of_sets():
    np.testing.assert_array_equal(check_weights(None, 3), np.ones(3))
    np.testing.assert_array_equal(check_weights(2, 3), np.full(3, 2.0))
    weights = [0.0, 1.5, 3.0]
    np.testing.assert_array_equal(check_weights(weights, 3), weights)


@pytest.mark.parametrize("scale", [2.0**60, 1e308, 2.0**-60, 5e-324])
def test_weights_beyond_counts_are_relative(scale):
    weights = check_weights(np.array([0.0, 1.0, 1.0]) * scale, 3)
    np.testing.assert_allclose(weights, [0.0, 1.5, 1.5])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\) but X has 3 sets"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        ([1.0, -1.0, 1.0], "negative, NaN or infinite"),
        ([1.0, np.nan, 1.0], "negative, NaN or infinite"),
        ([1.0, np.inf, 1.0], "negative, NaN or infinite"),
        ([0.0, 0.0, 0.0], "every weight is 0"),
        (["a", "b", "c"], "numbers of at least 0"),
        ([10**400, 1, 1], "too large for a float"),
    ],
)
def test_weights_of_sets_that_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


@pytest.mark.parametrize("container", CONTAINERS)
def test_weights_of_examples_in_every_container(container):
    np.testing.assert_array_equal(read_weights(CONTAINERS[container]([0.0, 2.0]), 2), [0.0, 2.0])
    assert read_weights(None, 2) is None


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, -1.0], ValueError, "-1.0 in row 1"),
        ([1.0, np.inf], ValueError, "inf in row 1"),
        ([1e308, 1e308], ValueError, "sum of sample_weight is infinite"),
        (["a", "b"], TypeError, "one number an example"),
        ([1.0], ValueError, "2 examples but sample_weight has 1"),
    ],
)
def test_weights_of_examples_that_are_refused(weights, error, message):
    with pytest.raises(error, match=message):
        read_weights(weights, 2)


def test_weights_that_change_no_sum_are_none() -> None:
    weights = check_weights([1.0, 2.0**-59, 2.0**-61, 0.0], 4)
    assert weights.tolist() == [1.0, 2.0**-59, 0.0, 0.0]
    assert np.count_nonzero(check_weights([1e100, 1e-100], 2)) == 1
