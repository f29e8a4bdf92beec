"""Which shrinkage the labels ask for: of tokens that differ little, and of tokens that decide."""

import numpy as np
import pytest

import clearset as cs


def sets(spread: float, n: int = 3000):
    """Make sets of 1 to 9 of 1,000 items; an item moves the log-odds by numbers of this standard deviation."""
    rng = np.random.default_rng(0)
    weights = spread * rng.normal(size=1000)
    items = [rng.choice(1000, rng.integers(1, 10), replace=False) for _ in range(n)]
    odds = np.array([weights[some].sum() for some in items])
    return [[f"item {item}" for item in some] for some in items], rng.random(n) < 1 / (1 + np.exp(-odds))


def test_the_less_tokens_differ_the_more_means_are_mixed_with_the_prior():
    strong, weak = (
        cs.SemanticClassifier(random_state=0, n_jobs=1, epochs=2).fit(*sets(spread)).setting_.shrinkage
        for spread in (6.0, 0.3)
    )
    assert strong < weak
    assert weak == 30.0


@pytest.mark.parametrize(("options", "expected"), [({"shrinkage": 2.5}, 2.5), ({"tokens": cs.Items()}, 1.0)])
def test_what_is_given_is_kept(options, expected):
    model = cs.SemanticClassifier(random_state=0, n_jobs=1, epochs=1, **options).fit(*sets(0.3, 300))
    assert model.setting_.shrinkage == expected


def test_without_folds_labels_cannot_tell():
    X, y = sets(0.3, 300)
    assert cs.SemanticClassifier(random_state=0, cross_fit=None, epochs=1).fit(X, y).setting_.shrinkage == 1.0
