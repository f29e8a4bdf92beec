"""Every way to pass examples, and every way to take them apart."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

import clearset as cs
from clearset.tokens import WHOLE

from .items import EFFECTS, classifier, engine, labels, regressor, score, sets

X, FRESH = sets(), sets(100, seed=9)
Y = labels(X)


def object_array(rows: list[Any]) -> np.ndarray:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


CONTAINERS: dict[str, Any] = {
    "tuples": lambda rows: [tuple(row) for row in rows],
    "Python sets": lambda rows: [set(row) for row in rows],
    "a tuple of lists": tuple,
    "object array": object_array,
    "object column": lambda rows: object_array(rows)[:, None],
    "pandas series": lambda rows: pd.Series(rows, index=np.arange(len(rows))[::-1] * 7),
    "pandas frame": lambda rows: pd.DataFrame({"items": rows}),
    "pandas Arrow": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "polars series": lambda rows: pl.Series("items", rows),
    "polars frame": lambda rows: pl.DataFrame({"items": rows}),
    "Arrow array": pa.array,
    "Arrow chunks": lambda rows: pa.chunked_array([rows[:50], rows[50:]]),
    "Arrow table": lambda rows: pa.table({"items": rows}),
    "Arrow large lists": lambda rows: pa.array(rows, pa.large_list(pa.large_string())),
    "a slice": lambda rows: pa.array([["other"], *rows, []]).slice(1, len(rows)),
}


@pytest.fixture(scope="module")
def fitted() -> Any:
    return engine(epochs=2).fit(X, Y)


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(container: str, fitted: Any) -> None:
    convert = CONTAINERS[container]
    model = engine(epochs=2)
    known = model.fit_transform(convert(X), Y)
    np.testing.assert_array_equal(model.transform(convert(FRESH)), fitted.transform(FRESH))
    np.testing.assert_array_equal(known, engine(epochs=2).fit_transform(X, Y))


@pytest.mark.parametrize(
    "convert", [list, pd.Series, pl.Series, pa.array, lambda y: pd.DataFrame({"y": y}), lambda y: y.reshape(-1, 1)]
)
def test_containers_of_labels(convert: Any, fitted: Any) -> None:
    model = engine(epochs=2).fit(X, convert(Y))
    np.testing.assert_array_equal(model.transform(FRESH), fitted.transform(FRESH))
    refined = engine(epochs=1, refine=True, cross_fit=2).fit_transform(X, convert(Y))
    np.testing.assert_array_equal(refined, engine(epochs=1, refine=True, cross_fit=2).fit_transform(X, Y))


def test_categories_are_sets_of_one() -> None:
    rng = np.random.default_rng(0)
    column = rng.choice(["a", "b", "c"], 300)
    y = (rng.uniform(size=300) < np.where(column == "a", 0.9, 0.2)).astype(int)
    expected = engine(epochs=2).fit([[value] for value in column], y).transform([["a"], ["b"], ["c"]])
    for X in (column, column.tolist(), pd.Series(column).astype("category"), pl.Series(column)):
        model = engine(epochs=2).fit(X, y)
        np.testing.assert_array_equal(model.transform(["a", "b", "c"]), expected)


def test_numbers_without_fractions_are_names() -> None:
    X = [[1, 2], [3], [2]] * 30
    model = engine(epochs=1).fit(X, [0, 1, 0] * 30)
    names = [["1", "2"], ["3"], ["2"]] * 30
    np.testing.assert_array_equal(
        model.transform([[1], [3]]), engine(epochs=1).fit(names, [0, 1, 0] * 30).transform([["1"], ["3"]])
    )


def test_unknown_empty_and_missing(fitted: Any) -> None:
    estimated = fitted.transform([["never seen"], [], None, ["never seen", "nor this"], [None]])
    # An unknown item and an empty set both have no token; only the number of items tells them apart.
    assert np.isfinite(estimated).all()
    assert estimated[1] == estimated[2] == estimated[4]
    with_it, without = fitted.transform([["item a", "never seen"], ["item a"]])
    assert abs(with_it - without) < 0.3
    assert fitted.transform([]).shape == (0, 1)
    assert fitted.transform(pa.array([], pa.list_(pa.string()))).shape == (0, 1)


def test_sets_without_tokens_are_about_average() -> None:
    model = engine(epochs=10).fit(X, Y)
    assert model.transform([[]])[0, 0] == pytest.approx(Y.mean(), abs=0.2)
    number = regressor().fit(X, labels(X, "number"))
    assert number.predict([[]])[0] == pytest.approx(100, abs=5)


def test_empty_sets_in_training_are_learned() -> None:
    """Half of the examples are empty and of class 1, the others say 0."""
    X = [[] if row % 2 else ["a", "b"] for row in range(300)]
    model = engine(epochs=60).fit(X, [row % 2 for row in range(300)])
    empty, full = model.transform([[], ["a", "b"]])[:, 0]
    assert full < 0.2
    assert empty > 0.8


def test_nothing_but_empty_sets() -> None:
    with pytest.warns(UserWarning, match="No token passed"):
        model = engine(epochs=2).fit([[]] * 60, [0, 1] * 30)
    assert model.transform([[], ["a"]])[:, 0] == pytest.approx([0.5, 0.5], abs=0.1)


def test_filters_that_nothing_passes() -> None:
    with pytest.warns(UserWarning, match="No token passed"):
        model = engine(epochs=2, filters=[cs.MinCount(10**6)]).fit(X, Y)
    assert len(model.token_table_) == 0
    assert model.transform(FRESH)[:, 0] == pytest.approx(Y.mean(), abs=0.15)
    refined = engine(epochs=2, refine=True, filters=[cs.MinCount(10**6)])
    with pytest.warns(UserWarning, match="No token passed"):
        assert refined.fit_transform(X, Y).shape == (400, 1)


STRANGE = [
    "",
    " ",
    "\n",
    "a\nb",
    "\x00",
    "naïve",
    "nai\u0308ve",
    "日本語",
    "🍜",
    "\u202eabc",
    '"',
    "item a,b",
    "a" * 5000,
]


@pytest.mark.parametrize("tokens", [cs.Items(), cs.Subsets(2)])
def test_any_string_is_an_item(tokens: Any) -> None:
    rng = np.random.default_rng(0)
    X = [[STRANGE[i] for i in rng.choice(len(STRANGE), 3, replace=False)] for _ in range(600)]
    y = np.array([STRANGE[8] in row for row in X]).astype(int)
    model = engine(tokens=tokens, epochs=10).fit(X, y)
    assert roc_auc_score(y, model.transform(X)[:, 0]) > 0.95
    for item in STRANGE:
        row = model.token_table_.lookup(item)
        assert row is not None
        assert row.count == sum(item in row for row in X)


def test_strange_classes() -> None:
    X = sets(200)
    classes = np.array(["", "a\nb", "🍜"])
    y = classes[np.searchsorted(["high", "low", "middle"], labels(X, "many"))]
    model = classifier(epochs=5).fit(X, y)
    assert model.classes_.tolist() == sorted(classes.tolist())
    assert np.mean(model.predict(X) == y) > 0.6


# Tokenizers


def test_pairs_of_items_see_what_items_do_not() -> None:
    """The label is whether exactly one of two items is there; others stand for them, so that all sets are as large."""
    rng = np.random.default_rng(0)
    both = rng.integers(0, 2, (450, 2)).astype(bool)
    X = [["other", "a" if a else "c", "b" if b else "d"] for a, b in both.tolist()]
    y = both[:, 0] ^ both[:, 1]
    assert classifier(tokens=cs.Items(), epochs=12).fit(X, y).score(X, y) < 0.8
    assert classifier(tokens=cs.Subsets(3), epochs=15).fit(X, y).score(X, y) > 0.98


def test_texts() -> None:
    rng = np.random.default_rng(0)
    words = ["very", "good", "not", "wine", "the", "bad"]
    texts = [" ".join(rng.choice(words, 6)) + "!" for _ in range(500)]
    y = np.array(["not good" in text for text in texts])
    order = engine(tokens=cs.NGrams(2), epochs=12).fit(texts, y)
    words_only = engine(tokens=cs.NGrams(1), epochs=12).fit(texts, y)
    assert roc_auc_score(y, order.transform(texts)[:, 0]) > 0.95
    assert roc_auc_score(y, words_only.transform(texts)[:, 0]) < 0.93
    split = engine(tokens=cs.NGrams(2, split=lambda text: text.strip("!").split()), epochs=12).fit(texts, y)
    np.testing.assert_array_equal(split.transform(texts), order.transform(texts))
    assert np.isfinite(order.transform(["", None, "NOT Good", "!!"])).all()


def pairs(n: int = 600) -> tuple[list[tuple[list[str], list[str]]], np.ndarray]:
    """People and films: the label is whether both start with the same letter, or the right lacks one of the left."""
    rng = np.random.default_rng(0)
    X = [(rng.choice(list("abc"), 2).tolist(), rng.choice(list("abc"), 2).tolist()) for _ in range(n)]
    return X, np.array([bool(set(left) - set(right)) for left, right in X]).astype(int)


def test_cross() -> None:
    X = [([a], [b]) for a in "abcd" for b in "abcd"] * 30
    y = np.array([a == b for (a,), (b,) in X]).astype(int)
    model = engine(tokens=cs.Cross(), epochs=15).fit(X, y)
    assert roc_auc_score(y, model.transform(X)[:, 0]) > 0.99
    frame = pl.DataFrame({"who": [a for a, _ in X], "what": [b for _, b in X]})
    named = engine(tokens=cs.Cross("who", "what"), epochs=15).fit(frame, y)
    np.testing.assert_allclose(named.transform(frame), model.transform(X), atol=0.02)
    assert engine(tokens=cs.Items(), epochs=3).fit([a + b for a, b in X], y) is not None


def test_difference() -> None:
    X, y = pairs()
    model = engine(tokens=cs.Difference(), epochs=15).fit(X, y)
    assert roc_auc_score(y, model.transform(X)[:, 0]) > 0.99
    expected = {item for left, right in X for item in set(left) - set(right)}
    assert {model.token_table_.spell(number)[0] for number in range(len(model.token_table_))} == expected


class Neighbours:
    """Items, and pairs of items that stand side by side."""

    def tokens(self, example: list[str]) -> list[Any]:
        """Give strings and pairs."""
        return [*example, *pairwise(example)]


@pytest.mark.parametrize(("cover", "refine"), [(False, False), (True, False), (True, True)])
def test_a_tokenizer_of_ones_own(cover: bool, refine: bool) -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(list("abcd"), 5).tolist() for _ in range(400)]
    y = np.array([("a", "b") in pairwise(row) for row in X]).astype(int)
    options: dict[str, Any] = {"tokens": Neighbours(), "cover": cover, "refine": refine, "epochs": 8, "cross_fit": 3}
    known = engine(**options).fit_transform(X, y)
    assert roc_auc_score(y, known[:, 0]) > 0.9
    model = classifier(**options).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.token_table_.lookup(("a", "b")).count == y.sum()
    assert model.refresh_table(X[:200], y[:200]).score(X, y) > 0.9
    model.refit_set_function(X[200:], y[200:])
    assert model.score(X, y) > 0.9


# Details


def detailed(n: int = 500, seed: int = 0) -> tuple[dict[str, list[Any]], np.ndarray]:
    """The label is whether the items' pay in this example is high; the items themselves say nothing."""
    rng = np.random.default_rng(seed)
    items = sets(n, seed)
    pay = [rng.uniform(0, 1, len(row)).tolist() for row in items]
    return {"items": items, "pay": pay}, np.array([np.mean(p) > 0.5 for p in pay]).astype(int)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_details(frame: Any) -> None:
    columns, y = detailed()
    model = engine(details=["pay"], epochs=15).fit(frame(columns), y)
    assert [feature.name for feature in model.features_][-1] == "pay"
    later, truth = detailed(300, seed=5)
    assert roc_auc_score(truth, model.transform(frame(later))[:, 0]) > 0.9
    assert roc_auc_score(truth, engine(epochs=5).fit(columns["items"], y).transform(later["items"])) < 0.65
    rising = engine(details=["pay"], features=["log_odds", cs.Feature("pay", monotonic="increasing")], epochs=4).fit(
        frame(columns), y
    )
    more = {"items": later["items"], "pay": [[p + 0.1 for p in row] for row in later["pay"]]}
    assert (rising.transform(frame(more)) >= rising.transform(frame(later)) - 1e-12).all()


