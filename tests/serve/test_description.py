"""The OpenAPI description: it names every route, and every answer is as it says."""

from collections.abc import Iterator
from typing import Any

import pytest

import clearset as cs
from clearset.serve import Access, create_app

from .schemas import fits

KEY = "a-key-of-the-tests"
NOTHING = {"stars": None, "store": None, "price": None}


@pytest.fixture(scope="module")
def engine() -> Any:
    texts = ["ripe cherry", "thin and sour", "ripe plum", "sour finish"] * 10
    options: dict[str, Any] = {"width": 2, "epochs": 2, "random_state": 0, "n_jobs": 1}
    return cs.SemanticFeatureEngine(cs.NGrams(2), **options).fit(texts, [94.0, 82.0, 92.0, 84.0] * 10)


def answers(connected: Any, sets: list[Any], items: list[str] | None) -> Iterator[tuple[str, str, Any]]:
    """Ask for everything that a model has an answer to."""
    asked: list[tuple[str, Any]] = [("/api/predict", {"sets": sets}), ("/api/explain", {"sets": sets})]
    asked.append(("/api/explain", {"sets": sets, "effects": True}))
    if items is not None:
        asked.append(("/api/known", {"items": items}))
        classes = connected.get("/api/model").json()["classes"]
        yield "/api/tokens", "get", connected.get("/api/tokens", params={"label": classes[-1]})
        yield "/api/items", "get", connected.get("/api/items", params={"search": items[0][:2]})
    for path, body in asked:
        yield path, "post", connected.post(path, json=body)
    yield "/api/example", "get", connected.get("/api/example", params={"row": 1})
    for path in ("/api/model", "/health"):
        yield path, "get", connected.get(path)


@pytest.mark.parametrize(
    ("name", "sets", "items"),
    [
        ("regressor", [{"stars": [5, None], "store": ["online", "market"], "price": 3}, NOTHING], None),
        ("cook", [["salt", "water"], ["no such thing"], []], ["salt", "water", "sugar"]),
        ("engine", ["ripe cherry", ""], ["ripe", "cherry"]),
    ],
)
def test_every_answer_is_as_described(
    request: pytest.FixtureRequest, client: Any, name: str, sets: list[Any], items: list[str] | None
) -> None:
    data = request.getfixturevalue("reviews")[0] if items is None else sets
    connected = client(create_app(request.getfixturevalue(name), data))
    paths = connected.get("/openapi.json").json()["paths"]
    for path, method, answer in answers(connected, sets, items):
        assert answer.status_code == 200, answer.text
        schema = paths[path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert set(schema["required"]) <= set(answer.json()) <= set(schema["properties"])
        assert fits(answer.json(), schema), (path, answer.json())


def test_members_that_are_not_described_would_be_seen(client: Any, cook: Any) -> None:
    connected = client(create_app(cook))
    described = connected.get("/openapi.json").json()["paths"]["/api/explain"]["post"]["responses"]["200"]
    schema = described["content"]["application/json"]["schema"]
    answer = connected.post("/api/explain", json={"sets": [["salt"]]}).json()
    assert fits(answer, schema)
    answer["sets"][0]["more"] = 1
    assert not fits(answer, schema)
    del answer["sets"][0]["more"], answer["sets"][0]["tokens"][0]["score"]
    assert not fits(answer, schema)


def test_the_description_names_every_route(client: Any, cook: Any) -> None:
    app = create_app(cook, [["salt"]])
    described = client(app).get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    routes = {(route.path, method) for route in app.routes for method in route.methods - {"HEAD"}}
    named = {(path, method.upper()) for path, each in described["paths"].items() for method in each}
    assert named == {route for route in routes if route[0] not in ("/", "/openapi.json", "/metrics")}
    assert described["paths"]["/api/explain"]["post"]["requestBody"]["required"]
    assert "20,000 rows" in described["info"]["description"]


def test_what_a_model_does_not_answer_is_not_described(client: Any, regressor: Any, cook: Any) -> None:
    connected = client(create_app(regressor))
    described = connected.get("/openapi.json").json()["paths"]
    absent = {"/api/example", "/api/tokens", "/api/items", "/api/known"}
    assert absent.isdisjoint(described)
    for path in absent:
        if path == "/api/known":
            answer = connected.post(path, json={"items": ["salt"]})
        else:
            answer = connected.get(path, params={"row": 0} if path == "/api/example" else None)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    of_two = client(create_app(cook)).get("/openapi.json").json()["paths"]
    label = of_two["/api/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"][
        "label"
    ]
    assert label["enum"] == ["other", None]
    (by,) = [each for each in of_two["/api/tokens"]["get"]["parameters"] if each["name"] == "by"]
    assert by["schema"]["enum"] == ["telling", "count", "high", "low"]


def test_every_error_is_described(client: Any, cook: Any) -> None:
    connected = client(create_app(cook, access=Access(key=KEY)))
    key = {"authorization": f"Bearer {KEY}"}
    described = connected.get("/openapi.json", headers=key).json()["paths"]["/api/predict"]["post"]["responses"]
    body = b'{"sets": [["salt"]]}'
    json = {"content-type": "application/json"}
    large = b'{"sets": [' + b"[]," * 100_000 + b"[]]}"
    for status, content, headers in [
        (200, body, {**key, **json}), (400, b"{", {**key, **json}), (400, body, {**key, **json, "host": "evil"}),
        (401, body, json), (403, body, {**key, **json, "origin": "http://evil"}), (413, large, {**key, **json}),
        (415, body, {**key, "content-type": "text/plain"}),
    ]:  # fmt: skip
        answer = connected.post("/api/predict", content=content, headers=headers)
        assert answer.status_code == status
        schema = described[str(status)]["content"]["application/json"]["schema"]
        assert fits(answer.json(), schema)
        assert status == 200 or not fits({**answer.json(), "code": "other"}, schema)
    assert set(described) == {str(s) for s in (200, 400, 401, 403, 404, 405, 408, 413, 415, 422, 500, 503)}
