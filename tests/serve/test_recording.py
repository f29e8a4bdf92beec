"""What is recorded of requests: identifiers, headers, a line in the log, metrics. Nothing that a request said."""

import json
import logging
import re
from typing import Any

import pytest

from clearset.serve import Access, create_app, log_to_stderr

KEY = "a-key-of-the-tests"
VALUE = "grapefruit-of-a-person"
ASKED = [
    ("GET", "/", None),
    ("GET", "/health", None),
    ("GET", f"/{VALUE}", None),
    ("GET", f"/api/tokens?search={VALUE}", None),
    ("GET", f"/api/tokens?{VALUE}=1", None),
    ("POST", "/api/predict", {"sets": [[VALUE]]}),
    ("POST", "/api/predict", {"sets": VALUE}),
    ("POST", "/api/explain", {"sets": [["salt"]], "label": VALUE}),
    ("DELETE", "/api/predict", None),
    (VALUE.upper(), "/health", None),
]  # fmt: skip
SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def app(cook: Any) -> Any:
    return create_app(cook, access=Access(key=KEY))


def ask(connected: Any, method: str, path: str, body: Any) -> Any:
    return connected.request(method, path, json=body, headers={"authorization": f"Bearer {KEY}"})


@pytest.mark.parametrize(("method", "path", "body"), ASKED)
def test_every_answer_has_the_headers(client: Any, app: Any, method: str, path: str, body: Any) -> None:
    answer = ask(client(app), method, path, body)
    assert {name: answer.headers[name] for name in SAFE} == SAFE
    policy = answer.headers["content-security-policy"]
    assert policy == ("" if path == "/" else "default-src 'none'; ") + "frame-ancestors 'none'"
    if answer.status_code != 200:
        assert list(answer.json()) == ["code", "message", "request_id"]
        assert answer.json()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_log_has_a_line_for_each_request_and_no_values(
    client: Any, app: Any, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("clearset.serve")
    before = logger.handlers, logger.level, logger.propagate
    try:
        log_to_stderr(form)
        connected = client(app)
        answers = [ask(connected, *each) for each in ASKED]
        refused = connected.get("/api/model", headers={"authorization": f"Bearer {KEY}x"})
    finally:
        logger.handlers, logger.level, logger.propagate = before
    text = capsys.readouterr().err
    lines = text.splitlines()
    assert len(lines) == len(ASKED) + 1
    assert VALUE.lower() not in text.lower()
    assert KEY not in text
    for line, answer in zip(lines, [*answers, refused], strict=True):
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", line) or form == "json"
        assert answer.headers["x-request-id"] in line
    if form == "json":
        logged = [json.loads(line) for line in lines]
        assert [each["status"] for each in logged] == [each.status_code for each in [*answers, refused]]
        routes = ["/", "/health", "other", "/api/tokens", "/api/tokens", "/api/predict", "/api/predict", "/api/explain"]
        assert [each["route"] for each in logged] == [*routes, "/api/predict", "/health", "/api/model"]
        assert [each.get("sets") for each in logged[5:7]] == [1, None]
        assert [each["sent"] for each in logged[:2]] == [len(each.content) for each in answers[:2]]
        assert logged[5]["received"] == len(json.dumps({"sets": [[VALUE]]}, separators=(",", ":")))
        assert (logged[-1]["code"], logged[-2]["method"]) == ("key_needed", "OTHER")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a1-B.2_c", True), ("x" * 64, True), ("x" * 65, False), ("", False), ("a b", False), ("a\tb", False),
     ('{"a":1}', False), ("é".encode("latin-1"), False), ("a,b", False)],
)  # fmt: skip
def test_identifiers_that_requests_bring(client: Any, app: Any, given: Any, kept: bool) -> None:
    found = client(app).get("/health", headers={"x-request-id": given}).headers["x-request-id"]
    assert (found == given) == kept
    assert kept or re.fullmatch("[0-9a-f]{32}", found)


def test_a_failure_before_any_handler_is_answered_alike(
    client: Any, cook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clearset.serve._access_control import AccessControl

    monkeypatch.setattr(AccessControl, "_refused", lambda *_: {}[VALUE])
    answer = client(create_app(cook)).get("/health")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert VALUE not in answer.text
    assert {name: answer.headers[name] for name in SAFE} == SAFE
