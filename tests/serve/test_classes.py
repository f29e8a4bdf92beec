"""Classes are the same values in all answers, and are asked for by them."""

from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.serve import create_app


def fitted(labels: list[Any]) -> Any:
    X = [["a"], ["b"], ["c"], ["a", "c"], ["b", "c"], ["a", "b"]] * 5
    options: dict[str, Any] = {"refine": False, "epochs": 1, "random_state": 0, "n_jobs": 1}
    return cs.SemanticClassifier(cs.Items(), **options).fit(X, np.array(labels * (30 // len(labels))))


@pytest.mark.parametrize(
    ("labels", "second", "others", "queries"),
    [
        ([1, 2, 3], 2, ["2", True, 2.5], ["2", "2.0"]),
        ([1.0, 2.0, 3.0], 2, ["2.0", True, [2]], ["2", "2.0"]),
        ([False, True], True, ["true", "True", 1], ["true", "True"]),
        (["1", "2", "3"], "2", [2, 2.0, "2.0"], ["2"]),
        (["no", "true", "yes"], "true", [True, "True", {}], ["true"]),
    ],
)
def test_one_rule_for_all(client: Any, labels: list[Any], second: Any, others: list[Any], queries: list[str]) -> None:
    model = fitted(labels)
    connected = client(create_app(model))
    classes = connected.get("/api/model").json()["classes"]
    assert [(type(each), each) for each in classes] == [(type(each), each) for each in labels]
    predicted = connected.post("/api/predict", json={"sets": [["a"], ["b"]]}).json()
    assert predicted["classes"] == classes
    assert [type(each) for each in predicted["predictions"]] == [type(labels[0])] * 2
    answer = connected.post("/api/explain", json={"sets": [["a"]], "label": second})
    assert answer.status_code == 200
    (one,), (curve,) = answer.json()["sets"], answer.json()["rho"]
    assert (type(one["label"]), one["label"], curve["label"]) == (type(labels[0]), second, second)
    for other in others:
        answer = connected.post("/api/explain", json={"sets": [["a"]], "label": other})
        assert (answer.status_code, "There is no class" in answer.json()["message"]) == (400, True)
    expected = connected.get("/api/tokens", params={"label": queries[0]})
    assert expected.status_code == 200
    for query in queries:
        assert connected.get("/api/tokens", params={"label": query}).json() == expected.json()
    if len(labels) > 2:
        means = {row["token"][0]: row["mean"] for row in expected.json()["tokens"]}
        table = {row["token"][0]: row for row in model.token_table_.to_arrow().to_pylist()}
        for token, mean in means.items():
            assert mean == pytest.approx(model.token_table_.means[list(table).index(token), 1])
    assert connected.get("/api/tokens", params={"label": "[" * 20_000}).status_code == 400


def test_the_first_of_two(client: Any, cook: Any) -> None:
    answer = client(create_app(cook)).post("/api/explain", json={"sets": [["salt"]], "label": "mexican"})
    assert answer.status_code == 400
    assert 'the second, "other"' in answer.json()["message"]


def test_no_classes(client: Any, regressor: Any) -> None:
    answer = client(create_app(regressor)).post("/api/explain", json={"sets": [{}], "label": 1})
    assert "no classes; leave 'label' out" in answer.json()["message"]


def test_of_several_classes_one_must_be_named(client: Any, cook: Any) -> None:
    connected = client(create_app(fitted(["no", "true", "yes"])))
    answer = connected.get("/api/tokens")
    assert answer.status_code == 400
    assert """'label' is missing""" in answer.json()["message"]
    assert """["no", "true", "yes"]""" in answer.json()["message"]
    assert client(create_app(cook)).get("/api/tokens").status_code == 200
