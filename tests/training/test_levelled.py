"""The height of the output after the last fit: where the loss is least, for any number of rare labels."""

import numpy as np
import pytest

import clearset as cs


def baskets(n: int, share: float):
    rng = np.random.default_rng(0)
    items = [rng.choice(40, 6, replace=False) for _ in range(n)]
    signal = np.array([np.cos(basket).mean() for basket in items]) + 0.1 * rng.normal(size=n)
    return [[f"item {item}" for item in basket] for basket in items], signal > np.quantile(signal, 1 - share)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.005])
@pytest.mark.parametrize("epochs", [1, 3])
def test_the_mean_probability_is_the_share_of_the_class(share, epochs):
    X, y = baskets(2000, share)
    model = cs.SemanticClassifier(
        tokens=cs.Items(), refine=False, epochs=epochs, early_stopping=False, random_state=0, n_jobs=1
    ).fit(X, y)
    # What the examples see of each other, outside of their folds, is not quite what others see.
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(share, rel=0.25)


def test_the_mean_prediction_is_the_mean_number():
    X, y = baskets(2000, 0.5)
    labels = 100.0 + 50 * y
    model = cs.SemanticRegressor(
        tokens=cs.Items(), refine=False, epochs=1, early_stopping=False, random_state=0, n_jobs=1
    ).fit(X, labels)
    assert model.predict(X).mean() == pytest.approx(labels.mean(), abs=0.1 * labels.std())
