"""Joint models that are declared in a line: which engines, which features and which follow-on model the data get."""

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import clearset as cs

RNG = np.random.default_rng(0)
N = 240
WORDS = ["great", "light", "bad", "broken", "oak", "lamp", "chair", "blue", "old", "new"]
FRAME = pl.DataFrame(
    {
        "key": [f"id{row}" for row in range(N)],
        "items": [RNG.choice(list("abcdef"), RNG.integers(1, 4), replace=False).tolist() for _ in range(N)],
        "review": [" ".join(RNG.choice(WORDS, RNG.integers(3, 6))) for _ in range(N)],
        "city": [f"c{row % 60}" for row in range(N)],
        "shop": [("x", "y", "z")[row % 3] for row in range(N)],
        "size": pl.Series([("s", "m")[row % 2] for row in range(N)], dtype=pl.Categorical),
        "price": RNG.random(N),
        "stars": [[1.0, 2.0]] * N,
        "day": [dt.date(2020, 1, 1)] * N,
        "same": ["one"] * N,
    }
)
NUMBERS = np.array([("a" in row) + 2.0 * ("great" in text) for row, text in FRAME.select("items", "review").rows()])
NUMBERS = NUMBERS + FRAME["price"].to_numpy()
KEPT = FRAME.drop("key")
QUICK = {"epochs": 2, "n_jobs": 1}


def kinds(model):
    """Return what each feature of the follow-on model is."""
    return {feature.name: feature.kind for feature in model.features_}


@pytest.mark.parametrize("to", [lambda frame: frame, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas])
def test_each_column_is_used_for_what_it_holds(to):
    model = cs.JointModel(epochs=1, random_state=0).declared(to(KEPT), NUMBERS)
    assert list(model.engines) == ["items", "review", "city"]
    model.set_params(follow_on__epochs=2).fit(to(KEPT), NUMBERS)
    tokens = {name: engine.token_table_.tokenizer for name, engine in model.engines_.items()}
    assert tokens["items"] == tokens["city"] == cs.Items()
    assert isinstance(tokens["review"], cs.NGrams)
    numbers, categories = (
        dict.fromkeys(["items", "review", "city", "price", "stars", cs.SIZE], "numeric"),
        ["size", "shop"],
    )
    assert kinds(model) == numbers | dict.fromkeys(categories, "categorical")
    assert model.score(to(KEPT), NUMBERS) > 0.5


def test_strings_that_nearly_all_differ_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="'key' is left out: most of its 240 strings are different") as warned:
        model = cs.JointModel().declared(FRAME, NUMBERS)
    with pytest.warns(UserWarning, match="'key' is left out") as warned_again:
        cs.JointModel(epochs=0, random_state=0).fit(FRAME, NUMBERS)
    assert [warning.filename for warning in (*warned, *warned_again)] == [__file__] * 2
    assert "key" not in model.engines
    named = cs.JointModel({"key": cs.Items(), "items": cs.Items()}).declared(FRAME, NUMBERS)
    assert list(named.engines) == ["key", "items"]


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (NUMBERS, cs.SetRegressor),
        (np.arange(N), cs.SetRegressor),  # more than 100 distinct numbers
        (np.arange(N) % 5, cs.SetClassifier),
        (np.arange(N) % 2 == 0, cs.SetClassifier),
        (np.where(NUMBERS > 1, "good", "bad"), cs.SetClassifier),
    ],
)
def test_the_follow_on_model_is_of_numbers_or_classes_as_engines_tell_labels_apart(y, kind):
    model = cs.JointModel().declared(KEPT, y)
    assert type(model.follow_on) is kind
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), **QUICK).fit(KEPT["items"], y)
    assert hasattr(engine, "classes_") == (kind is cs.SetClassifier)


def test_tokenizers_alone_and_columns_that_are_left_to_choose():
    given = {"items": cs.Subsets(2), "review": "auto", "city": cs.SemanticFeatureEngine(width=2, **QUICK)}
    model = cs.JointModel(given, cs.SetRegressor(**QUICK), epochs=1, random_state=0).fit(KEPT, NUMBERS)
    assert model.engines_["items"].setting_.tokens == cs.Subsets(2)
    assert isinstance(model.engines_["review"].setting_.tokens, cs.NGrams)
    assert model.engines_["city"].set_function_.width == 2
    # Without "auto" only columns of numbers and of a category dtype are taken besides.
    assert list(kinds(model)) == ["items", "review", "city", "size", "price", "stars", cs.SIZE]


def test_columns_that_the_follow_on_model_declares_get_no_engine():
    features = [cs.Feature("city", kind="categorical"), cs.Feature("price", monotonic="increasing")]
    model = cs.JointModel("auto", cs.SetRegressor(features, **QUICK), epochs=1, random_state=0).fit(KEPT, NUMBERS)
    assert list(model.engines_) == ["items", "review"]
    assert kinds(model) == dict.fromkeys(["items", "review", "price"], "numeric") | {"city": "categorical"}


