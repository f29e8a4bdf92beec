"""Contributions of 1,000 random sets: what they add up to, and what is left without one of them."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

N = 1000
WIDTHS = (1, 2, 4)
RNG = np.random.default_rng(0)
SIZES = RNG.integers(0, 7, N)
ITEMS = [f"item {k}" for k in range(12)]
SETS = {
    "stars": [RNG.integers(1, 6, size).astype(float).tolist() for size in SIZES],
    "colour": [RNG.choice(["red", "green", "blue"], size).tolist() for size in SIZES],
    "price": RNG.random(N).tolist(),
}
BASKETS = [RNG.choice(ITEMS, size, replace=False).tolist() for size in SIZES]
LABELS = {"number": RNG.normal(size=N), "two": RNG.choice(["n", "y"], N), "three": RNG.choice(["a", "b", "c"], N)}
QUICK = {"epochs": 1, "random_state": 0, "n_jobs": 1}
CASES = [(kind, labels, width) for kind in ("sets", "items") for labels in LABELS for width in WIDTHS]


@cache
def explained(kind, labels, width):
    """Fit for the keypoints, make all parameters random, and explain."""
    y = LABELS[labels]
    if kind == "sets":
        features = ["stars", cs.Feature("colour", kind="categorical"), "price", cs.SIZE]
        estimator = cs.SetRegressor if labels == "number" else cs.SetClassifier
        model, X = estimator(features, width=width, **QUICK), pa.table(SETS)
    else:
        estimator = cs.SemanticRegressor if labels == "number" else cs.SemanticClassifier
        value = "mean_label" if labels == "number" else "log_odds"
        options = {"tokens": cs.Items(), "features": [value, "count", "tokens"], "refine": False, "cross_fit": None}
        model, X = estimator(width=width, **options, **QUICK), BASKETS
    model.fit(X, y)
    rng = np.random.default_rng(width)
    for name, table in model.set_function_.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    return model, model.explain(X)


def predicted(model, X, labels):
    """Predict through what users call: a number, or the probability of each row's label."""
    if labels is None:
        return model.predict(X)
    return model.predict_proba(X)[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]


@pytest.mark.parametrize("case", CASES)
def test_contributions_add_up_to_the_aggregate_and_shares_to_1(case):
    _, explanation = explained(*case)
    assert explanation.aggregate.shape == (N, case[2])
    sums, shares = np.zeros((N, case[2])), np.zeros(N)
    for row in explanation.to_frame().to_pylist():
        sums[row["set"]] += row["contribution"]
        shares[row["set"]] += row["share"]
    np.testing.assert_allclose(sums, explanation.aggregate, atol=1e-6, rtol=0)
    np.testing.assert_allclose(shares, 1.0, atol=1e-9, rtol=0)


@pytest.mark.parametrize("case", CASES)
def test_predictions_are_those_of_the_model(case):
    model, explanation = explained(*case)
    X = pa.table(SETS) if case[0] == "sets" else BASKETS
    np.testing.assert_allclose(explanation.prediction, predicted(model, X, explanation.label), atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_without_is_the_prediction_for_what_is_left(case):
    model, explanation = explained(*case)
    rows = [row for row in explanation.to_frame().to_pylist() if row["without"] is not None]
    assert {row["set"] for row in rows} == set(np.flatnonzero(SIZES > 1).tolist())
    assert len(rows) == SIZES[SIZES > 1].sum()
    if case[0] == "sets":
        left = {"price": [SETS["price"][row["set"]] for row in rows]}
        for name in ("stars", "colour"):
            left[name] = [np.delete(SETS[name][row["set"]], row["token"]).tolist() for row in rows]
        left = pa.table(left)
    else:
        left = [[item for item in BASKETS[row["set"]] if [item] != row["token"]] for row in rows]
    labels = None if explanation.label is None else explanation.label[[row["set"] for row in rows]]
    np.testing.assert_allclose([row["without"] for row in rows], predicted(model, left, labels), atol=1e-9, rtol=0)
