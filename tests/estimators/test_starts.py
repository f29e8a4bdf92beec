"""No start may be one that training cannot leave."""

import numpy as np
import pytest

import clearset as cs

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(300, 2))
RISING = np.exp(1.5 * X[:, 0]) + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_undeclared_features_are_learned_from_every_seed(width, sign):
    """Half of the seeds start with a lattice that slopes the wrong way."""
    for seed in range(4):
        model = cs.SetRegressor(width=width, epochs=80, random_state=seed).fit(X, sign * RISING)
        assert model.score(X, sign * RISING) > 0.95, seed


@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_classes_are_learned_from_every_seed(constraints):
    for seed in range(4):
        model = cs.SetClassifier(constraints=constraints, epochs=80, random_state=seed).fit(X, X[:, 0] > 0.1)
        assert model.score(X, X[:, 0] > 0.1) > 0.95, seed


def test_a_feature_may_have_its_best_value_in_the_middle():
    hill = 1.0 - X[:, 1] ** 2
    for seed in range(3):
        assert cs.SetRegressor(random_state=seed).fit(X, hill).score(X, hill) > 0.98
