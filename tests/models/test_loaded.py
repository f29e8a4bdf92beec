"""What loaded models offer as the estimators do, though they know no scikit-learn."""

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

ITEMS = [["beer", "crisps"], ["milk"], ["beer"], ["bread", "milk"]] * 15
QUICK = {"epochs": 5, "random_state": 0}


def loaded(estimator, tmp_path):
    estimator.save(tmp_path / "model.clearset")
    return cs.load(tmp_path / "model.clearset")


@pytest.mark.parametrize("kind", ["number", "two", "three"])
@pytest.mark.parametrize("weighted", [False, True])
def test_score_is_that_of_scikit_learn(kind, weighted, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.normal(size=90)
    labels = {"number": y, "two": y > 0, "three": np.digitize(y, [-0.5, 0.5])}[kind]
    estimator = (cs.SetRegressor if kind == "number" else cs.SetClassifier)(**QUICK).fit(X, labels)
    weights = rng.uniform(size=90) if weighted else None
    found = loaded(estimator, tmp_path).score(X, labels, weights)
    assert found == pytest.approx(estimator.score(X, labels, weights), abs=1e-12)


def test_names(tmp_path):
    frame = pa.table({"basket": ITEMS})
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), **QUICK).fit(frame, [0, 1, 2, 1] * 15)
    model = loaded(engine, tmp_path)
    expected = ["basket_0", "basket_1", "basket_2"]
    assert model.get_feature_names_out().tolist() == engine.get_feature_names_out().tolist() == expected
    assert model.feature_names_in_.tolist() == ["basket"]
    assert model.get_feature_names_out(["other"])[0] == "other_0"


def test_columns_without_names(tmp_path):
    model = loaded(cs.SetRegressor(**QUICK).fit(np.eye(4), np.arange(4.0)), tmp_path)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
