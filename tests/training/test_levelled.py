"""The height of the output after the last fit: where the loss is least, for any number of rare labels."""

import numpy as np
import pytest

import clearset as cs


def baskets(n: int, share: float, seed: int = 0):
    rng = np.random.default_rng(seed)
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
    # The examples' own labels are among what is counted of their tokens, outside of folds; those of others are not.
    others, _ = baskets(2000, share, seed=1)
    # Of ten examples of a class the table has two more than what is known without a fold.
    tolerance = 0.25 if share > 0.01 else 0.35
    assert model.predict_proba(others)[:, 1].mean() == pytest.approx(share, rel=tolerance)


def test_the_mean_prediction_is_the_mean_number():
    X, y = baskets(2000, 0.5)
    labels = 100.0 + 50 * y
    model = cs.SemanticRegressor(
        tokens=cs.Items(), refine=False, epochs=1, early_stopping=False, random_state=0, n_jobs=1
    ).fit(X, labels)
    assert model.predict(X).mean() == pytest.approx(labels.mean(), abs=0.1 * labels.std())
