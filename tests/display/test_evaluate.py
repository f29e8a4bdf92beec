"""The numbers in the browser are those of Python."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.functions import Support
from clearset.models import report_document

from ..random_models import of_items, of_sets, predictions, randomise

REPEATS = {"sets": 5, "items": 4}
NEAR = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture
def evaluator(modules: Any) -> Any:
    """Give what the browser says of each of a document's examples."""

    def said(document: dict[str, Any]) -> list[dict[str, Any]]:
        return modules.evaluate(
            """async (text) => {
                const model = JSON.parse(text);
                const { explain } = await import("/contributions.js");
                const kind = await import(model.semantic ? "/tokens.js" : "/evaluate.js");
                const { followed } = await import("/evaluate.js");
                return model.examples.map((example) => {
                    const result = kind.evaluate(model, example);
                    const c = model.support.base.length > 1 ? result.chosen : 0;
                    const left = kind.without(model, example, result);
                    const asUsual = kind.asUsual(model, model.semantic ? result : example);
                    return {
                        estimates: result.estimates,
                        without: result.scores.map((_, i) => left && followed(model, left(i), c)),
                        mean: result.means.slice(c * model.function.width, (c + 1) * model.function.width),
                        base_scores: model.support.base[c],
                        names: model.features.map(({ name }) => name),
                        ...explain(model, result, c, asUsual),
                    };
                });
            }""",
            json.dumps(document, allow_nan=False),
        )

    return said


def with_support(estimator: Any, rng: np.random.Generator) -> Any:
    """Return the model with another base rate, small sets drawn to it, and a prediction for empty sets, or none."""
    model = estimator.as_model()
    for name, table in model.function.tables.items():
        table[:] = np.round(table, 6)  # pages hold not many more digits
        if name.startswith("rho"):
            table.sort(axis=-1)  # it rises, as that of any fitted model
    shape, n_slots = (model.link.n_outputs, model.function.width), model.binning.n_slots
    counts = rng.poisson(3.0, n_slots) if rng.random() < 0.8 else np.zeros(n_slots)
    tokens = int(rng.integers(1, 5))
    support = Support(rng.uniform(-0.4, 0.4, shape), tokens, counts.astype(float), rng.uniform(0, 1 / tokens))
    always = model.semantic or rng.random() < 0.5
    nothing = rng.normal(size=model.link.n_outputs) if always else None
    function = replace(model.function, support=support)
    return replace(model, function=function, link=replace(model.link, nothing=nothing))


@pytest.mark.parametrize("kind", ["sets", "items"])
def test_random_models(kind: str, evaluator: Any) -> None:
    rng, n_models, seen = np.random.default_rng(0), 0, set()
    for estimator, X in (of_sets if kind == "sets" else of_items)(rng):
        for _ in range(REPEATS[kind]):
            randomise(estimator, rng)
            model = with_support(estimator, rng)
            said = evaluator(report_document(model, X))
            assert len(said) == len(X)
            explained = model.explain(X, effects=False)
            compare(said, explained, repr(model))
            got = np.array([one["estimates"] for one in said])
            np.testing.assert_allclose(got, predictions(model, X), **NEAR, err_msg=repr(model))
            sizes = np.bincount(explained.tokens["set"], minlength=len(X))
            seen |= {(model.support.tokens, int(size)) for size in sizes}
            n_models += 1
    assert n_models >= 60
    assert {(4, 1), (4, 3), (2, 1), (1, 1)} <= seen


