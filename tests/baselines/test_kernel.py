"""The mean kernel of tokens, and the machines on it."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.baselines import SupportDistributionClassifier, SupportDistributionRegressor
from clearset.baselines._encoding import TokenValues
from clearset.baselines._kernel import KernelFeatures, mean_kernel


def tokens(n: int, seed: int) -> TokenValues:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 6, n))])
    return TokenValues(rng.normal(size=(int(offsets[-1]), 3)), offsets)


def by_loops(left: TokenValues, right: TokenValues, gamma: float) -> np.ndarray:
    kernel = np.exp(-gamma * ((left.values[:, None] - right.values[None]) ** 2).sum(axis=2))
    return np.array([[kernel[a:b, c:d].mean() for c, d in pairwise(right.offsets)] for a, b in pairwise(left.offsets)])


@pytest.mark.parametrize("block", [1, 40, 4_000_000])
def test_the_kernel_is_the_mean_of_all_pairs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearset.baselines._kernel.BLOCK_VALUES", block)
    left, right = tokens(7, 0), tokens(5, 1)
    np.testing.assert_allclose(mean_kernel(left, right, 0.7), by_loops(left, right, 0.7), rtol=1e-12)


def test_features_of_landmarks_have_the_exact_kernel() -> None:
    known, fresh = tokens(12, 0), tokens(9, 1)
    features = KernelFeatures.of(known, 0.5)
    np.testing.assert_allclose(features(fresh) @ features(known).T, by_loops(fresh, known, 0.5), atol=1e-9)


def test_nystroem_with_all_tokens_is_exact() -> None:
    sets = tokens(12, 0)
    every = TokenValues(sets.values, np.arange(len(sets.values) + 1))
    features = KernelFeatures.of(every, 0.5)(sets)
    np.testing.assert_allclose(features @ features.T, by_loops(sets, sets, 0.5), atol=1e-9)
    # Features of a set are the mean of those of its tokens.
    single = KernelFeatures.of(every, 0.5)(every)
    expected = [single[a:b].mean(axis=0) for a, b in pairwise(sets.offsets)]
    np.testing.assert_allclose(features, expected, atol=1e-9)


NAMES = ["a", "b", "c"]


def set_data(n: int, seed: int = 0) -> cs.SetData:
    return cs.SetData(*tokens(n, seed), NAMES)


def label(X: cs.SetData) -> np.ndarray:
    return np.add.reduceat(X.values[:, 0] ** 2, X.offsets[:-1]) / X.sizes


def test_ridge_by_the_dual() -> None:
    """With the intercept b: (K + alpha I) a = y - b and sum(a) = 0."""
    X, fresh = set_data(40), set_data(15, seed=1)
    y = label(X)
    model = SupportDistributionRegressor(NAMES, gamma=0.3, alpha=0.2).fit(X, y)
    assert model.exact_

    def encoded(sets: cs.SetData) -> TokenValues:
        return TokenValues((sets.values - X.values.mean(axis=0)) / X.values.std(axis=0), sets.offsets)

    kernel = by_loops(encoded(X), encoded(X), 0.3)
    system = np.block([[kernel + 0.2 * np.eye(40), np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    dual = np.linalg.solve(system, np.append(y, 0.0))
    expected = by_loops(encoded(fresh), encoded(X), 0.3) @ dual[:40] + dual[40]
    np.testing.assert_allclose(model.predict(fresh), expected, atol=1e-7)


@pytest.mark.parametrize("cls", [SupportDistributionRegressor, SupportDistributionClassifier])
def test_the_machine_with_all_tokens_as_landmarks_is_the_exact_one(cls: Any) -> None:
    X, fresh = set_data(60), set_data(20, seed=1)
    y = label(X) if cls is SupportDistributionRegressor else np.digitize(label(X), [0.5, 1.2])
    exact = cls().fit(X, y)
    landmarks = cls(max_exact=0, n_landmarks=10_000).fit(X, y)
    assert exact.exact_
    assert not landmarks.exact_
    output = "predict" if cls is SupportDistributionRegressor else "predict_proba"
    np.testing.assert_allclose(getattr(landmarks, output)(fresh), getattr(exact, output)(fresh), atol=1e-4)


@pytest.mark.parametrize("max_exact", [0, 2000])
def test_what_no_mean_tells_is_learned(max_exact: int) -> None:
    X, fresh = set_data(600), set_data(300, seed=1)
    options: dict[str, Any] = {"features": NAMES, "max_exact": max_exact, "n_landmarks": 100, "random_state": 0}
    assert SupportDistributionRegressor(**options).fit(X, label(X)).score(fresh, label(fresh)) > 0.85
    model = SupportDistributionClassifier(**options).fit(X, label(X) > 0.8)
    assert model.score(fresh, label(fresh) > 0.8) > 0.9
    shares = model.predict_proba(fresh)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.decision_function(fresh) > 0, shares[:, 1] > 0.5)


def test_many_tokens_are_not_paired_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearset.baselines._support_distributions.MAX_EXACT_TOKENS", 50)
    X = set_data(60)
    assert not SupportDistributionRegressor(n_landmarks=5).fit(X, label(X)).exact_


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_class_without_weight_has_probability_0(n_classes: int) -> None:
    X = set_data(60)
    y = np.arange(60) % n_classes
    names = np.array(["a", "b", "c", "d"])[y]
    weights = (y != 1).astype(float)
    model = SupportDistributionClassifier().fit(X, names, sample_weight=weights)
    alone = SupportDistributionClassifier().fit(X[np.flatnonzero(weights)], names[y != 1])
    assert model.classes_.tolist() == list("abcd"[:n_classes])
    shares = model.predict_proba(X)
    np.testing.assert_array_equal(shares[:, 1], 0.0)
    np.testing.assert_allclose(np.delete(shares, 1, axis=1), alone.predict_proba(X), atol=1e-12)
    assert model.predict(X).tolist() == alone.predict(X).tolist()
    assert model.decision_function(X).shape == (60, n_classes)


def test_one_class_with_weight_is_too_few() -> None:
    weights = np.arange(60) % 2
    with pytest.raises(ValueError, match=r"needs at least two classes whose sets have weight; only 'b' has"):
        SupportDistributionClassifier().fit(set_data(60), np.array(["a", "b"])[weights], sample_weight=weights)
