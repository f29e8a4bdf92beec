"""A fitted joint model as plain data: the same as the estimator's answers, and copies of it."""

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
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
