"""The service by HTTP: reads questions, answers in JSON, and lets nothing else through."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from clearset.serve._endpoints import ENDPOINTS, Endpoint, describe
from clearset.serve._extras import need
from clearset.serve._service import Service

MOST_BYTES = 10_000_000
"""Of the body of a request."""

LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")

_HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),  # the page has its own policy in it besides
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_LOGGER = logging.getLogger(__name__)
_WRONG = (ValueError, TypeError, ArithmeticError, RecursionError, pa.ArrowException)


class TooLargeError(ValueError):
    """A body of more than `MOST_BYTES`."""


def create_app(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    other: Any = None,
    name: str = "the other model",
    hosts: Sequence[str] | None = LOOPBACK,
) -> Any:
    """Make the explorer of a model, as an ASGI application.

    Parameters
    ----------
    model
        A fitted model, which is only read.
    X, y
        Examples to show it on, and their labels.
    other, name
        A model that was in use before, to show what changed on X, and what to call it.
    hosts
        The names that requests may call this machine by; None for any. Pages of other sites, which could make their own
        name mean this machine, are kept out so.

    Returns
    -------
    starlette.applications.Starlette
        ``/`` is the page, ``/openapi.json`` describes the rest.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.serve import create_app
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> [route.path for route in create_app(model).routes]
    ['/', '/openapi.json', '/api/predict', '/api/explain', '/api/model', '/api/tokens', '/api/known', '/healthz']
    """
    from clearset import __version__

    applications, routing = need("starlette.applications"), need("starlette.routing")
    middleware, hosted = need("starlette.middleware").Middleware, need("starlette.middleware.trustedhost")
    service = Service(model, X, y, other, name)
    page, description = service.page.encode(), _json(describe(__version__))

    async def show(_request: Any) -> Any:
        return need("starlette.responses").Response(page, media_type="text/html; charset=utf-8")

    async def describe_all(_request: Any) -> Any:
        return _answer(description)

    return applications.Starlette(
        routes=[
            routing.Route("/", show),
            routing.Route("/openapi.json", describe_all),
            *(
                routing.Route(each.path, _handler(each, getattr(service, each.name)), methods=[each.method])
                for each in ENDPOINTS
            ),
        ],
        middleware=[
            middleware(_Headers),
            middleware(hosted.TrustedHostMiddleware, allowed_hosts=["*"] if hosts is None else list(hosts)),
        ],
        exception_handlers={need("starlette.exceptions").HTTPException: _refuse},
    )


class _Headers:
    """Adds headers to every response, also to those that refuse."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _handler(endpoint: Endpoint, respond: Callable[[Mapping[str, Any]], Any]) -> Callable[[Any], Any]:
    """Make what answers an endpoint: in a thread, and errors as one sentence."""
    in_thread = need("starlette.concurrency").run_in_threadpool

    def work(asked: Mapping[str, Any] | bytes) -> bytes:
        if isinstance(asked, bytes):
            asked = _parsed(asked)
        allowed = endpoint.body or endpoint.query
        if unknown := [each for each in asked if each not in allowed]:
            known = f"Known are: {', '.join(allowed)}." if allowed else "There are none here."
            raise ValueError(f"{unknown[0][:100]!r} is not known here. {known}")
        return _json(respond(asked))

    async def handle(request: Any) -> Any:
        try:
            asked = await _body(request) if endpoint.body else dict(request.query_params)
            return _answer(await in_thread(work, asked))
        except TooLargeError as error:
            return _error(str(error), 413)
        except UnicodeError:
            return _error("A text in the request is not valid Unicode.", 400)
        except _WRONG as error:
            return _error(str(error), 400)
        except Exception as error:
            _LOGGER.error("%s failed: %s: %s", endpoint.path, type(error).__name__, error)
            return _error("The server failed at this; it has written down why.", 500)

    return handle


async def _body(request: Any) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise TooLargeError(f"The body has more than {MOST_BYTES:,} bytes. Send fewer sets at a time.")
        parts.append(part)
    return b"".join(parts)


def _parsed(body: bytes) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON. Write null for a missing value.")

    try:
        asked = json.loads(body, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"The body is not JSON: {error}.") from error
    except RecursionError as error:
        raise ValueError("The body is nested too deeply.") from error
    if not isinstance(asked, dict):
        raise ValueError('The body must be a JSON object, such as {"sets": [...]}.')
    return asked


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return text.encode(errors="replace")


def _answer(text: bytes, status: int = 200) -> Any:
    return need("starlette.responses").Response(text, status, media_type="application/json")


def _error(message: str, status: int) -> Any:
    return _answer(_json({"error": " ".join(message.split())[:2000]}), status)


async def _refuse(_request: Any, error: Any) -> Any:
    return _error(f"{error.detail}. /openapi.json says what can be asked.", error.status_code)
