import json
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sklearn.exceptions import NotFittedError

import clearset as cs

RNG = np.random.default_rng(0)
ITEMS = np.array([f"i{k}" for k in range(12)])
WORTH = dict(zip(ITEMS.tolist(), RNG.normal(size=12).tolist(), strict=True))
N = 300
FRAME = pl.DataFrame(
    {
        "items": [RNG.choice(ITEMS, RNG.integers(1, 5), replace=False).tolist() for _ in range(N)],
        "left": [RNG.choice(ITEMS, 2, replace=False).tolist() for _ in range(N)],
        "right": [RNG.choice(ITEMS, 2, replace=False).tolist() for _ in range(N)],
        "shift": RNG.normal(size=N),
    }
)
NUMBERS = np.array([sum(WORTH[item] for item in row) for row in FRAME["items"]]) + FRAME["shift"].to_numpy()
LABELS = {
    "number": NUMBERS,
    "two classes": np.where(NUMBERS > 0, "good", "bad"),
    "three classes": np.array(["bad", "fair", "good"])[np.digitize(NUMBERS, [-1.0, 1.0])],
}


@cache
def model_of(case):
    kind = cs.SetRegressor if case == "number" else cs.SetClassifier
    options = {"epochs": 5, "n_jobs": 1}
    engines = {
        "items": cs.SemanticFeatureEngine(tokens=cs.Items(), **options),
        ("left", "right"): cs.SemanticFeatureEngine(tokens=cs.Cross("left", "right"), **options),
    }
    return cs.JointModel(engines, kind(**options), epochs=3, random_state=0).fit(FRAME, LABELS[case])


@pytest.mark.parametrize("case", LABELS)
def test_the_prediction_is_the_models(case):
    model = model_of(case)
    explanation = model.explain(FRAME)
    assert len(explanation) == N
    for part in (explanation.follow_on, *explanation.engines.values()):
        assert isinstance(part.to_frame(), pl.DataFrame)  # as FRAME is
    if case == "number":
        assert explanation.label is None
        np.testing.assert_allclose(explanation.prediction, model.predict(FRAME), atol=1e-9)
        return
    shares = model.predict_proba(FRAME)
    places = np.searchsorted(model.classes_, explanation.label)
    np.testing.assert_allclose(explanation.prediction, shares[np.arange(N), places], atol=1e-9)
    if case == "three classes":
        assert explanation.label.tolist() == model.predict(FRAME).tolist()


@pytest.mark.parametrize("case", LABELS)
def test_what_the_follow_on_model_reads_is_what_the_engines_explain(case):
    model = model_of(case)
    explanation, table = model.explain(FRAME), model.estimates(FRAME)
    assert list(explanation.engines) == ["items", ("left", "right")]
    assert explanation.names == ["items", "left_right"]
    for name, engine in zip(explanation.names, explanation.engines.values(), strict=True):
        column = name if case != "three classes" else None
        if column is None:
            assert engine.label.tolist() == explanation.label.tolist()
            read = np.array([table[f"{name}_{label}"][row].as_py() for row, label in enumerate(engine.label)])
        else:
            read = table[column].to_numpy()
            assert explanation.follow_on.tokens[column].to_pylist() == pytest.approx(read.tolist())
        np.testing.assert_allclose(engine.prediction, read, atol=1e-9)
        sums = engine.base.copy()
        for row in (*engine.tokens.to_pylist(), *engine.of_sets.to_pylist()):
            sums[row["set"]] += row["contribution"]
        np.testing.assert_allclose(sums, engine.prediction, atol=1e-9)
    tokens = explanation.engines["items"].tokens
    found = [
        {
            token
            for (token,), of in zip(tokens["token"].to_pylist(), tokens["set"].to_pylist(), strict=True)
            if of == row
        }
        for row in range(20)
    ]
    assert found == [set(row) for row in FRAME["items"][:20]]


def test_a_class_that_is_named_is_explained_everywhere():
    model = model_of("three classes")
    explanation = model.explain(FRAME[:20], "fair")
    np.testing.assert_allclose(explanation.prediction, model.predict_proba(FRAME[:20])[:, 1], atol=1e-9)
    for engine in explanation.engines.values():
        assert set(engine.label) == {"fair"}
    with pytest.raises(ValueError, match="not among the classes"):
        model.explain(FRAME, "best")


