import json
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
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