def test_the_same_fit_declared_in_full():
    chosen = cs.JointModel(epochs=1, random_state=0).fit(KEPT, NUMBERS)
    written = cs.JointModel(epochs=1, random_state=0).declared(KEPT, NUMBERS).fit(KEPT, NUMBERS)
    np.testing.assert_array_equal(chosen.predict(KEPT), written.predict(KEPT))
    assert chosen.get_params() == clone(chosen).get_params()
    assert (chosen.engines, chosen.follow_on) == ("auto", "auto")


def test_files_keep_what_was_left_to_choose(tmp_path):
    model = cs.JointModel(epochs=1, random_state=0).fit(KEPT, np.where(NUMBERS > 1.5, "good", "bad"))
    assert is_classifier(model)
    model.save(tmp_path / "model.clearset", notes="for the shop")
    loaded = cs.load(tmp_path / "model.clearset")
    assert loaded.origin.notes == "for the shop"
    again = cs.as_estimator(loaded)
    assert (again.engines, again.follow_on) == ("auto", "auto")
    np.testing.assert_array_equal(again.predict_proba(KEPT), model.predict_proba(KEPT))
    np.testing.assert_array_equal(clone(again).fit(KEPT, NUMBERS).predict(KEPT).shape, (N,))
    assert is_regressor(clone(again).fit(KEPT, NUMBERS))


def test_rows_in_files(tmp_path):
    table = KEPT.drop("size").to_arrow().append_column("label", pa.array(NUMBERS))
    table = table.append_column("weight", pa.array(np.arange(N) % 3 + 1.0))
    (tmp_path / "rows").mkdir()
    for place in range(2):
        pq.write_table(table.slice(place * 120, 120), tmp_path / "rows" / f"{place}.parquet")
    model = cs.JointModel(epochs=1, random_state=0)
    read = clone(model).fit(tmp_path / "rows", "label", "weight")
    held = clone(model).fit(table.drop_columns(["label", "weight"]), NUMBERS, table["weight"].to_numpy())
    X = table.drop_columns(["label", "weight"])
    np.testing.assert_array_equal(read.predict(tmp_path / "rows"), held.predict(X))
    assert read.score(tmp_path / "rows", "label") == pytest.approx(held.score(X, NUMBERS))
    with pytest.raises(TypeError, match="predict"):
        read.explain(tmp_path / "rows")


def test_given_rows_to_validate_on():
    model = cs.JointModel({"items": cs.Items()}, cs.SetRegressor(**QUICK), epochs=3, random_state=0)
    model.fit(KEPT[:180], NUMBERS[:180], validation_data=(KEPT[180:], NUMBERS[180:]))
    losses = [epoch["validation_loss"] for epoch in model.history_]
    error = np.mean((model.predict(KEPT[180:]) - NUMBERS[180:]) ** 2)
    assert model.joint_gain_ == 0 or error == pytest.approx(min(losses), rel=0.05)
    with pytest.raises(ValueError, match=r"validation_data lacks the columns \['review'"):
        model.fit(KEPT, NUMBERS, validation_data=(KEPT.drop("review"), NUMBERS))
    with pytest.raises(ValueError, match="not among the classes"):
        cs.JointModel(random_state=0).fit(KEPT, NUMBERS > 1, validation_data=(KEPT, ["other"] * N))


@pytest.mark.parametrize(
    ("engines", "follow_on", "error", "message"),
    [
        ("all", "auto", TypeError, "must be a dict of a SemanticFeatureEngine or a tokenizer for each column"),
        ({3: cs.Items()}, "auto", TypeError, "has the key 3"),
        ({"items": 3}, "auto", TypeError, "The engine of 'items' must be a SemanticFeatureEngine, a tokenizer"),
        ({"follow-on": cs.Items()}, "auto", ValueError, "several called 'follow-on'"),
        ({("a", "b"): cs.Cross("a", "b"), "a_b": cs.Items()}, "auto", ValueError, "several called 'a_b'"),
        ("auto", cs.SetClassifier([cs.Feature("price", monotonic="increasing")]), ValueError, "y has 3 classes"),
        ("auto", "best", TypeError, "follow_on must be a SetRegressor or SetClassifier, or 'auto'"),
    ],
)
def test_declarations_that_cannot_be(engines, follow_on, error, message):
    with pytest.raises(error, match=message):
        cs.JointModel(engines, follow_on).fit(KEPT, np.digitize(NUMBERS, [1.0, 2.0]))


def test_frames_without_a_column_for_an_engine():
    with pytest.raises(ValueError, match=r"no column of lists of strings or of texts.*Use SetRegressor"):
        cs.JointModel().fit(KEPT.select("price", "shop"), NUMBERS)
