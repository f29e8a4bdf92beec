"""A fitted joint model as plain data: the same as the estimator's answers, and copies of it."""

import copy
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.models import FittedJointModel

RNG = np.random.default_rng(0)
N = 240
ITEMS = [RNG.choice(list("abcdefgh"), RNG.integers(1, 4), replace=False).tolist() for _ in range(N)]
FRAME = pa.table({"items": ITEMS, "shift": RNG.normal(size=N)})
NUMBERS = np.array([float("a" in row) - float("b" in row) for row in ITEMS]) + FRAME["shift"].to_numpy()
LABELS = {
    "number": NUMBERS,
    "two classes": np.where(NUMBERS > 0, "good", "bad"),
    "three classes": np.array(["bad", "fair", "good"])[np.digitize(NUMBERS, [-0.5, 0.5])],
}


@cache
def fitted(case: str) -> Any:
    options: dict[str, Any] = {"epochs": 3, "n_jobs": 1}
    follow_on = (cs.SetRegressor if case == "number" else cs.SetClassifier)(**options)
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), **options)
    return cs.JointModel({"items": engine}, follow_on, epochs=2, random_state=0).fit(FRAME, LABELS[case])


@pytest.mark.parametrize("case", LABELS)
def test_a_model_answers_as_the_estimator_does(case: str) -> None:
    estimator, model = fitted(case), fitted(case).as_model()
    assert type(model) is FittedJointModel
    assert np.array_equal(model.predict(FRAME), estimator.predict(FRAME))
    assert np.array_equal(model.predict(FRAME), model.follow_on.predict(model.estimates(FRAME)))
    assert hasattr(model, "predict_proba") == hasattr(estimator, "predict_proba") == (case != "number")
    if case == "number":
        with pytest.raises(AttributeError, match=r"no attribute 'predict_proba'.*Use predict"):
            model.predict_proba(FRAME)
    else:
        assert np.array_equal(model.predict_proba(FRAME), estimator.predict_proba(FRAME))
        np.testing.assert_allclose(model.predict_proba(FRAME).sum(axis=1), 1.0)
    assert model.explain(FRAME[:9]).to_json() == estimator.explain(FRAME[:9]).to_json()
    assert model.verify() == estimator.verify()
    assert (model.gain, model.history) == (estimator.joint_gain_, estimator.history_)


@pytest.mark.parametrize("case", LABELS)
def test_the_parts_are_the_models_of_the_fitted_parts(case: str) -> None:
    estimator, model = fitted(case), fitted(case).as_model()
    table = model.estimates(FRAME)
    assert np.array_equal(estimator.follow_on_.predict(table), model.follow_on.predict(table))
    for column, engine in model.engines.items():
        assert np.array_equal(engine.transform(FRAME[column]), estimator.engines_[column].transform(FRAME[column]))


@pytest.mark.parametrize("case", LABELS)
def test_copies(case: str) -> None:
    for first in (fitted(case), fitted(case).as_model()):
        for again in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):  # noqa: S301
            assert np.array_equal(again.predict(FRAME), first.predict(FRAME))
            assert again.verify() == first.verify()