def test_details_out_of_fold_and_missing() -> None:
    columns, y = detailed()
    frame = pl.DataFrame(columns)
    assert roc_auc_score(y, engine(details=["pay"], epochs=20).fit_transform(frame, y)[:, 0]) > 0.85
    refined = engine(details=["pay"], epochs=5, refine=True, cross_fit=2).fit_transform(frame, y)
    assert refined.shape == (500, 1)
    model = engine(details=["pay"], epochs=5).fit(frame, y)
    gaps = pl.DataFrame(
        {"items": [["item a", "item b"], None, []], "pay": [[None, 0.5], None, []]},
        schema={"items": pl.List(pl.String), "pay": pl.List(pl.Float64)},
    )
    assert np.isfinite(model.transform(gaps)).all()


def test_bad_details() -> None:
    columns, y = detailed(100)
    with pytest.raises(ValueError, match="has the columns"):
        engine(details=["salary"]).fit(pl.DataFrame(columns), y)
    with pytest.raises(TypeError, match="must be a frame"):
        engine(details=["pay"]).fit(columns["items"], y)
    with pytest.raises(ValueError, match=r"Row 0 .* has \d items but 0 values of 'pay'"):
        engine(details=["pay"]).fit(
            pl.DataFrame({**columns, "pay": [[]] * 100}, schema_overrides={"pay": pl.List(pl.Float64)}), y
        )
    with pytest.raises(TypeError, match="lists of numbers"):
        engine(details=["pay"]).fit(pl.DataFrame({**columns, "pay": ["much"] * 100}), y)
    infinite = [[float("inf")] * len(row) for row in columns["items"]]
    with pytest.raises(ValueError, match="infinity"):
        engine(details=["pay"]).fit(pl.DataFrame({**columns, "pay": infinite}), y)


