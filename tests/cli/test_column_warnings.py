import numpy as np
import pyarrow as pa
import pytest

from clearset.cli._column_warnings import (
    features_without_values,
    forgotten_key,
    keys_as_features,
    lists_as_items,
    lists_as_text,
    numbers_as_classes,
)

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", [1, 1, 2]),
        ("ID", [1.0, 2.0, None]),
        ("product_id", [1, 2, 2]),
        ("product id", [1, 2, 2]),
        ("productId", [1, 2, 2]),
        ("index", [0, 1, 2]),
        ("foreign_key", [[1, 2], [3]]),
        ("code", range(100, 120)),
        ("code", [list(range(10)), list(range(10, 20))]),
        ("code", [float(value) for value in range(20)]),
    ],
)
def test_keys_as_features(name: str, values) -> None:
    (warning,) = keys_as_features(pa.table({name: pa.array(values)}), [name])
    assert f"'{name}' is a feature, but looks like a key" in warning
    assert warning.endswith("--ignore 'product id'" if " " in name else f"--ignore {name}")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("paid", [0, 1, 1]),
        ("valid", [0, 1, 1]),
        ("Android", [0, 1, 1]),
        ("id", [0.5, 1.0, 2.0]),
        ("stars", [*range(19), 18]),
        ("x", range(19)),  # so few may differ by chance
        ("x", RNG.uniform(size=100)),
        ("flag", [True, False]),
        ("n", [[1, 2, 3] * 5, [2, 3, 4] * 5]),
    ],
)
def test_no_keys(name: str, values) -> None:
    assert list(keys_as_features(pa.table({name: pa.array(values)}), [name])) == []


def test_declared_features_that_tell_nothing() -> None:
    table = pa.table({"c": [3, 3], "x": [1, 2], "t": ["a", "a"], "m": pa.array([None, None], pa.float64())})
    warnings = list(features_without_values(table, ["c", "x", "t", "m", "cs.SIZE"]))
    assert [text.split("'")[1] for text in warnings] == ["c", "m"]
    assert "the same value everywhere, 3" in warnings[0]


@pytest.mark.parametrize("labels", ["numbers", "classes", "rare"])
@pytest.mark.parametrize("kind", ["text", "whole"])
def test_a_forgotten_key(labels: str, kind: str) -> None:
    keys = np.sort(RNG.integers(0, 100, 600))
    rare = (np.arange(100) % 20 == 0).astype(int)
    of_keys = {"numbers": RNG.uniform(size=100), "classes": RNG.integers(0, 2, 100), "rare": rare}[labels]
    named = [f"p{key}" for key in keys] if kind == "text" else keys
    columns = {"x": RNG.uniform(size=600), "price": of_keys[keys] * 3.5, "color": RNG.choice(["r", "g"], 600)}
    table = pa.table(columns | {"product": named, "y": of_keys[keys]})
    assert forgotten_key(table, "y") == "product"
    order = pa.array(RNG.permutation(600))
    assert forgotten_key(table.take(order), "y") == "product"
    wrong = np.array(table["y"].to_pylist())
    wrong[7] = 1 - wrong[7]
    assert forgotten_key(table.set_column(4, "y", pa.array(wrong)), "y") is None


def test_a_column_named_as_a_key_comes_first() -> None:
    keys = np.repeat(np.arange(50), 4)
    table = pa.table({"title": [f"t{key}" for key in keys], "product_id": keys, "y": keys * 0.5})
    assert forgotten_key(table, "y") == "product_id"


def test_no_forgotten_key() -> None:
    n = 400
    columns = {
        "unique": [f"u{place}" for place in range(n)],
        "color": RNG.choice(["r", "g", "b"], n),
        "zip": RNG.integers(0, 10 * n, n),  # hardly repeats
        "class_name": np.where(np.arange(n) % 2, "odd", "even"),  # says the same as the label
        "holes": [None, *range(n - 1)],
    }
    rare = np.arange(n) % 50 == 0
    assert forgotten_key(pa.table(columns | {"y": np.arange(n) % 2}), "y") is None
    assert forgotten_key(pa.table(columns | {"y": rare}), "y") is None
    assert forgotten_key(pa.table(columns | {"y": RNG.uniform(size=n)}), "y") is None
    assert forgotten_key(pa.table(columns | {"y": np.ones(n)}), "y") is None
    assert forgotten_key(pa.table(columns | {"y": [None] * n}), "y") is None


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["[1, 2, 3]", "[]", None], "Save lists as Parquet"),
        (['{"a": 1}', '{"a": 2}'], "Save lists as Parquet"),
        (["['a', 'b']", "['c']"], "Save lists as Parquet"),
        (["a;b;c", "d"], "To learn from these: --column 'of items'"),
        (["a|b", "c|d"], "--column 'of items' --separator '|'"),
        (["salt, lime,chili", "salt,lime, olive oil"], "--column 'of items' --separator ','"),
        ([["a;b"], ["c;d"]], "--column 'of items'"),
    ],
)
def test_lists_as_text(cells, advice: str) -> None:
    (warning,) = lists_as_text(pa.table({"of items": cells}), ["of items"], ";")
    assert warning.startswith("'of items' is ignored, but looks like ")
    assert advice in warning
    assert warning.endswith(advice) or "Parquet" in advice


def test_parquet_needs_the_separator_named() -> None:
    (warning,) = lists_as_text(pa.table({"tags": ["a;b", "c;d"]}), ["tags"], None)
    assert warning.endswith("--column tags --separator ';'")


@pytest.mark.parametrize(
    "cells",
    [
        ["red", "green"],
        ["Berlin, Germany", "Doe, John"],
        ["A nice, sturdy, and cheap thing. I would buy it again.", "Not good, not bad, just fine for what it costs."],
        ["a;b", "c", "d", "e"],
        [1.5, 2.5],
        [None, None],
        ["9,4", "1,5"],
    ],
)
def test_no_lists(cells) -> None:
    assert list(lists_as_text(pa.table({"t": cells}), ["t"], ";")) == []


def test_lists_as_items() -> None:
    table = pa.table({"a": ["['x', 'y']", "['z']"], "b": ["x;y", "z"], "c": [["x", "y"], ["z"]]})
    (warning,) = lists_as_items(table, ["a", "b", "c"])
    assert warning.startswith("'a' holds lists written as text, such as \"['x', 'y']\"")


def test_numbers_as_classes() -> None:
    (warning,) = numbers_as_classes(pa.chunked_array([["3,5", "4,25"]]), "y", ".")
    assert warning == (
        "the label 'y' is text, first value '3,5', and every value is a class; decimal commas? --decimal ,"
    )
    for labels in (["a", "b"], [1.5, 2.5], ["1", "2"]):
        assert list(numbers_as_classes(pa.chunked_array([labels]), "y", ".")) == []
