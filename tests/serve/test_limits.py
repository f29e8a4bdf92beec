"""How much is answered: what is too much is refused before the work, and nobody waits for others."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

import clearset as cs
from clearset.serve import Limits, _limits, _service, create_app
from clearset.serve._json_bodies import written


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what lets a test fail if anything is computed from sets that were read."""

    def forbid(cook: Any) -> None:
        reading = type(cook.as_model().read([[]]))
        for name in ("explain", "outputs", "scored", "scores"):
            monkeypatch.setattr(reading, name, lambda *_, **__: pytest.fail("worked"))

    return forbid


@pytest.mark.parametrize(
    ("effects", "most", "status"), [(False, 5, 200), (False, 4, 413), (True, 14, 200), (True, 13, 413)]
)
def test_rows_of_explanations_of_sets(client: Any, regressor: Any, effects: bool, most: int, status: int) -> None:
    others = {"store": None, "price": None}
    sets = [{"stars": [5, 4, 3], **others}, {"stars": [], **others}]  # 2 sets, 3 tokens, of 3 features each
    answer = client(create_app(regressor, limits=Limits(rows=most))).post(
        "/api/explain", json={"sets": sets, "effects": effects}
    )
    assert answer.status_code == status, answer.text
    if status == 413:
        assert "Send fewer or smaller sets" in answer.json()["message"]
        assert ("'effects'" in answer.json()["message"]) == effects


def test_tokens_are_counted_before_the_work(client: Any, never: Any) -> None:
    sets = [[f"{k}" for k in range(40)]] * 3
    options: dict[str, Any] = {"refine": False, "epochs": 1, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(cs.Subsets(3), [cs.MinCount(1)], **options).fit(sets, ["a", "b", "a"])
    app, n_tokens = create_app(model), len(model.token_table_)
    assert n_tokens > 10_000
    connected = client(app)
    assert connected.post("/api/explain", json={"sets": sets[:1]}).status_code == 200
    never(model)
    answer = connected.post("/api/explain", json={"sets": sets})
    assert answer.status_code == 413
    assert "more than 20,000" in answer.json()["message"]
    answer = connected.post("/api/explain", json={"sets": sets[:1], "effects": True})
    assert answer.status_code == 413


def test_predictions(client: Any, cook: Any, never: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "MOST_NUMBERS", 3)
    connected = client(create_app(cook, limits=Limits(tokens=1)))
    never(cook)
    answer = connected.post("/api/predict", json={"sets": [["salt"], ["water"]]})  # of two classes
    assert (answer.status_code, "2 sets. Send 1 at most" in answer.json()["message"]) == (413, True)
    answer = connected.post("/api/predict", json={"sets": [["salt", "water", "grapefruit juice"]]})
    assert (answer.status_code, "more than 1 tokens" in answer.json()["message"]) == (413, True)


@pytest.mark.parametrize("name", ["cook", "regressor"])
@pytest.mark.parametrize("path", ["/api/predict", "/api/edit"])
def test_many_small_sets(
    request: pytest.FixtureRequest, client: Any, monkeypatch: pytest.MonkeyPatch, name: str, path: str
) -> None:
    model = request.getfixturevalue(name)
    connected = client(create_app(model))
    assert "at most 100,000 sets" in connected.get("/openapi.json").json()["info"]["description"]
    reader = type(_service.set_reader(model.as_model()))
    monkeypatch.setattr(reader, "_read", lambda *_: pytest.fail("read"))
    others = {"edits": []} if path == "/api/edit" else {}
    answer = connected.post(path, json={"sets": [{}] * 1_000_000, **others})
    assert answer.status_code == 413
    assert answer.json()["message"] == "'sets' has 1,000,000 sets. Send 100,000 at most at a time."


def test_known_tokens(client: Any, cook: Any) -> None:
    items = ["salt", "water", "grapefruit juice"]
    connected = client(create_app(cook, limits=Limits(rows=2)))
    assert connected.post("/api/known", json={"items": items}).status_code == 200
    answer = client(create_app(cook, limits=Limits(rows=1))).post("/api/known", json={"items": items})
    assert (answer.status_code, "Give fewer items" in answer.json()["message"]) == (413, True)


def test_health_does_not_wait_for_work(client: Any, cook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    app, begun, go_on = create_app(cook), Event(), Event()
    model = cs.SemanticModel
    read = model.read

    def wait(*asked: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return read(*asked)

    monkeypatch.setattr(model, "read", wait)
    n = 60  # more than there are threads
    with client(app) as connected, ThreadPoolExecutor(n + 1) as pool:
        asked = [pool.submit(connected.post, "/api/predict", json={"sets": [["salt"]]}) for _ in range(n)]
        try:
            assert begun.wait(60)
            for path in ("/health", "/api/model"):
                assert pool.submit(connected.get, path).result(20).status_code == 200
            assert not any(each.done() for each in asked)
        finally:
            go_on.set()
        assert [each.result().status_code for each in asked] == [200] * n


def test_long_answers_are_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": [[k, "ü", None] for k in range(250)], "b": {"c": [1.5] * 300}, "d": [], "e": 'x"y'}
    assert json.loads(written(value)) == value
    longest, dumps = [0], json.dumps

    def count(part: Any, **options: Any) -> str:
        longest[0] = max(longest[0], len(part) if isinstance(part, list) else 0)
        return dumps(part, **options)

    monkeypatch.setattr(json, "dumps", count)
    assert written(value) == dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert longest[0] == 100
