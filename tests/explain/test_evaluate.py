"""The numbers in the browser are those of Python."""

import json
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.explain import report_document
from clearset.explain._render import template

from .random_models import of_items, of_sets, predictions, randomise

REPEATS = {"sets": 5, "items": 4}


@pytest.fixture
def evaluator(page: Any) -> Any:
    page.set_content(f"<!doctype html><script>{template('evaluate.js')}\n{template('tokens.js')}</script>")

    def estimates(document: dict[str, Any]) -> list[Any]:
        return page.evaluate(
            """(text) => {
                const model = JSON.parse(text);
                const evaluate = model.semantic ? Tokens.evaluate : Evaluate.evaluate;
                return model.examples.map((example) => evaluate(model, example).estimates);
            }""",
            json.dumps(document, allow_nan=False),
        )

    return estimates


@pytest.mark.parametrize("kind", ["sets", "items"])
def test_predictions_of_random_models(kind: str, evaluator: Any) -> None:
    rng, n_models = np.random.default_rng(0), 0
    for model, X in (of_sets if kind == "sets" else of_items)(rng):
        for _ in range(REPEATS[kind]):
            randomise(model, rng)
            document = report_document(model, X)
            expected = predictions(model, X)
            got = np.array(evaluator(document))
            assert len(got) == len(X)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=repr(model))
            n_models += 1
    assert n_models >= 60


def test_keypoints_far_apart_and_values_outside(evaluator: Any) -> None:
    numbers = np.array([[-1.5e308], [0.0], [1.0], [1.7e308]])
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(numbers, [0.0, 1.0, 2.0, 3.0])
    X = np.array([[-1.7e308], [-1e308], [0.5], [1e300], [1.79e308]])
    got = np.array(evaluator(report_document(model, X)))
    np.testing.assert_allclose(got, predictions(model, X), atol=1e-5)


def test_without_data_every_feature_is_a_tokens_own(evaluator: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(40, 2))
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(X, X.sum(axis=1))
    document = report_document(model)
    assert document["examples"] == []
    document["examples"] = [{"tokens": [row.tolist()], "set": [None, None]} for row in X]
    np.testing.assert_allclose(np.array(evaluator(document)), predictions(model, X), atol=1e-5)
