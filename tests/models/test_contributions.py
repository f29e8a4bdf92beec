"""Contributions: by all orders on random models, what they add up to, and what is left without one of the tokens."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from tests.models.contributions_by_hand import contributions

import clearset as cs
from clearset.functions import Support

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


def randomise(function, rng):
    """Make all parameters random; rho rises, as it always does."""
    for name, table in function.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    function.rho_calibrators.sort(axis=1)
    function.rho_output.sort(axis=1)
    cube = function.rho_vertices.reshape(-1, *(2,) * function.width)
    for axis in range(1, cube.ndim):
        cube.sort(axis=axis)


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
    randomise(model.set_function_, np.random.default_rng(10 + width))
    return model, model.explain(X)


def predicted(model, X, labels):
    """Predict through what users call: a number, or the probability of each row's label."""
    if labels is None:
        return model.predict(X)
    return model.predict_proba(X)[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]


def totals(explanation, n=N):
    sums = np.zeros(n)
    for table in (explanation.tokens, explanation.of_sets):
        np.add.at(sums, table["set"].to_numpy(), table["contribution"].to_numpy())
    return sums


@pytest.mark.parametrize("case", CASES)
def test_contributions_lead_from_the_base_rate_to_the_prediction(case):
    _, explanation = explained(*case)
    assert explanation.aggregate.shape == (N, case[2])
    np.testing.assert_allclose(explanation.base + totals(explanation), explanation.prediction, atol=1e-9, rtol=0)
    shares = np.zeros(N)
    np.add.at(shares, explanation.tokens["set"].to_numpy(), explanation.tokens["share"].to_numpy())
    np.testing.assert_allclose(shares, 1.0, atol=1e-9, rtol=0)


@pytest.mark.parametrize("case", [case for case in CASES if case[2] == 1 or case[1] == "three"])
def test_a_token_above_the_base_rate_never_lowers_the_prediction(case):
    _, explanation = explained(*case)
    known = explanation.tokens["token"].is_valid().to_numpy(zero_copy_only=False)
    scores, added = (explanation.tokens[name].to_numpy()[known] for name in ("score", "contribution"))
    assert (added[scores >= 0] >= 0).all()
    assert (added[scores <= 0] <= 0).all()
    assert (added > 0).any()
    assert (added < 0).any()


@pytest.mark.parametrize("case", CASES)
def test_predictions_are_those_of_the_model(case):
    model, explanation = explained(*case)
    X = pa.table(SETS) if case[0] == "sets" else BASKETS
    np.testing.assert_allclose(explanation.prediction, predicted(model, X, explanation.label), atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_without_is_the_prediction_for_what_is_left(case):
    model, explanation = explained(*case)
    rows = [row for row in explanation.tokens.to_pylist() if row["without"] is not None]
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


FEATURES = ["stars", cs.Feature("colour", kind="categorical"), "price", cs.SIZE]
FORMS = [(labels, width) for labels in ("number", "poisson", "two", "three") for width in (1, 2, 3)]


@cache
def small_model(labels, width, n_features):
    y = np.random.default_rng(1).poisson(3.0, 100) if labels == "poisson" else LABELS[labels][:100]
    estimator = cs.SetRegressor if labels in ("number", "poisson") else cs.SetClassifier
    options = {"loss": "poisson"} if labels == "poisson" else {}
    model = estimator(FEATURES[:n_features], width=width, keypoints=4, **options, **QUICK)
    return model.fit(pa.table(SETS).slice(0, 100), y).as_model()


@pytest.mark.parametrize("seed", range(200))
def test_contributions_equal_those_of_all_orders_written_out(seed):
    rng = np.random.default_rng(seed)
    labels, width = FORMS[seed % len(FORMS)]
    model = small_model(labels, width, int(rng.integers(1, 5)))
    function = model.function.copy()
    randomise(function, rng)
    base = rng.uniform(-0.5, 0.5, (function.outputs, width))
    tokens = int(rng.integers(1, 6))
    support = Support(base, tokens, rng.uniform(0.1, 2.0, model.binning.n_slots), rng.uniform(0, 1 / tokens))
    model = replace(model, function=replace(function, support=support))
    some = rng.permutation(np.flatnonzero(SIZES))[:2]
    X = pa.table(SETS).take(pa.array(some))
    explanation = model.explain(X)
    positions = model.binning.positions(model.read(X).sets, np.float64)
    names = [feature.name for feature in model.binning.features]
    per_set = {
        "flags": [name in ("price", cs.SIZE) for name in names],
        "slots": np.diff(model.binning.slot_offsets).tolist(),
    }
    for number, size in enumerate(SIZES[some].tolist()):
        column = 0 if labels != "three" else model.classes_.tolist().index(explanation.label[number])
        taken = slice(positions.offsets[number], positions.offsets[number + 1])
        expected = contributions(
            model.function,
            positions.slots[:, taken],
            positions.fractions[:, taken],
            per_set,
            size,
            model.link.name,
            column,
        )
        one = explanation[number]
        np.testing.assert_allclose(one.base, expected["base"], atol=1e-10)
        np.testing.assert_allclose(one.prediction, expected["prediction"], atol=1e-10)
        np.testing.assert_allclose(one.tokens["contribution"].to_numpy(), expected["tokens"], atol=1e-9, rtol=1e-8)
        shown = np.array(one.tokens["score"].to_pylist()).reshape(size, -1)
        np.testing.assert_allclose(shown, expected["scores"], atol=1e-9, rtol=1e-8)
        found = dict(zip(one.of_sets["feature"].to_pylist(), one.of_sets["contribution"].to_pylist(), strict=True))
        wanted = {names[d]: part for d, part in expected["of_set"].items()}
        assert found == pytest.approx(wanted, abs=1e-9)


def test_tokens_that_cancel_out_still_say_which_way_they_point():
    """The mean score is that of the base rate: no line leads from one to the other, so the curve's slope counts."""
    rng = np.random.default_rng(3)
    model = small_model("number", 1, 1)
    function = model.function.copy()
    randomise(function, rng)
    function.calibration[:] = np.linspace(0, 1, function.calibration.shape[1])
    function.vertices[:] = [[-0.5, 0.5]]
    low, high = (float(model.binning.keypoints[0][place]) for place in (0, -1))
    scores = replace(model, function=function).phi(pa.table({"stars": [[low, high]]})).scores
    base = np.array([[scores.mean()]])
    model = replace(model, function=replace(function, support=Support(base, 1, np.ones(model.binning.n_slots))))
    explanation = model.explain(pa.table({"stars": [[low, high]]}))
    first, second = explanation.tokens["contribution"].to_pylist()
    assert first < 0 < second
    assert first + second == pytest.approx(0, abs=1e-12)