def compare(said: list[dict[str, Any]], explained: Any, about: str) -> None:
    """Compare what the browser says with what Python does."""
    near = {**NEAR, "err_msg": about}
    np.testing.assert_allclose([one["base"] for one in said], explained.base, **near)
    np.testing.assert_allclose([one["prediction"] for one in said], explained.prediction, **near)
    means = [np.subtract(one["mean"], one["base_scores"]) for one in said]
    np.testing.assert_allclose(means, explained.aggregate, **near)
    for place, one in enumerate(said):
        alone = explained[place]
        tokens, of_set = alone.tokens.to_pylist(), alone.of_sets.to_pylist()
        np.testing.assert_allclose(
            [token["adds"] for token in one["tokens"]], [t["contribution"] for t in tokens], **near
        )
        scores = [np.atleast_1d(token["score"]) for token in tokens]
        np.testing.assert_allclose([token["scores"] for token in one["tokens"]], scores, **near)
        left = np.array(one["without"], float)
        np.testing.assert_allclose(left, np.array([token["without"] for token in tokens], float), **near)
        rows = {one["names"][row["feature"]]: (row["scores"], row["adds"]) for row in one["ofSet"]}
        whole = {row["feature"]: (np.atleast_1d(row["score"]), row["contribution"]) for row in of_set}
        assert len(rows) == len(whole), (rows, whole)
        for (score, adds), (expected, contribution) in zip(rows.values(), whole.values(), strict=True):
            np.testing.assert_allclose(score, expected, **near)
            np.testing.assert_allclose(adds, contribution, **near)
        parts = [*(token["adds"] for token in one["tokens"]), *(row["adds"] for row in one["ofSet"])]
        np.testing.assert_allclose(one["base"] + sum(parts), one["prediction"], **near)


@pytest.mark.parametrize("width", [1, 3])
def test_effects_of_features(width: int, modules: Any) -> None:
    rng = np.random.default_rng(5)
    names = ["a", "b", "kind"]
    numbers = {name: rng.normal(size=(60, 1)).tolist() for name in names[:2]}
    X = pa.table({**numbers, "kind": rng.choice(["u", "v", "w"], (60, 1)).tolist()})
    features = [*names[:2], cs.Feature("kind", kind="categorical")]
    labels = rng.choice(["x", "y", "z"], 60)
    estimator = cs.SetClassifier(features, width, epochs=1, random_state=0, n_jobs=1).fit(X, labels)
    randomise(estimator, rng)
    model = with_support(estimator, rng)
    script = """async ([text, asked]) => {
        const model = JSON.parse(text);
        const { effect } = await import("/evaluate.js");
        return asked.map(([d, value]) => [0, 1, 2].map((c) => effect(model, c, d, value)));
    }"""
    values = [[0, -0.3], [1, 0.7], [1, 9.0], [2, 1], [2, None]]
    got = modules.evaluate(script, [json.dumps(report_document(model)), values])
    # A missing value is what a feature is on average, where the calibrators say so; then phi tells the same.
    calibration, binning = model.function.calibration.copy(), model.binning
    slots = [binning.slots_of(name) for name in names]
    for d, (value, effects) in zip([d for d, _ in values], zip([v for _, v in values], got, strict=True), strict=True):
        changed = calibration.copy()
        for other in {0, 1, 2} - {d}:
            counts = model.support.counts[slots[other]]
            weights = counts if counts.sum() else np.ones(len(counts))
            changed[:, slots[other].stop] = np.average(calibration[:, slots[other]], axis=1, weights=weights)
        token = {name: pa.array([[None]], pa.list_(pa.float64())) for name in names[:2]}
        token["kind"] = pa.array([[None]], pa.list_(pa.string()))
        if value is not None:
            token[names[d]] = pa.array([[value if d < 2 else "uvw"[value]]])
        scores = replace(model, function=replace(model.function, calibration=changed)).phi(pa.table(token)).scores
        np.testing.assert_allclose(effects, scores.reshape(3, width) - model.support.base, **NEAR)


def test_keypoints_far_apart_and_values_outside(evaluator: Any) -> None:
    numbers = np.array([[-1.5e308], [0.0], [1.0], [1.7e308]])
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(numbers, [0.0, 1.0, 2.0, 3.0])
    X = np.array([[-1.7e308], [-1e308], [0.5], [1e300], [1.79e308]])
    got = np.array([one["estimates"] for one in evaluator(report_document(model, X))])
    np.testing.assert_allclose(got, predictions(model, X), atol=1e-5)


def test_without_data_every_feature_is_a_tokens_own(evaluator: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(40, 2))
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(X, X.sum(axis=1))
    document = report_document(model)
    assert document["examples"] == []
    document["examples"] = [{"tokens": [row.tolist()], "set": [None, None]} for row in X]
    got = np.array([one["estimates"] for one in evaluator(document)])
    np.testing.assert_allclose(got, predictions(model, X), atol=1e-5)
