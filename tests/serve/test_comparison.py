"""What changed between two models."""

from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.serve import check_alike, create_app
from clearset.serve._comparison import comparison


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    items = ["basil", "feta", "lime", "soy sauce"]
    X = [rng.choice(items, rng.integers(1, 4), replace=False).tolist() for _ in range(150)]
    y = np.array([["italian", "greek", "thai"][items.index(row[0]) % 3] for row in X])
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 6, "random_state": 0, "n_jobs": 1}
    first = cs.SemanticClassifier(cs.Subsets(2), **options).fit(X[:40], y[:40])
    return first, cs.SemanticClassifier(cs.Subsets(2), **options).fit(X, y), X, y


def compared(before: Any, after: Any, X: Any, y: Any = None, names: Any = None, **options: Any) -> Any:
    old, new = before.as_model(), after.as_model()
    return comparison(old, new, new.examples(X, y, names), **options)


def test_classes(models: Any) -> None:
    first, second, X, y = models
    found, churn = compared(first, second, X, y, name="last week's"), cs.churn(first, second, X, y)
    assert (found["n"], found["n_changed"]) == (150, len(churn.rows))
    assert found["changed"] == pytest.approx(churn.changed)
    assert [one["name"] for one in found["examples"]] == [f"Example {row}" for row in churn.rows[:40]]
    for one, row in zip(found["examples"], churn.rows, strict=False):
        assert (one["before"], one["after"]) == (first.predict([X[row]])[0], second.predict([X[row]])[0])
        assert (one["row"], one["items"], one["label"]) == (row, X[row], y[row])
        assert one["explained"] == one["after"]
        column = second.classes_.tolist().index(one["after"])
        shares = [model.predict_proba([X[row]])[0, column] for model in (first, second)]
        np.testing.assert_allclose(one["estimates"], shares, rtol=1e-9)
        for model, when, share in zip((first, second), ("before", "after"), shares, strict=True):
            explained = model.explain([X[row]], one["after"])
            rows = {token["token"]: token[when] for token in one["tokens"] if when in token}
            names = [" + ".join(token or ["no known token"]) for token in explained.tokens["token"].to_pylist()]
            assert rows.keys() == {"base rate", "number of items", "number of tokens", *names}
            assert rows["base rate"] == pytest.approx(explained.base[0])
            for name, adds in zip(names, explained.tokens["contribution"].to_pylist(), strict=True):
                assert rows[name] == pytest.approx(adds)
            assert sum(rows.values()) == pytest.approx(share)


def test_numbers(reviews: Any, regressor: Any) -> None:
    X, y = reviews
    other = cs.SetRegressor(regressor.features, epochs=1, random_state=1, n_jobs=1).fit(X, y)
    found = compared(other, regressor, X, y)
    assert 0 < found["n_changed"] == len(cs.churn(other, regressor, X).rows)
    errors = [np.mean(np.abs(model.predict(X) - y)) for model in (other, regressor)]
    assert {"name": "mean error", "before": pytest.approx(errors[0]), "after": pytest.approx(errors[1])} in found[
        "measures"
    ]
    gaps = [abs(one["before"] - one["after"]) for one in found["examples"]]
    assert gaps == sorted(gaps, reverse=True)
    assert all(one["explained"] is None for one in found["examples"])


def test_the_same_model_twice(reviews: Any, regressor: Any) -> None:
    found = compared(regressor, regressor, reviews[0])
    assert (found["n_changed"], found["changed"], found["examples"]) == (0, 0, [])


def test_a_comparison_needs_examples(regressor: Any) -> None:
    with pytest.raises(ValueError, match="compared on examples"):
        create_app(regressor, other=("old", regressor))


def test_models_of_different_classes_are_named(models: Any) -> None:
    _, second, X, y = models
    kept = y != "thai"
    fewer = cs.SemanticClassifier(cs.Items(), epochs=1, random_state=0, n_jobs=1)
    fewer.fit([row for row, keep in zip(X, kept, strict=True) if keep], y[kept])
    said = r"old and new know different classes: only new knows \['thai'\]"
    with pytest.raises(ValueError, match=said):
        check_alike(fewer, second, "old", "new")
    with pytest.raises(ValueError, match="old and this model know different classes"):
        create_app(second, X, other=("old", fewer))


def test_names_of_examples(models: Any) -> None:
    first, second, X, y = models
    names = [f"recipe {row}" for row in range(len(X))]
    found = compared(first, second, X, y, names)
    assert [one["name"] for one in found["examples"]] == [f"recipe {one['row']}" for one in found["examples"]]
    with pytest.raises(ValueError, match="2 names for 150 sets"):
        create_app(second, X, names=names[:2])


def test_two_classes_whichever_is_predicted_now() -> None:
    X = [["a"], ["b"]] * 20
    options: dict[str, Any] = {"epochs": 8, "random_state": 0, "n_jobs": 1, "refine": False}
    one = cs.SemanticClassifier(cs.Items(), **options).fit(X, ["no", "yes"] * 20)
    other = cs.SemanticClassifier(cs.Items(), **options).fit(X, ["yes", "no"] * 20)
    found = compared(one, other, [["a"], ["b"]])
    assert {each["after"] for each in found["examples"]} == {"no", "yes"}
    assert {each["explained"] for each in found["examples"]} == {"yes"}
