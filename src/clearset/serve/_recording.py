"""What is recorded of every request: its identifier, the headers of its answer, a line in the log, and metrics."""

import re
import time
from collections.abc import Collection
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clearset.serve._metrics import Metrics
from clearset.serve._record import Record
from clearset.serve._request_log import log_request
from clearset.serve._work import failed

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_OF_PAGE = b"frame-ancestors 'none'"  # the page has its own policy in it besides
_OF_DATA = b"default-src 'none'; frame-ancestors 'none'"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_IDENTIFIER = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Recording:
    """Records requests to the routes of an application."""

    def __init__(self, app: ASGIApp, routes: Collection[str], metrics: Metrics) -> None:
        self._app, self._routes, self._metrics = app, routes, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route = scope["path"] if scope["path"] in self._routes else "other"
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        record = Record(_identifier(scope), method, route)
        scope.setdefault("state", {})["record"] = record
        begun = time.perf_counter()
        self._metrics.begin()
        try:
            await self._answer(scope, receive, _recorded(record, send))
        finally:
            record.seconds = time.perf_counter() - begun
            self._metrics.end(record.route, record.status, record.code, record.seconds)
            self._metrics.computed(record.sets, record.tokens)
            log_request(record)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        record = scope["state"]["record"]
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            outcome = failed(error)
            record.add(outcome)
            if not record.status:
                await record.refusal(outcome.code, outcome.content.decode())(scope, receive, send)


def _recorded(record: Record, send: Send) -> Send:
    """Return what sends messages, adds headers, and records what was sent."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            record.status = message["status"]
            headers = [*message.get("headers", []), *added_headers(record.identifier, message.get("headers", []))]
            message = {**message, "headers": headers}
        record.sent += len(message.get("body", b""))
        await send(message)

    return send_with_headers


def added_headers(identifier: str, headers: Collection[tuple[bytes, bytes]] = ()) -> list[tuple[bytes, bytes]]:
    """Return the headers that every answer has besides its own."""
    is_page = any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers)
    policy = (b"content-security-policy", _OF_PAGE if is_page else _OF_DATA)
    return [policy, *_HEADERS, (b"x-request-id", identifier.encode())]


def _identifier(scope: Scope) -> str:
    """Return the identifier that a request brings, if it is well-formed, or a new one."""
    given = next((value for name, value in scope["headers"] if name.lower() == b"x-request-id"), b"")
    return given.decode() if _IDENTIFIER.fullmatch(given) else uuid4().hex
