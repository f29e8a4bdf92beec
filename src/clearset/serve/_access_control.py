"""Checks before every answer: who may ask."""

import base64
import binascii
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from clearset.serve._endpoints import OPEN_PATH
from clearset.serve._record import Record

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine for itself."""

_READING = ("GET", "HEAD")
_SHORTEST_KEY = 16
_LONGEST_KEY = 1000


@dataclass(frozen=True)
class Access:
    """Who may ask a server.

    Parameters
    ----------
    hosts : sequence of str, default=("localhost", "127.0.0.1", "[::1]")
        The host names that requests may be sent to, without ports. Another site could let its own name resolve to this
        machine; its pages would then count as pages of this server.
    key : str, optional
        The API key that requests must bring, as ``Authorization: Bearer KEY`` or, as browsers do, as a password. By
        default everybody who reaches the server may ask: let it be reached from its own machine only.

    Examples
    --------
    >>> from clearset.serve import LOOPBACK, Access
    >>> Access([*LOOPBACK, "Models.example"], key="vK1xQ0hZ6bT2sY8n").hosts
    ('localhost', '127.0.0.1', '[::1]', 'models.example')
    """

    hosts: Sequence[str] = LOOPBACK
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", _checked_hosts(self.hosts))
        if self.key is not None:
            _check_key(self.key)


class AccessControl:
    """Refuses what may not ask."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._hosts = app, access.hosts
        self._key = None if access.key is None else access.key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refused(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the refusal of a request that is not allowed; None for all others."""
        record: Record = scope["state"]["record"]
        headers = {name.lower(): value for name, value in scope["headers"]}
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if re.sub(r":\d*$", "", host) not in self._hosts:
            return record.refusal(
                "unknown_host",
                f"This server is not called {host[:100]!r}. Ask it as one of: {', '.join(self._hosts)}; or start it "
                "with another name, by --allow-host.",
            )
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if b"origin" in headers and scope["method"] not in _READING and origin.partition("://")[2] != host:
            return record.refusal(
                "foreign_page",
                f"Pages of another site, {origin[:100]!r}, may not ask this server. Ask from its own page, or from a "
                "program, which sends no Origin.",
            )
        if self._key is None or scope["path"] == OPEN_PATH:
            return None
        if not secrets.compare_digest(_given_key(headers.get(b"authorization", b"")), self._key):
            return record.refusal(
                "key_needed",
                "This server needs its API key: in a browser as the password, with any name; from a program in the "
                "header 'Authorization: Bearer KEY'.",
                {"WWW-Authenticate": 'Basic realm="clearset", charset="UTF-8"'},  # lets a browser ask, once a session
            )
        return None


def _given_key(authorization: bytes) -> bytes:
    """Return the key in an Authorization header: of programs as it is, of browsers as a password."""
    scheme, _, given = authorization.partition(b" ")
    if scheme.lower() == b"bearer":
        return given.strip()
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(given).partition(b":")[2]
        except binascii.Error:
            pass
    return b""


def _checked_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Return host names as requests write them, each once; raise an error for what is none."""
    if isinstance(hosts, str) or not hosts:
        raise ValueError(f"hosts must be a list of host names, such as ['localhost']; received {hosts!r}.")
    found = []
    for host in hosts:
        name = f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
        if not re.fullmatch(r"[\w.-]+|\[[\da-fA-F:.]+\]", name):
            raise ValueError(f"{host!r} is no host name. Give a name or an address alone, such as 'models.example'.")
        found.append(name.lower())
    return tuple(dict.fromkeys(found))


def _check_key(key: str) -> None:
    """Raise an error, which does not show the key, if it is short or cannot be sent."""
    if not re.fullmatch(r"[!-~]*", key) or not _SHORTEST_KEY <= len(key) <= _LONGEST_KEY:
        raise ValueError(
            f"The API key must have {_SHORTEST_KEY} to {_LONGEST_KEY:,} letters, digits or signs of ASCII and no "
            f"spaces; received {len(key):,} characters. Make one: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
