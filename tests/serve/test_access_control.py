"""Who may ask: names of the machine, pages of other sites, kinds of content."""

from typing import Any

import pytest

from clearset.serve import create_app

BODY = b'{"sets": [["salt"]]}'
KIND = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def app(cook: Any) -> Any:
    return create_app(cook)


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8000", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8000", 200), ("evil.example", 400),
     ("evil.example:8000", 400), ("127.0.0.1.evil.example", 400), ("", 400)],
)  # fmt: skip
def test_hosts_and_headers(client: Any, app: Any, host: str, status: int) -> None:
    answer = client(app).get("/healthz", headers={"host": host})
    assert answer.status_code == status
    assert list(answer.json()) == ["status" if status == 200 else "error"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"


def test_any_host_where_all_may_come(client: Any, cook: Any) -> None:
    connected = client(create_app(cook, hosts=None))
    assert connected.get("/healthz", headers={"host": "model.example"}).status_code == 200
    origin = {"host": "model.example", "origin": "http://model.example", **KIND}
    assert connected.post("/api/predict", content=BODY, headers=origin).status_code == 200
    origin["origin"] = "http://evil.example"
    assert connected.post("/api/predict", content=BODY, headers=origin).status_code == 403


def test_the_page_has_its_policy(client: Any, app: Any) -> None:
    assert "connect-src &#x27;self&#x27;" in client(app).get("/").text


@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 200), ("http://127.0.0.1:8000", 200), ("http://127.0.0.1:9000", 403), ("https://evil.example", 403),
     ("null", 403), ("http://127.0.0.1:8000.evil.example", 403), ("", 403)],
)  # fmt: skip
def test_pages_of_other_sites_are_refused(client: Any, app: Any, origin: str | None, status: int) -> None:
    headers = KIND if origin is None else {**KIND, "origin": origin}
    answer = client(app).post("/api/predict", content=BODY, headers=headers)
    assert answer.status_code == status
    assert ("error" in answer.json()) == (status == 403)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415), ("", 415),
     ("application/x-www-form-urlencoded", 415), ("text/plain; application/json", 415)],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/predict", "/api/explain"])
def test_bodies_are_json(client: Any, app: Any, path: str, kind: str, status: int) -> None:
    answer = client(app).post(path, content=BODY, headers={"content-type": kind})
    assert answer.status_code == status
    assert status == 200 or "application/json" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/model", "/openapi.json"])
def test_heads_have_no_body(client: Any, app: Any, path: str) -> None:
    answer = client(app).head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == client(app).get(path).headers["content-length"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/healthz", {"GET", "HEAD"}), ("GET", "/api/predict", {"POST"}), ("DELETE", "/", {"GET", "HEAD"}),
     ("OPTIONS", "/api/explain", {"POST"})],
)  # fmt: skip
def test_wrong_methods(client: Any, app: Any, method: str, path: str, allowed: set[str]) -> None:
    answer = client(app).request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].replace(",", " ").split()) == allowed
    assert "/openapi.json" in answer.json()["error"]


def test_what_is_not_there(client: Any, app: Any) -> None:
    answer = client(app).get("/nothing")
    assert (answer.status_code, list(answer.json())) == (404, ["error"])
    answer = client(app).get("/api/model?x=1")
    assert answer.status_code == 400
    assert answer.json()["error"] == "/api/model does not know 'x'. It takes nothing; leave it out."
