"""The numbers in the browser are those of Python."""

import json
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.models import report_document

from ..random_models import of_items, of_sets, predictions, randomise

REPEATS = {"sets": 5, "items": 4}


@pytest.fixture
def evaluator(modules: Any) -> Any:
    """Give what the browser says of a document's examples: with all their tokens, and without each."""

    def said(document: dict[str, Any]) -> tuple[Any, Any]:
        return modules.evaluate(
            """async (text) => {
                const model = JSON.parse(text);
                const { evaluate, without } = await import(model.semantic ? "/tokens.js" : "/evaluate.js");
                const results = model.examples.map((example) => evaluate(model, example));
                return [
                    results.map(({ estimates }) => estimates),
                    results.map((result, i) => {
                        const left = without(model, model.examples[i], result);
                        const c = model.classes && model.classes.length === 2 ? 1 : result.chosen || 0;
                        return (result.rows || result.scores).map(
                            (row, at) => left && left(model.semantic ? row : at).estimates[c],
                        );
                    }),
                ];
            }""",
            json.dumps(document, allow_nan=False),
        )

    return said


@pytest.mark.parametrize("kind", ["sets", "items"])
def test_predictions_of_random_models(kind: str, evaluator: Any) -> None:
    rng, n_models = np.random.default_rng(0), 0
    for model, X in (of_sets if kind == "sets" else of_items)(rng):
        for _ in range(REPEATS[kind]):
            randomise(model, rng)
            document = report_document(model, X)
            expected = predictions(model, X)
            said, without = evaluator(document)
            got = np.array(said)
            assert len(got) == len(X)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=repr(model))
            tokens = model.explain(X, effects=False).tokens
            left = tokens["without"].to_numpy(zero_copy_only=False).astype(float)
            sizes = np.bincount(tokens["set"], minlength=len(X))
            shown = [row[:size] for row, size in zip(without, sizes.tolist(), strict=True)]
            shown = np.array([value for row in shown for value in row], float)
            np.testing.assert_allclose(shown, left, rtol=1e-5, atol=1e-5, err_msg=repr(model))
            n_models += 1
    assert n_models >= 60


def test_keypoints_far_apart_and_values_outside(evaluator: Any) -> None:
    numbers = np.array([[-1.5e308], [0.0], [1.0], [1.7e308]])
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(numbers, [0.0, 1.0, 2.0, 3.0])
    X = np.array([[-1.7e308], [-1e308], [0.5], [1e300], [1.79e308]])
    got = np.array(evaluator(report_document(model, X))[0])
    np.testing.assert_allclose(got, predictions(model, X), atol=1e-5)


def test_without_data_every_feature_is_a_tokens_own(evaluator: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(40, 2))
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(X, X.sum(axis=1))
    document = report_document(model)
    assert document["examples"] == []
    document["examples"] = [{"tokens": [row.tolist()], "set": [None, None]} for row in X]
    np.testing.assert_allclose(np.array(evaluator(document)[0]), predictions(model, X), atol=1e-5)
