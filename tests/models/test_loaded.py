"""What loaded models offer as the estimators do, though they know no scikit-learn."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

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


def test_what_needs_the_estimator_says_so(tmp_path):
    model = loaded(cs.SetRegressor(**QUICK).fit(np.eye(4), np.arange(4.0)), tmp_path)
    with pytest.raises(AttributeError, match="as_estimator"):
        model.fit(np.eye(4), np.arange(4.0))
    assert not hasattr(model, "refresh_table")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = model.nothing


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (np.eye(4) + 1j, ValueError, "complex"),
        (np.eye(4).astype(str), ValueError, "numbers"),
        (sparse.csr_matrix(np.eye(4)), TypeError, "toarray"),
    ],
)
def test_arrays_of_something_else_are_refused(X, error, match, tmp_path):
    model = loaded(cs.SetRegressor(**QUICK).fit(np.eye(4), np.arange(4.0)), tmp_path)
    with pytest.raises(error, match=match):
        model.predict(X)


def test_torch_is_not_looked_for():
    script = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "def blocked(name, *rest):\n"
        "    if name == 'torch': raise ImportError('blocked')\n"
        "    return found(name, *rest)\n"
        "u.find_spec = blocked\n"
        "import clearset.engines as e; print(type(e.engine()).__name__)"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "NativeEngine"
