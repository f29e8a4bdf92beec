"""Checks before every answer: who may ask, and the headers that are added."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clearset.serve._json_bodies import refusal

_HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),  # the page has its own policy in it besides
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_READING = ("GET", "HEAD")


class AccessControl:
    """Refuses what pages of other sites send, and adds headers to every response.

    `hosts` may be asked for, None is any: another site could let its own name resolve to this machine.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        refused = self._refused(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send_with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the refusal of a request that is not allowed; None for all others."""
        headers = {name.lower(): value.decode("latin-1").lower() for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            return refusal(
                f"This server is not called {host[:100]!r}. Ask it as one of: {', '.join(sorted(self._hosts))}.", 400
            )
        if origin is not None and scope["method"] not in _READING and origin.partition("://")[2] != host:
            return refusal(
                f"Pages of another site, {origin[:100]!r}, may not ask this server. Ask from its own page, or from a "
                "program, which sends no Origin.",
                403,
            )
        return None


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if name and port.isdecimal() else host
