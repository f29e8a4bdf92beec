"""A fit says when it needs more epochs or cannot stop early, and says nothing otherwise."""

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import ConvergenceWarning

import clearset as cs
from clearset.datasets import make_aggregation, make_reviews

ITEMS = np.array([f"i{k}" for k in range(10)])


@pytest.fixture(autouse=True)
def all_warnings_are_errors() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def baskets(n: int) -> tuple[list[list[str]], np.ndarray]:
    rng = np.random.default_rng(1)
    worth = rng.normal(size=10)
    chosen = [rng.choice(10, rng.integers(1, 5), replace=False) for _ in range(n)]
    return [ITEMS[row].tolist() for row in chosen], np.array([worth[row].sum() for row in chosen])


@pytest.mark.parametrize("n", [200, 1000])  # without and with validation data
@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_too_few_epochs(n: int, epochs: int) -> None:
    X, y = rows(n)
    said = rf"used all {epochs} epoch.*Increase epochs, or learning_rate"
    for model, labels in ((cs.SetRegressor, y), (cs.SetClassifier, y > 1)):
        with pytest.warns(ConvergenceWarning, match=said) as caught:
            model(epochs=epochs, early_stopping=n >= 500, random_state=0, n_jobs=1).fit(X, labels)
        assert caught[0].filename == __file__


@pytest.mark.parametrize("epochs", [1, 2])
def test_too_few_epochs_for_items(epochs: int) -> None:
    X, y = baskets(1000)
    with pytest.warns(ConvergenceWarning) as caught:
        model = cs.SemanticRegressor(epochs=epochs, random_state=0, n_jobs=1).fit(X, y)
    assert caught[0].filename == __file__
    assert len(model.choices_) > 1
    assert len(caught) == 1  # of the fit, not of every setting that was tried
    with pytest.warns(ConvergenceWarning) as caught:
        model.refit_set_function(*baskets(500))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("n", [700, 1500])
def test_too_low_a_learning_rate(n: int) -> None:
    # Training begins near what least squares say of numbers, but knows nothing of categories.
    kinds, (_, noise) = np.random.default_rng(0).integers(5, size=n), rows(n)
    y = np.array([0.0, 3.0, 1.0, 2.0, 0.5])[kinds] + 0.1 * noise
    options = {"learning_rate": 1e-4, "early_stopping": True, "random_state": 0, "n_jobs": 1}
    for model, labels in ((cs.SetRegressor, y), (cs.SetClassifier, y > 1)):
        with pytest.warns(ConvergenceWarning):
            model([cs.Feature("kind", kind="categorical")], **options).fit(
                pa.table({"kind": kinds.astype(str)}), labels
            )


@pytest.mark.parametrize("n", [20, 100, 450, 700])
@pytest.mark.parametrize("noise", [False, True])
def test_defaults_do_not_warn(n: int, noise: bool) -> None:
    """Labels of chance are learned by heart for as long as there are epochs: more of them would make it worse."""
    X, y = rows(n)
    y = np.random.default_rng(2).permutation(y) if noise else y
    cs.SetRegressor(random_state=0, n_jobs=1).fit(X, y)
    cs.SetClassifier(random_state=0, n_jobs=1).fit(X, y > np.median(y))


def test_defaults_on_made_data_do_not_warn() -> None:
    reviews = make_reviews(600)
    cs.SetRegressor(random_state=0, n_jobs=1).fit(reviews.frame, np.log(reviews.sales))
    for name in ("mean", "max"):
        made = make_aggregation(name, 600)
        cs.SetRegressor(random_state=0, n_jobs=1).fit(made.frame, made.target)
    X, y = baskets(600)
    cs.SemanticRegressor(random_state=0, n_jobs=1).fit(X, y)
    cs.SemanticClassifier(random_state=0, n_jobs=1).fit(X, y > 0)


def test_training_that_stopped_early_does_not_warn() -> None:
    X, y = rows(1000)
    model = cs.SetRegressor(epochs=300, early_stopping=True, patience=3, random_state=0, n_jobs=1).fit(X, y)
    assert model.n_iter_ < 300


def test_early_stopping_without_sets_to_stop_by() -> None:
    X, y = rows(200)
    said = "none of the 200 sets are held out.*validation_fraction=0.1.*fewer than 50.*validation_data or a larger"
    for model, labels in ((cs.SetRegressor, y), (cs.SetClassifier, y > 1)):
        with pytest.warns(UserWarning, match=said) as caught:
            model(early_stopping=True, random_state=0, n_jobs=1).fit(X, labels)
        assert [warning.filename for warning in caught] == [__file__]


def test_early_stopping_with_sets_to_stop_by_does_not_warn() -> None:
    X, y = rows(200)
    cs.SetRegressor(early_stopping=True, validation_fraction=0.5, random_state=0, n_jobs=1).fit(X, y)
    cs.SetRegressor(early_stopping=True, random_state=0, n_jobs=1).fit(X, y, validation_data=(X[:20], y[:20]))
    cs.SetRegressor(early_stopping="auto", random_state=0, n_jobs=1).fit(X, y)