@pytest.mark.parametrize("case", LABELS)
def test_rows_of_many(case):
    model = model_of(case)
    explanation = model.explain(FRAME[:10], effects=True)
    assert [len(row) for row in explanation] == [1] * 10
    alone = model.explain(FRAME[4:6], effects=True)
    part = explanation[4:6]
    assert json.dumps(part.to_json()["engines"]["left_right"]["sets"]) == json.dumps(
        alone.to_json()["engines"]["left_right"]["sets"]
    )
    np.testing.assert_allclose(part.prediction, alone.prediction)
    assert repr(explanation[-1]) == "JointExplanation(1 row, engines: items, left_right)"
    with pytest.raises(IndexError, match="no row 10: there are 10 rows"):
        explanation[10]
    with pytest.raises(TypeError, match="Choose a row by a whole number"):
        explanation["items"]


def test_effects_are_asked_for():
    model = model_of("number")
    without, explained = model.explain(FRAME[:5]), model.explain(FRAME[:5], effects=True)
    assert without.follow_on.effects is without.engines["items"].effects is None
    assert explained.engines["items"].effects.num_rows > 5
    for row in explained.follow_on.effects.to_pylist():
        assert row["prediction_worst"] <= explained.prediction[row["set"]] <= row["prediction_best"]


def test_json_html_and_files(tmp_path):
    explanation = model_of("three classes").explain(FRAME[:12], effects=True)
    document = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
    assert list(document) == ["follow_on", "engines", "features", "rho", "sets"]
    assert list(document["engines"]) == ["items", "left_right"]
    assert [one["prediction"] for one in document["follow_on"]["sets"]] == explanation.prediction.tolist()
    block = explanation.to_html(tmp_path / "page.html")
    assert block in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert block == explanation._repr_html_()
    for text in ("Row 9", "left_right_bad", "Estimate of <bdi>items</bdi>", "at its best", "and 2 more rows"):
        assert text in block


def test_estimates_let_the_follow_on_model_be_looked_into(tmp_path):
    model = model_of("number")
    table = model.estimates(FRAME)
    assert isinstance(table, pa.Table)
    assert table.column_names == ["items", "left_right", "shift"]
    np.testing.assert_allclose(model.follow_on_.predict(table), model.predict(FRAME))
    model.follow_on_.report(tmp_path / "report.html", table, NUMBERS)
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_model_must_be_fitted():
    model = cs.JointModel({"items": cs.SemanticFeatureEngine()}, cs.SetRegressor())
    for call in (model.explain, model.estimates):
        with pytest.raises(NotFittedError):
            call(FRAME)


def test_notebooks_show_the_parts():
    page = model_of("number")._repr_html_()
    for text in ("JointModel", "left, right", "SetRegressor of the estimates", "shift", "2 engines"):
        assert text in page


def contributions_of(explanation):
    """Add up all that is said of each row."""
    frame = explanation.to_frame()
    return np.bincount(frame["set"].to_numpy(), frame["contribution"].to_numpy(), minlength=len(explanation))


@pytest.mark.parametrize("case", LABELS)
def test_tokens_and_features_add_up_to_the_prediction(case):
    unknown = FRAME[:3].with_columns(items=pl.Series([["new"], ["nor", "this"], []], dtype=pl.List(pl.String)))
    explanation = model_of(case).explain(pl.concat([FRAME, unknown]))
    np.testing.assert_allclose(explanation.base + contributions_of(explanation), explanation.prediction, atol=1e-9)
    for row in (explanation[0], explanation[N + 1]):
        np.testing.assert_allclose(row.base + contributions_of(row), row.prediction, atol=1e-9)


