"""What each edit does to predictions, compared with the same done to the data."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import clearset as cs
from clearset.models import EditRefusedError, certify
from clearset.models.edits import Cap, DropToken, Edit, Flatten, Forbid, PinToken

RNG = np.random.default_rng(3)
N = 150
QUICK: dict[str, Any] = {"epochs": 15, "early_stopping": False, "random_state": 0, "n_jobs": 1}
SIZES = RNG.integers(0, 5, N)
STARS = [RNG.integers(1, 6, size).astype(float).tolist() for size in SIZES]
WORDS = [RNG.gamma(2.0, 30.0, size).tolist() for size in SIZES]
STORES = [RNG.choice(["flea market", "market", "flagship"], size).tolist() for size in SIZES]
PRODUCTS = pa.table({"stars": STARS, "words": WORDS, "store": STORES})
SALES = np.array([sum(stars) + np.sin(sum(words) / 50) for stars, words in zip(STARS, WORDS, strict=True)])
STORE = cs.Feature("store", kind="categorical", monotonic=[("flea market", "market"), ("market", "flagship")])
ITEMS = [f"item {letter}" for letter in "abcdefgh"]
RECIPES = [RNG.choice(ITEMS, RNG.integers(1, 6)).tolist() for _ in range(N)]


@pytest.fixture(scope="module")
def regressor() -> Any:
    features = [cs.Feature("stars", monotonic="increasing"), "words", STORE]
    return cs.SetRegressor(features, width=2, **QUICK).fit(PRODUCTS, SALES)


@pytest.fixture(scope="module")
def of_items() -> Any:
    labels = ["yes" if "item a" in row or "item b" in row else "no" for row in RECIPES]
    return cs.SemanticClassifier(cs.Items(), features=["log_odds", "count"], **QUICK).fit(RECIPES, labels)


def changed_column(name: str, change: Any) -> pa.Table:
    rows = [[change(value) for value in row] for row in PRODUCTS[name].to_pylist()]
    return PRODUCTS.set_column(PRODUCTS.column_names.index(name), name, pa.array(rows, PRODUCTS[name].type))


def close(first: Any, second: Any) -> bool:
    return bool(np.allclose(first, second, rtol=0, atol=1e-11))


# Features


@pytest.mark.parametrize(("low", "high"), [(None, 70.0), (20.0, None), (33.3, 90.0), (50.0, 50.0)])
def test_a_cap_reads_values_beyond_as_the_cap(regressor: Any, low: float | None, high: float | None) -> None:
    capped = regressor.edit().cap("words", low, high).model
    expected = regressor.predict(changed_column("words", lambda value: float(np.clip(value, low, high))))
    assert close(capped.predict(PRODUCTS), expected)
    assert not close(capped.predict(PRODUCTS), regressor.predict(PRODUCTS))


def test_flattened_between_two_values(regressor: Any) -> None:
    before, flat = regressor.calibrators()["words"], regressor.edit().flatten("words", 30.0, 80.0).model
    after = flat.calibrators()["words"]
    inside = (after.keypoints >= 30.0) & (after.keypoints <= 80.0)
    assert {30.0, 80.0} <= set(after.keypoints[inside])
    assert (np.ptp(after.values[:, inside], axis=1) == 0).all()
    # By the rank between keypoints every step counts the same; the mean of many points is the integral.
    ranks = np.arange(len(before.keypoints))
    grid = np.linspace(*np.interp([30.0, 80.0], before.keypoints, ranks), 200_001)
    means = [np.interp(grid, ranks, row).mean() for row in before.values]
    assert np.allclose(after.values[:, inside][:, 0], means, atol=1e-8)
    # Beyond the keypoints next to the flat part nothing has changed.
    left, right = before.keypoints[before.keypoints < 30.0], before.keypoints[before.keypoints > 80.0]
    for value in (*left, *right):
        places = [int(np.flatnonzero(curve.keypoints == value)[0]) for curve in (before, after)]
        assert np.array_equal(before.values[:, places[0]], after.values[:, places[1]])


def test_a_flattened_feature_has_no_effect_but_by_missing_values(regressor: Any) -> None:
    flat = regressor.edit().flatten("stars").model
    assert np.array_equal(flat.predict(PRODUCTS), flat.predict(changed_column("stars", lambda _: 3.7)))
    assert np.array_equal(flat.calibrators()["stars"].missing, regressor.calibrators()["stars"].missing)


def test_categories_get_the_same_effect(regressor: Any) -> None:
    flat = regressor.edit().flatten("store", categories=["market", "flagship"]).model
    swap = {"market": "flagship", "flagship": "market"}
    swapped = changed_column("store", lambda value: swap.get(value, value))
    assert np.array_equal(flat.predict(PRODUCTS), flat.predict(swapped))
    assert not close(regressor.predict(PRODUCTS), regressor.predict(swapped))
    before, after = regressor.calibrators()["store"], flat.calibrators()["store"]
    places = [before.categories.index(name) for name in ("market", "flagship")]
    assert np.allclose(after.values[:, places[0]], before.values[:, places].mean(axis=1))


@pytest.mark.parametrize("feature", ["stars", "words", "store"])
def test_a_forbidden_feature_is_not_used(regressor: Any, feature: str) -> None:
    model = regressor.edit().forbid(feature).model
    others = {"stars": 2.0, "words": 1e9, "store": "unknown"}
    expected = model.predict(PRODUCTS).tobytes()
    for other in (others[feature], None):
        assert model.predict(changed_column(feature, lambda _, other=other: other)).tobytes() == expected
    checks = [check for check in model.verify().checks if check.constraint == f"{feature} has no effect"]
    assert [(check.evidence.partition(":")[0], check.violation) for check in checks] == [
        ("parameters", 0.0),
        ("probing", 0.0),
    ]
    assert model.verify(PRODUCTS)
    failed = certify(regressor.as_model().function, regressor.binning_, (), unused=[feature]).checks
    assert not any(check.holds for check in failed if check.constraint == f"{feature} has no effect")


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("feature", ["words", "store"])
def test_a_forbidden_feature_may_be_absent(regressor: Any, library: str, feature: str) -> None:
    model, without = regressor.edit().forbid(feature).model, PRODUCTS.drop_columns([feature])
    frames = {"pandas": without.to_pandas, "polars": lambda: pl.from_arrow(without), "arrow": lambda: without}
    assert np.array_equal(model.predict(frames[library]()), model.predict(PRODUCTS))
    with pytest.raises(ValueError, match="stars"):
        model.predict(PRODUCTS.drop_columns(["stars"]))


def test_what_is_declared_is_kept() -> None:
    words = cs.Feature("words", shape="concave", monotonic="increasing")
    model = cs.SetRegressor([words], **QUICK).fit(PRODUCTS.select(["words"]), SALES)
    capped = model.edit().cap("words", high=61.7).model  # concave, then flat, is concave
    assert capped.certificate
    curve = capped.calibrators()["words"]
    assert np.ptp(curve.values[:, curve.keypoints >= 61.7]) < 1e-9
    editor = model.edit()
    for edit in (Cap("words", low=61.7), Flatten("words", 50.0, 61.7)):  # flat, then rising, is not
        with pytest.raises(EditRefusedError, match="would break what was declared, 'words concave'"):
            editor.apply(edit)
    assert editor.model is model.as_model()


@pytest.mark.parametrize("distance", [0.0, 1e-15, 1e-9, 1e-5, -1e-12, -1e-7, -1e-4])
def test_caps_beside_keypoints(distance: float) -> None:
    words = cs.Feature("words", shape="concave", monotonic="increasing")
    X = PRODUCTS.select(["words"])
    model = cs.SetRegressor([words], **QUICK).fit(X, SALES)
    keypoints = model.binning_.keypoints[0]
    cap = float(keypoints[2] + distance * np.ptp(keypoints))
    capped = model.edit().cap("words", high=cap).model
    assert capped.certificate
    expected = model.predict(changed_column("words", lambda value: min(value, cap)).select(["words"]))
    assert np.allclose(capped.predict(X), expected, rtol=0, atol=1e-5 * np.ptp(expected))


def test_trapezoid_trust_is_kept() -> None:
    features = [cs.Feature("stars", monotonic="increasing"), cs.Feature("words")]
    trust = cs.Trust("stars", by="words", shape="trapezoid")
    model = cs.SetRegressor(features, trusts=[trust], **QUICK).fit(PRODUCTS.select(["stars", "words"]), SALES)
    editor = model.edit()
    for edit in (Forbid("stars"), Cap("stars", high=3.0), Flatten("stars")):
        with pytest.raises(EditRefusedError, match="Forbid 'words' first"):
            editor.apply(edit)
    assert editor.forbid("words").forbid("stars").model.certificate


# Tokens


def test_a_dropped_token_is_not_read(of_items: Any) -> None:
    dropped = of_items.edit().drop_token("item a").model
    without = [[item for item in row if item != "item a"] for row in RECIPES]
    assert np.array_equal(dropped.predict_proba(RECIPES), of_items.predict_proba(without))
    assert dropped.table.lookup("item a") is None
    assert of_items.token_table_.lookup("item a") is not None


def test_dropping_a_larger_token_uncovers_its_items() -> None:
    model = cs.SemanticRegressor(cs.Subsets(2), cover=True, **QUICK).fit(RECIPES, [len(row) for row in RECIPES])
    pair = ["item a", "item b"]
    dropped = model.edit().drop_token(pair).model
    tokens = dropped.explain([pair]).tokens["token"].to_pylist()
    assert tokens == [["item a"], ["item b"]]
    assert model.explain([pair]).tokens["token"].to_pylist() == [pair]


def test_all_tokens_dropped_and_put_back(of_items: Any) -> None:
    editor = of_items.edit()
    for item in ITEMS:
        editor.drop_token(item)
    assert len(editor.model.table) == 0
    assert len(set(editor.model.predict(RECIPES))) == 1
    for _ in ITEMS:
        editor.undo()
    assert editor.model.table.to_arrow().equals(of_items.token_table_.to_arrow())


@pytest.mark.parametrize("refine", [True, False])
def test_a_pinned_token_has_the_value_said(refine: bool) -> None:
    numbers = [float(len(row)) for row in RECIPES]
    model = cs.SemanticRegressor(cs.Items(), refine=refine, **QUICK).fit(RECIPES, numbers)
    pinned = model.edit().pin_token("item c", 2.25).model
    rows = pinned.table.to_arrow().to_pylist()
    assert next(row for row in rows if row["token"] == ["item c"])["refined"] == pytest.approx(2.25)
    explained = pinned.explain([["item c"]]).tokens
    assert explained["refined"].to_pylist() == pytest.approx([2.25])
    other = [["item d"], ["item e"]]
    assert np.array_equal(pinned.predict(other), model.predict(other))


def test_a_share_of_either_of_two_classes(of_items: Any) -> None:
    ways = [("item c", 0.3, "yes"), ("item c", 0.7, "no"), ("item c", 0.3, None)]
    pinned = [of_items.edit().pin_token(*way).model for way in ways]
    outputs = [model.decision_function([["item c"]]) for model in pinned]
    assert close(outputs[0], outputs[1])
    assert np.array_equal(outputs[0], outputs[2])
    assert pinned[0].table.to_arrow()["refined"].to_pylist()[
        int(pinned[0].table.numbers_of(["item c"])[0])
    ] == pytest.approx(0.3)


def test_the_share_of_one_of_several_classes() -> None:
    cuisines = RNG.choice(["greek", "peruvian", "thai"], N)
    model = cs.SemanticClassifier(cs.Items(), features=["log_odds"], refine=False, **QUICK).fit(RECIPES, cuisines)
    pinned = model.edit().pin_token("item c", 0.8, label="thai").model
    number = int(pinned.table.numbers_of(["item c"])[0])
    value = pinned.reader.rows.values[number] + pinned.table.corrections.amounts[0]
    prior = float(np.mean(cuisines == "thai"))
    assert value[2] == pytest.approx(np.log(0.8 / 0.2) - np.log(prior / (1 - prior)))
    assert np.array_equal(value[:2], model.as_model().reader.rows.values[number][:2])
    with pytest.raises(EditRefusedError, match="there are 3 classes"):
        model.edit().pin_token("item c", 0.8)


# Models with edits


def test_frozen_models_respect_edits(of_items: Any) -> None:
    edited = of_items.edit().drop_token("item a").pin_token("item b", 0.01).cap("count", high=45.0).model
    assert close(edited.freeze().predict_proba(RECIPES), edited.predict_proba(RECIPES))
    assert not close(of_items.freeze().predict_proba(RECIPES), edited.predict_proba(RECIPES))


def test_a_new_table_is_edited_as_the_old_one(of_items: Any) -> None:
    edited = of_items.edit().drop_token("item a").pin_token("item b", 0.4).drop_token("item c").model
    estimator = cs.as_estimator(edited)
    more = [row for row in RECIPES * 2 if "item c" not in row]
    labels = ["yes" if "item d" in row else "no" for row in more]
    model = estimator.refresh_table(more, labels).as_model()
    assert [str(logged) for logged in model.edits] == ["Token 'item a' dropped", "Token 'item b' pinned to 0.4"]
    assert model.table.lookup("item a") is None
    rows = {tuple(row["token"]): row for row in model.table.to_arrow().to_pylist()}
    assert rows["item b",]["refined"] == pytest.approx(0.4)
    unedited = of_items.as_model()
    expected = cs.as_estimator(unedited).refresh_table(more, labels)
    assert model.edit().undo().undo().model.table.to_arrow().equals(expected.token_table_.to_arrow())


def test_estimators_of_edited_models(regressor: Any) -> None:
    edited = regressor.edit().forbid("words").model
    estimator = cs.as_estimator(edited)
    assert np.array_equal(estimator.predict(PRODUCTS), edited.predict(PRODUCTS))
    assert estimator.fit(PRODUCTS, SALES).as_model().edits == ()


def test_comparison_of_numbers(regressor: Any) -> None:
    frame = PRODUCTS.to_pandas()
    editor = regressor.edit().cap("words", high=40.0)
    found = editor.compare(frame, SALES)
    before, after = regressor.predict(frame), editor.model.predict(frame)
    moved = np.flatnonzero(np.abs(after - before) > 1e-8)
    assert 0 < len(moved) < N
    assert sorted(found.rows) == moved.tolist()
    assert found.changed == pytest.approx(len(moved) / N)
    assert found.metric == "R²"
    expected = [1 - np.sum((SALES - made) ** 2) / np.sum((SALES - SALES.mean()) ** 2) for made in (before, after)]
    assert found.scores == pytest.approx(tuple(expected))
    rows = found.to_frame()
    assert isinstance(rows, pd.DataFrame)
    assert np.array_equal(rows["after"], after[rows["row"]])
    assert np.all(np.diff(np.abs(rows["after"] - rows["before"])) <= 0)
    assert repr(found).startswith(f"EditComparison: 1 edit changed {len(moved)} of {N} predictions")
    assert "Feature &#x27;words&#x27; capped above 40" in found._repr_html_()


def test_comparison_of_classes(of_items: Any) -> None:
    labels = np.array(["yes" if "item a" in row else "no" for row in RECIPES])
    editor = of_items.edit().drop_token("item b")
    frame = pl.DataFrame({"recipe": RECIPES})["recipe"]
    found = editor.compare(frame, labels)
    before, after = of_items.predict(RECIPES), editor.model.predict(RECIPES)
    assert sorted(found.rows) == np.flatnonzero(before != after).tolist()
    assert found.scores == (np.mean(before == labels), np.mean(after == labels))
    assert found.to_frame().columns == ["row", "before", "after"]
    again = editor.model.edit().undo().compare(RECIPES)
    assert again.edits == ("Token 'item b' dropped: undone",)
    assert again.scores is None


# What is refused


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Cap("word", high=1.0), r"Feature 'word' is unknown\. Did you mean 'words'\?"),
        (Cap("store", high=1.0), "'store' is categorical"),
        (Cap("words", high=1e6), "the model reads 'words' from"),
        (Flatten("words", categories=["market", "flagship"]), "'words' is numeric"),
        (Flatten("store", categories=["market", "Market"]), "Category of 'store' 'Market' is unknown"),
        (DropToken("salt"), "no token table"),
    ],
)
def test_edits_that_the_model_cannot_take(regressor: Any, edit: Edit, message: str) -> None:
    editor = regressor.edit()
    with pytest.raises(EditRefusedError, match=message):
        editor.apply(edit)
    assert editor.edits == ()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (DropToken("item aa"), "not in the token table. Did you mean"),
        (DropToken(["item a", "item b"]), "tokens of their own are: 'item a', 'item b'"),
        (PinToken("item a", 1.5), "a share from 0 to 1"),
        (PinToken("item a", 0.5, label="maybe"), "Class 'maybe' is unknown"),
    ],
)
def test_edits_that_the_table_cannot_take(of_items: Any, edit: Edit, message: str) -> None:
    with pytest.raises(EditRefusedError, match=message):
        of_items.edit().apply(edit)


@pytest.mark.parametrize(
    ("kind", "values", "error"),
    [
        (Cap, ("words",), ValueError),
        (Cap, ("words", 5.0, 2.0), ValueError),
        (Cap, ("words", float("nan")), ValueError),
        (Cap, ("words", "5"), TypeError),
        (Flatten, (3,), TypeError),
        (Flatten, ("store", None, None, ["market"]), ValueError),
        (PinToken, ("salt", "much"), TypeError),
        (PinToken, ("salt", float("inf")), ValueError),
        (DropToken, ([],), TypeError),
        (DropToken, (None,), TypeError),
    ],
)
def test_edits_that_make_no_sense(kind: Any, values: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        kind(*values)


@pytest.mark.parametrize(
    ("edit", "needed"),
    [
        (Flatten("words"), ["feature"]),
        (Cap("words", 5.0), ["feature"]),
        (Forbid("words"), ["feature"]),
        (DropToken("a"), ["token"]),
        (PinToken("a", 0.5), ["token", "value"]),
    ],
)
def test_documents_that_lack_something_or_have_more_say_what(edit: Edit, needed: list[str]) -> None:
    document = edit.to_json()
    for name in needed:
        rest = {each: value for each, value in document.items() if each != name}
        with pytest.raises(ValueError, match=rf"; '{name}' is missing\.$"):
            Edit.from_json(rest)
    with pytest.raises(ValueError, match=r"; 'how' is not among them\.$"):
        Edit.from_json({**document, "how": "so"})


@pytest.mark.parametrize(
    "document", [{}, {"kind": "explode"}, {"kind": "cap"}, {"kind": "forbid", "feature": "age", "why": 1}, [], None]
)
def test_documents_that_are_no_edits(document: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Edit.from_json(document)
