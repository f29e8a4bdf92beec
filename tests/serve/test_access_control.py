"""Who may ask: names of the machine, pages of other sites, kinds of content."""

import base64
from typing import Any

import pytest

from clearset.serve import Access, create_app

BODY = b'{"sets": [["salt"]]}'
KIND = {"content-type": "application/json"}
KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def app(cook: Any) -> Any:
    return create_app(cook)


@pytest.fixture(scope="module")
def locked(cook: Any) -> Any:
    return create_app(cook, access=Access(key=KEY))


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8000", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8000", 200), ("evil.example", 400),
     ("evil.example:8000", 400), ("127.0.0.1.evil.example", 400), ("", 400)],
)  # fmt: skip
def test_hosts_and_headers(client: Any, app: Any, host: str, status: int) -> None:
    answer = client(app).get("/health", headers={"host": host})
    assert answer.status_code == status
    assert list(answer.json()) == ["status"] if status == 200 else ["code", "message", "request_id"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_names_for_other_machines(client: Any, cook: Any) -> None:
    connected = client(create_app(cook, access=Access(["Model.Example", "::1"])))
    for host, status in (("model.example:80", 200), ("[::1]:8000", 200), ("other.example", 400), ("localhost", 400)):
        assert connected.get("/health", headers={"host": host}).status_code == status
    origin = {"host": "model.example", "origin": "http://model.example", **KIND}
    assert connected.post("/api/predict", content=BODY, headers=origin).status_code == 200
    origin["origin"] = "http://evil.example"
    assert connected.post("/api/predict", content=BODY, headers=origin).status_code == 403
    # A page of another site, whose name resolves to this machine.
    forged = {"host": "evil.example", "origin": "http://evil.example", **KIND}
    answer = connected.post("/api/predict", content=BODY, headers=forged)
    assert answer.status_code == 400
    assert "not called 'evil.example'. Ask it as one of: model.example, [::1]" in answer.json()["message"]
    assert "--allow-host" in answer.json()["message"]


@pytest.mark.parametrize("hosts", [None, [], "localhost", ["http://a"], ["a:80"], ["*"], [""], ["a b"], ["a/"]])
def test_what_is_no_host(hosts: Any) -> None:
    with pytest.raises(ValueError, match="host name"):
        Access(hosts)


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("authorization", "status"),
    [(f"Bearer {KEY}", 200), (f"bearer  {KEY}", 200), (basic(KEY), 200), (None, 401), ("", 401), (KEY, 401),
     ("Bearer", 401), (f"Bearer {KEY}x", 401), (f"Bearer {KEY[:-1]}", 401), (f"Bearer {KEY.upper()}", 401),
     (basic(""), 401), (basic(KEY + ":"), 401), ("Basic ?", 401), ("Basic \xff", 401), ("Bearer \xff", 401)],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/model", "/openapi.json", "/nothing"])
def test_keys(client: Any, locked: Any, path: str, authorization: str | None, status: int) -> None:
    headers = {} if authorization is None else {"authorization": authorization.encode("latin-1")}
    answer = client(locked).get(path, headers=headers)
    assert answer.status_code == (404 if status == 200 and path == "/nothing" else status)
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert "API key" in answer.json()["message"]
        assert KEY not in answer.text


def test_health_and_origins_where_there_is_a_key(client: Any, locked: Any) -> None:
    connected = client(locked)
    assert connected.get("/health").json() == {"status": "ok"}
    # A browser adds the password to what pages of other sites send.
    headers = {**KIND, "authorization": basic(KEY), "origin": "http://evil.example"}
    assert connected.post("/api/predict", content=BODY, headers=headers).status_code == 403
    del headers["origin"]
    assert connected.post("/api/predict", content=BODY, headers=headers).status_code == 200


def test_the_description_says_that_a_key_is_needed(client: Any, app: Any, locked: Any) -> None:
    described = client(locked).get("/openapi.json", headers={"authorization": f"Bearer {KEY}"}).json()
    assert described["components"]["securitySchemes"]["key"] == {"type": "http", "scheme": "bearer"}
    free = {path for path, each in described["paths"].items() for one in each.values() if "security" not in one}
    assert free == {"/health"}
    assert "security" not in client(app).get("/openapi.json").text


@pytest.mark.parametrize("key", ["", "short", "x" * 15, "x" * 1001, "a key with spaces in it", "schlüssel" * 3])
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(ValueError, match="The API key must have 16 to 1,000") as caught:
        Access(key=key)
    assert not key or key not in str(caught.value)


def test_keys_are_not_shown() -> None:
    assert KEY not in repr(Access(key=KEY))


def test_every_answer_has_a_name_of_its_own(client: Any, app: Any, locked: Any) -> None:
    answers = [client(app).get("/health"), client(app).get("/nothing"), client(app).get("/", headers={"host": "x"})]
    answers.append(client(locked).get("/"))
    assert [answer.status_code for answer in answers] == [200, 404, 400, 401]
    assert len({answer.headers["x-request-id"] for answer in answers}) == 4


@pytest.mark.parametrize("path", ["/api/predict/", "/health/", "/api//model", "//evil.example/"])
def test_nothing_is_redirected(client: Any, app: Any, path: str) -> None:
    for method in ("GET", "POST"):
        answer = client(app).request(method, "http://127.0.0.1:8000" + path, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers


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
    assert ("code" in answer.json()) == (status == 403)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415), ("", 415),
     ("application/x-www-form-urlencoded", 415), ("text/plain; application/json", 415)],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/predict", "/api/explain"])
def test_bodies_are_json(client: Any, app: Any, path: str, kind: str, status: int) -> None:
    answer = client(app).post(path, content=BODY, headers={"content-type": kind})
    assert answer.status_code == status
    assert status == 200 or "application/json" in answer.json()["message"]


@pytest.mark.parametrize("path", ["/", "/health", "/api/model", "/openapi.json"])
def test_heads_have_no_body(client: Any, app: Any, path: str) -> None:
    answer = client(app).head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == client(app).get(path).headers["content-length"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/health", {"GET", "HEAD"}), ("GET", "/api/predict", {"POST"}), ("DELETE", "/", {"GET", "HEAD"}),
     ("OPTIONS", "/api/explain", {"POST"})],
)  # fmt: skip
def test_wrong_methods(client: Any, app: Any, method: str, path: str, allowed: set[str]) -> None:
    answer = client(app).request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].replace(",", " ").split()) == allowed
    assert "/openapi.json" in answer.json()["message"]


def test_what_is_not_there(client: Any, app: Any) -> None:
    answer = client(app).get("/nothing")
    assert (answer.status_code, list(answer.json())) == (404, ["code", "message", "request_id"])
    answer = client(app).get("/api/model?x=1")
    assert answer.status_code == 400
    assert answer.json()["message"] == "/api/model does not know 'x'. It takes nothing; leave it out."
