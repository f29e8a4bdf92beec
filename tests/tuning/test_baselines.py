import numpy as np
import pytest
from sklearn.metrics import mean_squared_error

import clearset as cs
from clearset import baselines
from clearset.tuning import default_space
from clearset.tuning._default_spaces import SPACES

ESTIMATORS = [getattr(baselines, name) for name in baselines.__all__ if name.endswith(("Regressor", "Classifier"))]


def small_sets(n, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 6, n))])
    values = rng.normal(size=(offsets[-1], 2))
    sums = np.add.reduceat(values[:, 0], offsets[:-1])
    return cs.SetData(values, offsets, ["a", "b"]), sums / np.diff(offsets)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_name_of_the_table_is_a_parameter(kind):
    table = SPACES[kind.__name__.removesuffix("Regressor").removesuffix("Classifier")]
    assert set(table) <= set(kind().get_params())
    X, y = small_sets(10, 0)
    assert default_space(kind(), X, y) == table


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_every_range_can_be_fitted(kind, end):
    X, y = small_sets(40, 0)
    if "MultiHot" in kind.__name__:
        X = [["plus" if label > 0 else "minus"] for label in y]
    if kind.__name__.endswith("Classifier"):
        y = np.where(y > 0, "plus", "minus")
    chosen = {name: limits[end] for name, limits in default_space(kind(), X, y).items()}
    if "epochs" in chosen:
        chosen["epochs"] = 2
    kind(**chosen, n_jobs=1, random_state=0).fit(X, y).predict(X)


def test_deep_sets_are_tuned():
    X, y = small_sets(200, 0)
    model = baselines.DeepSetsRegressor(n_jobs=1)
    tuning = cs.tune(model, X, y, budget=3, random_state=0, verbose=0)
    assert set(tuning.best_params_) == set(SPACES["DeepSets"])
    assert [trial["state"] for trial in tuning.trials] == ["complete"] * 3
    others, truth = small_sets(200, 1)
    assert mean_squared_error(truth, tuning.best_estimator_.predict(others)) < 0.3 * truth.var()


def test_deep_sets_are_tuned_by_folds():
    X, y = small_sets(200, 0)
    model = baselines.DeepSetsRegressor(width=8, n_jobs=1)
    space = {"learning_rate": (1e-3, 3e-2, "log"), "epochs": (5, 20)}
    tuning = cs.tune(model, X, y, budget=3, folds=3, space=space, random_state=0, verbose=0)
    expected = baselines.DeepSetsRegressor(width=8, n_jobs=1, random_state=0, **tuning.best_params_).fit(X, y)
    np.testing.assert_array_equal(tuning.best_estimator_.predict(X), expected.predict(X))