def test_tokens_count_as_they_move_the_estimate_along_the_follow_on_models_curve():
    # Worked out from what the two steps answer by themselves: rho is a line between base rate and prediction, phi is
    # asked once more with the estimate at the engine's base rate, and tokens share in the difference.
    model = model_of("number")
    explanation, table = model.explain(FRAME), model.estimates(FRAME)
    engine, follow_on = explanation.engines["items"], explanation.follow_on
    slope = (follow_on.prediction - follow_on.base) / follow_on.aggregate[:, 0]
    at_base = table.set_column(table.column_names.index("items"), "items", pa.array(engine.base))
    way = slope * (model.follow_on_.phi(table).scores[:, 0] - model.follow_on_.phi(at_base).scores[:, 0])
    shares = engine.tokens["contribution"].to_numpy() / (engine.prediction - engine.base)[engine.tokens["set"]]
    own = explanation.tokens.filter(pc.equal(explanation.tokens["column"], "items"))
    assert own["token"].to_pylist() == engine.tokens["token"].to_pylist()
    np.testing.assert_allclose(own["contribution"], way[own["set"].to_numpy()] * shares, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(own["score"], engine.tokens["contribution"])


@pytest.mark.parametrize("case", ["number", "two classes"])
def test_what_raises_an_estimate_never_lowers_the_prediction(case):
    tokens = model_of(case).explain(FRAME).tokens
    known = tokens.filter(pc.is_valid(tokens["score"]))
    assert (known["score"].to_numpy() * known["contribution"].to_numpy() >= -1e-12).all()


def test_frames_reasons_and_figures_are_of_tokens_and_dense_columns():
    explanation = model_of("three classes").explain(FRAME[:4])
    frame = explanation.to_frame()
    assert frame.columns == ["set", "label", "column", "token", "feature", "value", "score", "contribution"]
    assert set(frame["column"].drop_nulls()) == {"items", "left_right"}
    features = set(frame["feature"].drop_nulls())
    assert {"shift", "items: estimate", "left_right: estimate"} <= features
    assert not {"items_bad", "items_fair"} & features
    assert "shift" in explanation.to_frame(details=True).columns
    reasons = explanation.reasons(9)["reason"].to_list()
    assert any(reason.startswith("items: i") for reason in reasons)
    assert explanation.plot(2).axes
    assert "items: i" in explanation.to_html()


def test_a_missing_estimate_adds_what_the_follow_on_model_says_of_it():
    frame = FRAME.select("items")
    model = cs.JointModel({"items": cs.Items()}, cs.SetRegressor(epochs=5), epochs=0, random_state=0)
    model.fit(frame, NUMBERS)
    explanation = model.explain(pl.DataFrame({"items": [["new"], FRAME["items"][0].to_list()]}))
    np.testing.assert_allclose(explanation.base + contributions_of(explanation), explanation.prediction, atol=1e-9)
    assert explanation.engines["items"].tokens["token"].null_count == 1


def test_lists_of_numbers_are_tokens_of_the_follow_on_model():
    stars = [RNG.integers(1, 6, RNG.integers(0, 4)).astype(float).tolist() for _ in range(N)]
    frame = FRAME.select("items", "shift").with_columns(stars=pl.Series(stars))
    y = NUMBERS + np.array([np.mean(row) if row else 3.0 for row in stars])
    model = cs.JointModel({"items": cs.Items()}, cs.SetRegressor(epochs=10), epochs=3, random_state=0).fit(frame, y)
    assert [feature.name for feature in model.features_] == ["items", "shift", "stars", "cs.SIZE"]
    explanation = model.explain(frame)
    np.testing.assert_allclose(explanation.prediction, model.predict(frame), atol=1e-9)
    np.testing.assert_allclose(explanation.base + contributions_of(explanation), explanation.prediction, atol=1e-9)
    row = stars.index(next(row for row in stars if len(row) == 2))
    tokens = explanation[row].tokens.filter(pc.is_null(explanation[row].tokens["column"]))["token"].to_pylist()
    assert tokens == [[f"stars {value:g}"] for value in stars[row]]


@pytest.mark.parametrize("case", LABELS)
def test_importance_ranks_the_tokens_of_all_columns(case):
    model = model_of(case)
    found, explanation = model.importance(FRAME), model.explain(FRAME)
    names = set(found.features["feature"].to_pylist())
    assert names == {feature.name for feature in model.features_}
    sums = {}
    for row in explanation.tokens.to_pylist():
        if row["token"] is not None:
            key = (row["column"], tuple(row["token"]))
            sums[key] = sums.get(key, 0.0) + abs(row["contribution"]) / N
    ranked = {(row["column"], tuple(row["token"])): row["contribution"] for row in found.tokens.to_pylist()}
    assert ranked == pytest.approx(sums)
    amounts = found.tokens["contribution"].to_pylist()
    assert amounts == sorted(amounts, reverse=True)
