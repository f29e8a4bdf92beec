from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.serve import create_app
from clearset.serve._compare import comparison


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    items = ["basil", "feta", "lime", "soy sauce"]
    X = [rng.choice(items, rng.integers(1, 4), replace=False).tolist() for _ in range(150)]
    y = np.array([["italian", "greek", "thai"][items.index(row[0]) % 3] for row in X])
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 6, "random_state": 0, "n_jobs": 1}
    first = cs.SemanticClassifier(cs.Subsets(2), **options).fit(X[:40], y[:40])
    return first, cs.SemanticClassifier(cs.Subsets(2), **options).fit(X, y), X, y


def test_classes(models: Any) -> None:
    first, second, X, y = models
    found, churn = comparison(first, second, X, y, "last week's"), cs.churn(first, second, X, y)
    assert (found["n"], found["n_changed"]) == (150, len(churn.rows))
    assert found["changed"] == pytest.approx(churn.changed)
    assert [one["name"] for one in found["examples"]] == [f"Example {row}" for row in churn.rows[:40]]
    for one, row in zip(found["examples"], churn.rows, strict=False):
        assert (one["before"], one["after"]) == (first.predict([X[row]])[0], second.predict([X[row]])[0])
        assert one["label"] == y[row]
        assert one["explained"] == one["after"]
        column = second.classes_.tolist().index(one["after"])
        shares = [model.predict_proba([X[row]])[0, column] for model in (first, second)]
        np.testing.assert_allclose(one["estimates"], shares, rtol=1e-9)
        explained = second.explain([X[row]], one["after"])
        now = {token["token"]: token["after"] for token in one["tokens"] if "after" in token}
        names = [" + ".join(token) for token in explained.tokens["token"].to_pylist()]
        without = explained.tokens["without"].to_pylist()
        assert now.keys() == set(names)
        for name, left in zip(names, without, strict=True):
            assert now[name] == (None if left is None else pytest.approx(shares[1] - left))


def test_numbers(reviews: Any, regressor: Any) -> None:
    X, y = reviews
    other = cs.SetRegressor(regressor.features, epochs=1, random_state=1, n_jobs=1).fit(X, y)
    found = comparison(other, regressor, X, y)
    assert 0 < found["n_changed"] == len(cs.churn(other, regressor, X).rows)
    gaps = [abs(one["before"] - one["after"]) for one in found["examples"]]
    assert gaps == sorted(gaps, reverse=True)
    assert all(one["explained"] is None for one in found["examples"])


def test_the_same_model_twice(reviews: Any, regressor: Any) -> None:
    found = comparison(regressor, regressor, reviews[0])
    assert (found["n_changed"], found["changed"], found["examples"]) == (0, 0, [])


def test_a_comparison_needs_examples(regressor: Any) -> None:
    with pytest.raises(ValueError, match="compared on examples"):
        create_app(regressor, other=regressor)