@pytest.mark.parametrize("case", LABELS)
def test_what_other_models_offer(case: str, tmp_path: Path) -> None:
    estimator, y = fitted(case), LABELS[case]
    model = estimator.as_model()
    assert model.score(FRAME, y) == estimator.score(FRAME, y)
    assert np.array_equal(model.transform(FRAME), model.follow_on.transform(model.estimates(FRAME)))
    if case != "number":
        assert np.array_equal(model.predict_top(FRAME, 1)[:, 0], model.predict(FRAME))
    label = "fair" if case == "three classes" else None
    names, table = [*model.estimate_names, "shift"], model.estimates(FRAME)
    curve = estimator.partial_dependence("shift", FRAME, label=label)
    expected = model.follow_on.partial_dependence("shift", table, label=label)
    assert np.array_equal(curve.prediction, expected.prediction)
    assert list(estimator.calibrators()) == names
    assert np.array_equal(estimator.phi(FRAME).scores, model.follow_on.phi(table).scores)
    assert cs.churn(model, fitted(case), FRAME, y).changed == 0
    shuffled = estimator.importance(FRAME, y, method="permutation", repeats=1)
    assert set(shuffled.features["feature"].to_pylist()) == set(names)
    for figure in (
        estimator.plot_history(),
        estimator.plot_quality(FRAME, y),
        estimator.plot_calibrators(),
        estimator.plot_rho(),
    ):
        assert figure.axes
    card = estimator.card(FRAME, y)
    assert dict(card.sections["Metrics"])["given sets"] == f"{N}"
    estimator.report(tmp_path / "report.html", FRAME, y)
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_the_history_is_of_joint_training() -> None:
    estimator = fitted("number")
    losses = [epoch["validation_loss"] for epoch in estimator.history_]
    assert estimator.best_epoch_ == (int(np.argmin(losses)) + 1 if estimator.joint_gain_ else 0)
    assert estimator.n_iter_ == len(losses)
    assert not estimator.interrupted_


def test_files_keep_notes_and_columns(tmp_path: Path) -> None:
    fitted("number").save(tmp_path / "m", notes="for the shop")
    loaded = cs.load(tmp_path / "m")
    assert loaded.origin.notes == "for the shop"
    assert loaded.origin.versions == fitted("number").as_model().origin.versions
    assert loaded.feature_names_in_.tolist() == ["items", "shift"]
    assert loaded.card().to_markdown() != fitted("number").card().to_markdown()  # the notes
    loaded.save(tmp_path / "again")
    assert cs.load(tmp_path / "again").card().to_markdown() == loaded.card().to_markdown()


def test_streams_of_files(tmp_path: Path) -> None:
    pq.write_table(FRAME.append_column("label", pa.array(LABELS["two classes"])), tmp_path / "rows.parquet")
    for model in (fitted("two classes"), fitted("two classes").as_model()):
        assert np.array_equal(model.predict(tmp_path / "rows.parquet"), model.predict(FRAME))
        assert np.array_equal(model.predict_proba(tmp_path / "rows.parquet"), model.predict_proba(FRAME))
        assert model.score(tmp_path / "rows.parquet", "label") == model.score(FRAME, LABELS["two classes"])


def test_parts_are_edited_and_put_back(tmp_path: Path) -> None:
    model = fitted("number").as_model()
    with pytest.raises(ValueError, match="edited by its parts"):
        model.edit()
    engine = model.engines["items"].edit().drop_token("a").model
    follow_on = model.follow_on.edit().flatten("shift", 0.0).model
    edited = model.with_part("items", engine).with_part("follow-on", follow_on)
    with_a = pa.table({"items": [["a", "b"], ["unheard", "b"]], "shift": [0.5, 0.5]})
    assert np.diff(edited.predict(with_a)) == pytest.approx(0.0, abs=1e-12)
    assert abs(np.diff(model.predict(with_a))[0]) > 0.01
    assert str(edited.edits[0]) == "Token 'a' dropped"
    assert edited.verify()
    edited.save(tmp_path / "m")
    assert np.array_equal(cs.load(tmp_path / "m").predict(with_a), edited.predict(with_a))
    assert len(cs.load(tmp_path / "m").edits) == 2
    for name, part in (("other", engine), ("items", follow_on), ("follow-on", engine)):
        with pytest.raises(ValueError, match=r"no part 'other'|cannot take the place"):
            model.with_part(name, part)


@pytest.mark.parametrize(
    ("method", "arguments"), [("to_runtime", ("m",)), ("to_onnx", ("m",)), ("to_c", ("m",)), ("to_sql", ("sqlite",))]
)
def test_what_joint_models_are_not_written_as(method: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    given = [tmp_path / each if each == "m" else each for each in arguments]
    for model in (fitted("number"), fitted("number").as_model()):
        with pytest.raises(ValueError, match=f"as one file. Write its parts, .*model.follow_on.{method}"):
            getattr(model, method)(*given)
        with pytest.raises(ValueError, match="Freeze an engine"):
            model.freeze()
    assert not list(tmp_path.iterdir())
