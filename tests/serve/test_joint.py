"""Joint models served: rows of several columns in, predictions and explanations down to tokens out, and the page."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.serve import create_app

from .schemas import fits

N = 150


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    rng = np.random.default_rng(0)
    items = [rng.choice(list("abcd"), rng.integers(1, 4), replace=False).tolist() for _ in range(N)]
    texts = [" ".join(rng.choice(["great", "bad", "lamp", "light", "old"], 4)) for _ in range(N)]
    shop = pa.array([("x", "y")[row % 2] for row in range(N)]).dictionary_encode()
    return pa.table({"items": items, "review": texts, "price": rng.uniform(size=N), "shop": shop})


@pytest.fixture(scope="module", params=["number", "three classes"])
def model(rows: pa.Table, request: Any) -> Any:
    y = np.array([("a" in row["items"]) + ("great" in row["review"]) for row in rows.to_pylist()])
    y = y + rows["price"].to_numpy() if request.param == "number" else np.array(["bad", "fair", "good"])[y]
    kind = cs.SetRegressor if request.param == "number" else cs.SetClassifier
    engines = {"items": cs.Items(), "review": cs.NGrams(1)}
    return cs.JointModel(engines, kind(epochs=3, n_jobs=1), epochs=1, random_state=0).fit(rows, y)


def as_json(rows: pa.Table) -> list[dict[str, Any]]:
    return rows.to_pylist()


def test_predictions_and_explanations_are_the_models(client: Any, model: Any, rows: pa.Table) -> None:
    connected, some = client(create_app(model)), rows.slice(0, 5)
    answer = connected.post("/api/predict", json={"sets": as_json(some)})
    assert answer.status_code == 200, answer.text
    assert answer.json()["predictions"] == model.predict(some).tolist()
    found = connected.post("/api/explain", json={"sets": as_json(some)}).json()
    explanation = model.explain(some)
    assert [one["prediction"] for one in found["sets"]] == pytest.approx(explanation.prediction.tolist())
    for one, wanted in zip(found["sets"], explanation, strict=True):
        added = [part["contribution"] for part in (*one["tokens"], *one["of_set"])]
        assert one["base"] + sum(added) == pytest.approx(one["prediction"])
        assert [token["token"] for token in one["tokens"]] == wanted.tokens["token"].to_pylist()
    assert list(found["engines"]) == ["items", "review"]


def test_answers_are_as_described(client: Any, model: Any, rows: pa.Table) -> None:
    connected = client(create_app(model, rows))
    paths = connected.get("/openapi.json").json()["paths"]
    assert "/api/edit" not in paths
    assert "/api/tokens" not in paths
    sets = [*as_json(rows.slice(0, 2)), {"items": None, "review": None, "price": None, "shop": None}]
    asked = {"/api/predict": {"sets": sets}, "/api/explain": {"sets": sets, "effects": True}}
    answers = {path: ("post", connected.post(path, json=body)) for path, body in asked.items()}
    answers |= {path: ("get", connected.get(path)) for path in ("/api/model", "/health")}
    answers["/api/example"] = ("get", connected.get("/api/example?row=3"))
    for path, (method, answer) in answers.items():
        assert answer.status_code == 200, answer.text
        schema = paths[path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert fits(answer.json(), schema), (path, answer.json())
    body = paths["/api/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    one = body["properties"]["sets"]["items"]
    assert set(one["properties"]) == {"items", "review", "price", "shop"}
    assert fits(sets[0], one)
    assert not fits({**sets[0], "other": 1}, one)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ("a text", "Set 0 is a text; it must be an object with the columns 'items', 'review'"),
        ({"items": ["a"], "review": "great", "price": 1.0}, "shop"),
        ({"items": ["a"], "review": "great", "price": 1.0, "shop": "x", "more": 1}, "'more', which the model does not"),
        ({"items": "a", "review": "great", "price": 1.0, "shop": "x"}, "Set 0 has a text as 'items'"),
        ({"items": ["a"], "review": "great", "price": "1", "shop": "x"}, "'price'"),
    ],
)
def test_rows_that_cannot_be(client: Any, model: Any, one: Any, said: str) -> None:
    answer = client(create_app(model)).post("/api/predict", json={"sets": [one]})
    assert answer.status_code == 400
    assert said in answer.json()["message"]


def test_edits_are_of_parts(client: Any, model: Any) -> None:
    answer = client(create_app(model)).post("/api/edit", json={"edits": []})
    assert answer.status_code == 404
    assert "edited by its parts" in answer.json()["message"]


def test_two_models_are_compared(client: Any, model: Any, rows: pa.Table) -> None:
    y = model.predict(rows)
    other = model.as_model().with_part("items", model.as_model().engines["items"].edit().drop_token("a").model)
    page = client(create_app(model, rows, y, other=("before", other))).get("/").text
    assert '"comparison":' in page
    assert "items: a" in page
    plain = cs.SetRegressor(epochs=1).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="cannot be compared with"):
        create_app(model, rows, other=("plain", plain))
