import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import clearset as cs
from clearset.tuning._examples import read_examples, read_labels_of


def split(X, y, **options):
    options = {"sample_weight": None, "validation_data": None, "folds": None, "seed": 0, "stratify": False, **options}
    return read_examples(X, y, **options)


@pytest.mark.parametrize(("n", "held"), [(2, 1), (10, 2), (4999, 1000), (5000, 500), (20_000, 2000)])
def test_a_fifth_or_a_tenth(n, held):
    training, validation = split(np.arange(n)[:, None], np.arange(n))
    assert (len(training), len(validation)) == (n - held, held)
    assert sorted([*training.y, *validation.y]) == list(range(n))
    np.testing.assert_array_equal(training.X[:, 0], training.y)
    np.testing.assert_array_equal(validation.X[:, 0], validation.y)


def test_every_class_gives_its_share():
    y = np.repeat(["a", "b", "c"], [500, 400, 100])
    np.random.default_rng(1).shuffle(y)
    _, validation = split(np.zeros((1000, 1)), y, stratify=True)
    counts = dict(zip(*np.unique(validation.y, return_counts=True), strict=True))
    assert counts == {"a": 100, "b": 80, "c": 20}


@pytest.mark.parametrize("seed", range(5))
def test_every_class_is_learned(seed):
    y = ["a"] * 5 + ["b"] * 5 + ["once", "alone"]
    training, validation = split(np.zeros((12, 1)), y, stratify=True, seed=seed)
    assert set(training.y) == set(y)
    assert len(validation)


def test_nothing_can_be_set_aside():
    with pytest.raises(ValueError, match="No class has two examples"):
        split(np.zeros((3, 1)), ["a", "b", "c"], stratify=True)
    with pytest.raises(ValueError, match="too few"):
        split(np.zeros((1, 1)), [1.0])


LISTS = [[float(row)] * (1 + row % 3) for row in range(30)]


@pytest.mark.parametrize(
    "X",
    [
        LISTS,
        pa.table({"x": LISTS}),
        pa.array(LISTS),
        pl.DataFrame({"x": LISTS}),
        pl.Series(LISTS),
        pd.DataFrame({"x": LISTS}),
        pd.Series(LISTS),
        cs.SetData(
            np.concatenate(LISTS)[:, None], np.concatenate([[0], np.cumsum([len(row) for row in LISTS])]), ["x"]
        ),
    ],
    ids=lambda X: f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}",
)
@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series, pa.array])
def test_all_forms_of_data(X, form):
    training, validation = split(X, form(range(30)), sample_weight=np.arange(30.0))
    assert type(training.X) is type(X)
    for part in (training, validation):
        labels = np.asarray(part.y).tolist()
        np.testing.assert_array_equal(part.weights, labels)
        first = {
            "SetData": lambda X: X.values[X.offsets[:-1], 0],
            "Table": lambda X: [row[0] for row in X["x"].to_pylist()],
            "DataFrame": lambda X: [row[0] for row in X["x"]],
        }.get(type(X).__name__, lambda X: [row[0] for row in (X.to_pylist() if hasattr(X, "to_pylist") else X)])
        np.testing.assert_array_equal(first(part.X), labels)


@pytest.mark.parametrize("kind", [int, np.int64, np.float32, np.bool_])
@pytest.mark.parametrize("column", [np.asarray, pd.Series])
def test_numbers_among_objects_are_classes(kind, column):
    y = np.array([kind(row % 2) for row in range(60)], dtype=object)
    X = np.arange(60.0)[:, None]
    tuning = cs.tune(cs.SetClassifier(epochs=1), X, column(y), budget=1, random_state=0, verbose=0)
    assert tuning.best_estimator_.classes_.tolist() == [0, 1]


def test_labels_that_are_no_numbers_stay_as_they_are():
    for y in (["a", 1], np.array(["a", "b"], dtype=object), pd.Series(["a", None]), pl.Series([1, 0])):
        assert read_labels_of(y, "y", classes=True) is y