# Features


@pytest.mark.parametrize("value", ["mean_label", "log_odds"])
@pytest.mark.parametrize("name", ["count", "size", "interval", "entropy", "lift", WHOLE, "items", "tokens"])
def test_every_feature_can_be_chosen(value: str, name: str) -> None:
    model = engine(features=[name, value], tokens=cs.Subsets(2), epochs=3).fit(X, Y)
    assert [feature.name for feature in model.features_] == [value, name]
    assert roc_auc_score(labels(FRESH), model.transform(FRESH)[:, 0]) > 0.8


def test_interval_of_numbers_may_be_missing() -> None:
    rare = [*X, ["once only"]]
    y = np.append(labels(X, "number"), 7.5)
    model = regressor(features=["mean_label", "interval", "lift"], epochs=3).fit(rare, y)
    assert np.isfinite(model.predict([*FRESH, ["once only"]])).all()


def test_the_whole_set_is_told_apart() -> None:
    """An item on its own means 1, with others 0."""
    rng = np.random.default_rng(0)
    X = [["a"] if alone else ["a", str(rng.integers(5))] for alone in rng.integers(0, 2, 600)]
    y = np.array([len(row) == 1 for row in X]).astype(int)
    model = engine(features=["log_odds", "whole"], epochs=30).fit(X, y)
    assert roc_auc_score(y, model.transform(X)[:, 0]) > 0.99
    # An item that is not known still makes the set larger.
    alone, with_unknown = model.transform([["a"], ["a", "never seen"]])[:, 0]
    assert alone > 0.8 > with_unknown


def test_effects_are_found() -> None:
    model = regressor(epochs=30).fit(X, labels(X, "number"))
    single = model.predict([[item] for item in EFFECTS])
    assert np.corrcoef(single, list(EFFECTS.values()))[0, 1] > 0.97
    assert np.corrcoef(model.predict(FRESH), score(FRESH))[0, 1] > 0.95
