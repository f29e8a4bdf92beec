from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import clearset as cs
from clearset.training import Learning

ITEMS = np.array([f"i{k}" for k in range(20)])
WORTH = np.random.default_rng(5).normal(size=20)


def rows_of(n, seed):
    """Make sets whose best item counts for more where ``share`` is large, beside what ``shift`` adds."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(20, rng.integers(1, 6), replace=False) for _ in range(n)]
    frame = pl.DataFrame(
        {
            "items": [ITEMS[row].tolist() for row in sets],
            "share": rng.uniform(0, 1, n),
            "shift": rng.normal(size=n),
            "name": ["text"] * n,
        }
    )
    best = np.array([WORTH[row].max() for row in sets])
    y = 2 * best * frame["share"].to_numpy() + 3 * frame["shift"].to_numpy() + rng.normal(size=n) / 10
    return frame, y


FRAME, NUMBERS = rows_of(400, 0)
FRESH, FRESH_NUMBERS = rows_of(2000, 1)
LABELS = {
    "number": NUMBERS,
    "two classes": np.where(NUMBERS > 0, "good", "bad"),
    "three classes": np.array(["bad", "fair", "good"])[np.digitize(NUMBERS, [-1.5, 1.5])],
}


def engine(**options):
    return cs.SemanticFeatureEngine(**{"tokens": cs.Items(), "epochs": 8, "n_jobs": 1, **options})


def quick(kind=cs.SetRegressor, **options):
    return kind(**{"epochs": 15, "n_jobs": 1, **options})


@cache
def model_of(name, epochs=5):
    kind = cs.SetRegressor if name == "number" else cs.SetClassifier
    return cs.JointModel({"items": engine()}, quick(kind), epochs=epochs, random_state=0).fit(FRAME, LABELS[name])


def test_helps_where_dense_features_hide_what_sets_say():
    frame, y = rows_of(1000, 20)
    apart, jointly = (
        cs.JointModel({"items": engine(epochs=30)}, quick(epochs=60), epochs=epochs, random_state=2).fit(frame, y)
        for epochs in (0, 15)
    )
    errors = [np.mean((model.predict(FRESH) - FRESH_NUMBERS) ** 2) for model in (apart, jointly)]
    assert errors[1] < 0.85 * errors[0]
    assert jointly.joint_gain_ > 0
    assert apart.joint_gain_ == 0
    assert apart.history_ == []
    assert jointly.verify()


@pytest.mark.parametrize("name", LABELS)
def test_the_gain_is_of_the_loss_on_validation_data(name):
    model = model_of(name)
    losses = [entry["validation_loss"] for entry in model.history_]
    before = model_of(name, epochs=0).follow_on_.history_
    before = min(entry["validation_loss"] for entry in before)
    # Exact projection after training moves both ends of the difference a little.
    assert model.joint_gain_ == pytest.approx(max(before - min(losses), 0.0), abs=0.01 * before)


def test_what_does_not_help_is_not_kept():
    options = {"epochs": 1, "learning_rate": 3.0, "random_state": 0}
    model = cs.JointModel({"items": engine()}, quick(), **options).fit(FRAME, NUMBERS)
    assert model.joint_gain_ == 0
    assert len(model.history_) == 1
    np.testing.assert_array_equal(model.predict(FRESH), model_of("number", epochs=0).predict(FRESH))


@pytest.mark.parametrize("name", ["number", "two classes"])
def test_constraints_hold_after_joint_training(name):
    model = model_of(name)
    assert model.joint_gain_ > 0
    certificate = model.verify()
    assert certificate
    constraints = {check.constraint for check in certificate.checks}
    value = "mean_label" if name == "number" else "log_odds"
    assert {f"items: {value} increasing", "items increasing"} <= constraints
    assert all(check.violation == 0 for check in certificate.checks if "parameters" in check.evidence)
    estimates = np.sort(model.engines_["items"].transform(FRESH["items"])[:, 0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        row = {"items": estimates, "share": np.full(2000, rng.uniform()), "shift": np.full(2000, rng.normal())}
        table = pa.table(row)
        outputs = model.follow_on_.as_model().read(table).outputs()[:, 0]
        assert np.diff(outputs).min() >= -1e-12 * np.ptp(outputs)


def test_classes():
    for name in ("two classes", "three classes"):
        model = model_of(name)
        probabilities = model.predict_proba(FRESH)
        assert model.classes_.tolist() == sorted(set(LABELS[name]))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(FRESH)).all()
        truth = np.array(["bad", "fair", "good"])[np.digitize(FRESH_NUMBERS, [-1.5, 1.5])]
        if name == "two classes":
            truth = np.where(FRESH_NUMBERS > 0, "good", "bad")
        assert model.score(FRESH, truth) == np.mean(model.predict(FRESH) == truth) > 0.75
    names = [feature.name for feature in model_of("three classes").follow_on_.features_]
    assert names == ["items_bad", "items_fair", "items_good", "share", "shift"]


def test_whole_numbers_are_numbers_for_a_regressor():
    y = np.round(NUMBERS)
    model = cs.JointModel({"items": engine()}, quick(), epochs=1, random_state=0).fit(FRAME, y)
    assert model.engines_["items"].loss_ == "squared_error"
    assert [feature.name for feature in model.follow_on_.features_] == ["items", "share", "shift"]


def test_kinds_of_frames_are_the_same():
    expected = model_of("number").predict(FRESH)
    shuffled = FRAME.to_pandas().set_index(pd.Index(np.random.default_rng(0).permutation(400)))
    for frame, fresh in ((shuffled, FRESH.to_pandas()), (FRAME.to_arrow(), FRESH.to_arrow())):
        model = clone(model_of("number")).fit(frame, NUMBERS)
        np.testing.assert_array_equal(model.predict(fresh), expected)


def test_declared_features_and_several_columns_for_an_engine():
    frame = FRAME.with_columns(price=pl.Series([[1.0] * len(row) for row in FRAME["items"].to_list()]))
    engines = {("items", "price"): engine(details=["price"])}
    follow_on = quick(features=[cs.Feature("share", monotonic="increasing")])
    model = cs.JointModel(engines, follow_on, epochs=1, random_state=0).fit(frame, NUMBERS)
    features = {feature.name: feature.monotonic for feature in model.follow_on_.features_}
    assert features == {"items_price": "increasing", "share": "increasing"}
    assert model.predict(frame[:3]).shape == (3,)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b"])])
def test_dense_columns_of_categories_are_features(dtype):
    shop = np.random.default_rng(3).choice(["a", "b"], len(FRAME))
    frame, y = FRAME.with_columns(shop=pl.Series(shop, dtype=dtype)), NUMBERS + np.where(shop == "a", 5.0, 0.0)
    model = cs.JointModel({"items": engine()}, quick(), epochs=2, random_state=0).fit(frame, y)
    kinds = {feature.name: feature.kind for feature in model.follow_on_.features_}
    assert kinds == {"items": "numeric", "share": "numeric", "shift": "numeric", "shop": "categorical"}
    a, b = (model.predict(frame.with_columns(shop=pl.lit(name, dtype=dtype))) for name in "ab")
    assert (a - b).mean() > 2.5


def test_few_examples_are_not_trained_jointly():
    model = cs.JointModel({"items": engine()}, quick(), random_state=0).fit(FRAME[:60], NUMBERS[:60])
    assert model.joint_gain_ == 0
    assert model.history_ == []
    assert model.score(FRESH, FRESH_NUMBERS) > 0.5


def test_out_of_fold_estimates_for_the_follow_on_model():
    # Items that occur once or twice: what the table says of them is mostly the example's own label.
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"items": [[f"i{k}"] for k in rng.integers(0, 500, 800)], "noise": rng.normal(size=800)})
    y = rng.normal(size=800)
    model = cs.JointModel({"items": engine()}, quick(), epochs=3, random_state=0).fit(frame, y)
    assert model.score(frame, y) < 0.15


def test_examples_of_weight_zero_are_left_out():
    weights = np.ones(400)
    weights[::8] = 0
    model = clone(model_of("number")).fit(FRAME, NUMBERS, weights)
    kept = np.flatnonzero(weights)
    again = clone(model_of("number")).fit(FRAME[kept], NUMBERS[kept])
    np.testing.assert_array_equal(model.predict(FRESH), again.predict(FRESH))


def test_groups_share_validation(monkeypatch):
    seen, split = {}, Learning.split

    def watched(learning, held):
        seen["training"], seen["validation"] = learning.rows.X, held.X
        return split(learning, held)

    monkeypatch.setattr(Learning, "split", watched)
    groups = np.arange(400) // 4
    frame = FRAME.with_columns(
        items=pl.Series([[f"g{g}", *row] for g, row in zip(groups, FRAME["items"], strict=True)])
    )
    clone(model_of("number")).fit(frame, NUMBERS, groups=groups)
    training, validation = ({row[0] for row in seen[part]} for part in ("training", "validation"))
    assert len(seen["validation"]) >= 50
    assert not training & validation


def test_a_class_of_one_example_is_trained_on():
    y = LABELS["two classes"].astype(object)
    y[17] = "rare"
    model = cs.JointModel({"items": engine()}, quick(cs.SetClassifier), epochs=1, random_state=3)
    assert "rare" in model.fit(FRAME, y).classes_


def test_the_conventions_of_scikit_learn():
    model = cs.JointModel({"items": engine()}, quick(), epochs=1, random_state=0)
    assert is_regressor(model)
    assert not hasattr(model, "predict_proba")
    classifier = cs.JointModel({"items": engine()}, quick(cs.SetClassifier))
    assert is_classifier(classifier)
    scores = cross_val_score(model, FRAME.to_pandas(), NUMBERS, cv=2)
    assert scores.min() > 0.5
    assert not hasattr(model.engines["items"], "token_table_")
    assert model.get_params()["follow_on__epochs"] == 15


@pytest.mark.parametrize(
    ("engines", "follow_on", "error", "message"),
    [
        (engine(), quick(), TypeError, "must be a dict"),
        ({}, quick(), TypeError, "must be a dict"),
        ({"items": quick()}, quick(), TypeError, "The engine of 'items' must be"),
        ({"items": engine(refine=True)}, quick(), ValueError, "Set refine=False"),
        ({"items": engine()}, engine(), TypeError, "follow_on must be"),
        ({"words": engine()}, quick(), ValueError, r"columns \['words'\], but X has"),
        ({"items": engine()}, quick(features=["items"]), ValueError, "added by themselves"),
        ({"items": engine()}, quick(features=["nothing"]), ValueError, "'nothing'"),
    ],
)
def test_what_cannot_be_fitted(engines, follow_on, error, message):
    with pytest.raises(error, match=message):
        cs.JointModel(engines, follow_on, random_state=0).fit(FRAME, NUMBERS)


def test_bad_data_and_options():
    model = cs.JointModel({"items": engine()}, quick())
    with pytest.raises(TypeError, match="X must be a frame"):
        model.fit([["a"], ["b"]], [1.0, 2.0])
    with pytest.raises(ValueError, match="labels"):
        model.fit(FRAME, NUMBERS[:-1])
    for name, value in (("epochs", -1), ("learning_rate", 0), ("validation_fraction", 1.5), ("batch_size", 0)):
        with pytest.raises(ValueError, match=name):
            clone(model).set_params(**{name: value}).fit(FRAME, NUMBERS)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_a_pipeline_of_an_engine_and_a_classifier(container):
    columns = ColumnTransformer(
        [("estimate", engine(random_state=0), "items"), ("dense", "passthrough", ["share", "shift"])],
        verbose_feature_names_out=False,
    ).set_output(transform=container)
    features = [cs.Feature("items", monotonic="increasing"), "share", cs.Feature("shift", monotonic="increasing")]
    follow_on = quick(cs.SetClassifier, features=features, random_state=0)
    frame, fresh = (rows.to_pandas() if container == "pandas" else rows for rows in (FRAME, FRESH))
    pipeline = make_pipeline(columns, follow_on).fit(frame, NUMBERS > 0)
    assert pipeline.score(fresh, FRESH_NUMBERS > 0) > 0.85
    assert follow_on.verify()


@pytest.mark.parametrize("classes", [2, 5, 20])
def test_rows_of_unknown_items_get_the_prior(classes):
    rng = np.random.default_rng(classes)
    worth = 2 * rng.normal(size=(40, classes))
    sets = [rng.choice(40, rng.integers(2, 7), replace=False) for _ in range(600)]
    y = np.array([(worth[each].mean(axis=0) + 0.5 * rng.gumbel(size=classes)).argmax() for each in sets])
    frame = pl.DataFrame({"words": [[f"w{k}" for k in each] for each in sets]})
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), epochs=10)
    model = cs.JointModel({"words": engine}, cs.SetClassifier(epochs=10), epochs=3, random_state=0).fit(frame, y)
    unknown = pl.DataFrame({"words": [["new"], ["nor", "this"]]})
    prior = np.unique(y, return_counts=True)[1] / len(y)
    assert np.abs(model.predict_proba(unknown) - prior).max() < 0.05
    explanation = model.explain(unknown)
    chosen = np.searchsorted(model.classes_, explanation.label)
    np.testing.assert_allclose(explanation.prediction, model.predict_proba(unknown)[[0, 1], chosen], atol=1e-9)


def test_a_row_without_any_value_gets_the_mean_label():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = 10 * X[:, 0] + 50
    model = cs.SetRegressor(random_state=0, epochs=30).fit(X, y)
    empty = np.full((2, 3), np.nan)
    np.testing.assert_allclose(model.predict(empty), y.mean(), atol=0.2 * y.std())
    explanation = model.explain(empty)
    np.testing.assert_allclose(explanation.prediction, model.predict(empty), atol=1e-9)
    total = sum(row["contribution"] for row in explanation[0].to_frame().to_dict("records"))
    assert explanation.base[0] + total == pytest.approx(explanation.prediction[0])
