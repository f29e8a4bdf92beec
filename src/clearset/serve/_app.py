"""The service by HTTP: reads questions, answers in JSON, and lets nothing else through."""

import logging
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clearset.serve._endpoints import ENDPOINTS, Endpoint, describe
from clearset.serve._gate import Gate
from clearset.serve._json import answer, parsed, refusal, written
from clearset.serve._limits import MOST_BYTES, TooLargeError
from clearset.serve._service import Service

LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")

_LOGGER = logging.getLogger(__name__)
_WRONG = (ValueError, TypeError, ArithmeticError, RecursionError, pa.ArrowException)


def create_app(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    names: Sequence[str | None] | None = None,
    other: Any = None,
    name: str = "the other model",
    hosts: Sequence[str] | None = LOOPBACK,
) -> Starlette:
    """Make the explorer of a model, as an ASGI application.

    Parameters
    ----------
    model
        A fitted model, which is only read.
    X, y
        Examples to show it on, and their labels.
    names
        What to call the examples, such as by their keys; by default by their rows.
    other, name
        A model that was in use before, to show what changed on X, and what to call it.
    hosts
        The names that requests may call this machine by; None for any. Pages of other sites, which could make their own
        name mean this machine, are kept out so.

    Returns
    -------
    starlette.Starlette
        ``/`` is the page, ``/openapi.json`` describes the rest.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.serve import create_app
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> [route.path for route in create_app(model).routes]
    ['/', '/openapi.json', '/api/predict', '/api/explain', '/api/model', '/api/example', '/api/tokens', '/api/items',
    '/api/known', '/healthz']
    """
    from clearset import __version__

    service = Service(model, X, y, names, other, name)
    page, description = service.page.encode(), written(describe(__version__))

    async def show(_request: Request) -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    async def describe_all(_request: Request) -> Response:
        return answer(description)

    return Starlette(
        routes=[
            Route("/", show),
            Route("/openapi.json", describe_all),
            *(
                Route(each.path, _handler(each, getattr(service, each.name)), methods=[each.method])
                for each in ENDPOINTS
            ),
        ],
        middleware=[Middleware(Gate, hosts=hosts)],
        exception_handlers={HTTPException: _refuse},
    )


def _handler(
    endpoint: Endpoint, respond: Callable[[Mapping[str, Any]], Any]
) -> Callable[[Request], Awaitable[Response]]:
    """Make what answers an endpoint, errors as one sentence."""

    def work(asked: Mapping[str, Any] | bytes) -> bytes:
        if isinstance(asked, bytes):
            asked = parsed(asked)
        allowed = endpoint.body or endpoint.query
        if unknown := [each for each in asked if each not in allowed]:
            known = f"It knows: {', '.join(allowed)}." if allowed else "It takes nothing; leave it out."
            raise ValueError(f"{endpoint.path} does not know {unknown[0][:100]!r}. {known}")
        return written(respond(asked))

    async def handle(request: Request) -> Response:
        try:
            if not endpoint.body:
                asked: Any = _query(request)
            elif _kind(request) != "application/json":
                return refusal(
                    f"The Content-Type is {_kind(request)[:100]!r}; send JSON, as application/json.", 415
                )
            else:
                asked = await _body(request)
            # All threads may be taken by long work; what needs none does not wait for one.
            return answer(await run_in_threadpool(work, asked) if endpoint.works else work(asked))
        except TooLargeError as error:
            return refusal(str(error), 413)
        except UnicodeError:
            return refusal("A text in the request is not valid Unicode.", 400)
        except _WRONG as error:
            return refusal(str(error), 400)
        except CancelledError:  # the server has waited for this long enough
            return refusal("The server is ending.", 503)
        except Exception as error:
            _LOGGER.error("%s failed: %s: %s", endpoint.path, type(error).__name__, error)
            return refusal("The server failed at this; it has written down why.", 500)

    return handle


def _query(request: Request) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise ValueError(f"The address has {name[:100]!r} more than once. Give it once.")
        found[name] = value
    return found


def _kind(request: Request) -> str:
    kind: str = request.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


async def _body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise TooLargeError(f"The body has more than {MOST_BYTES:,} bytes. Send fewer sets at a time.")
        parts.append(part)
    return b"".join(parts)


async def _refuse(_request: Request, error: Any) -> Response:
    return refusal(f"{error.detail}. /openapi.json says what can be asked.", error.status_code, error.headers)
