"""Small sets of items whose label is known, up to noise, from an effect of each item."""

from typing import Any

import numpy as np

import clearset as cs

ITEMS = np.array([f"item {letter}" for letter in "abcdefghijkl"])
EFFECTS = dict(zip(ITEMS.tolist(), np.linspace(-2, 2, 12).tolist(), strict=True))
KINDS = ("number", "two", "many")
QUICK: dict[str, Any] = {"tokens": cs.Items(), "refine": False, "random_state": 0, "n_jobs": 1}


def sets(n: int = 400, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [rng.choice(ITEMS, rng.integers(1, 5)).tolist() for _ in range(n)]


def score(X: list[list[str]]) -> np.ndarray:
    return np.array([np.mean([EFFECTS[item] for item in set(row)]) for row in X])


def labels(X: list[list[str]], kind: str = "two", seed: int = 1) -> np.ndarray:
    noisy = score(X) + np.random.default_rng(seed).normal(0, 0.3, len(X))
    if kind == "number":
        return 100.0 + 10.0 * noisy
    if kind == "two":
        return (noisy > 0).astype(int)
    return np.array(["low", "middle", "high"])[np.digitize(noisy, [-0.5, 0.5])]


def engine(**options: Any) -> cs.SemanticFeatureEngine:
    return cs.SemanticFeatureEngine(**{**QUICK, "epochs": 10, **options})


def classifier(**options: Any) -> cs.SemanticClassifier:
    return cs.SemanticClassifier(**{**QUICK, "epochs": 10, **options})


def regressor(**options: Any) -> cs.SemanticRegressor:
    return cs.SemanticRegressor(**{**QUICK, "epochs": 10, **options})
