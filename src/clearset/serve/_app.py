"""The service by HTTP: an ASGI application that reads requests and answers in JSON."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from clearset.models import FittedModel
from clearset.serve._access_control import Access, AccessControl
from clearset.serve._endpoints import ENDPOINTS, Endpoint, describe
from clearset.serve._json_bodies import answer, parsed, refusal, written
from clearset.serve._limits import MOST_BYTES, SECONDS, TooLargeError
from clearset.serve._service import Service

_LOGGER = logging.getLogger(__name__)
_WRONG = (ValueError, TypeError, ArithmeticError, RecursionError, pa.ArrowException)


def create_app(
    model: FittedModel,
    X: Any = None,
    y: Any = None,
    *,
    names: Sequence[str | None] | None = None,
    other: FittedModel | None = None,
    name: str = "the other model",
    access: Access | None = None,
    edits_to: str | PathLike[str] | None = None,
) -> Starlette:
    """Return the explorer of a model, as an ASGI application.

    Parameters
    ----------
    model : SetModel, SemanticModel, or a fitted estimator
        The model, such as `clearset.load` returns. It is not changed.
    X : optional
        Examples to show it on, as for `fit`.
    y : optional
        Their labels.
    names : sequence of str, optional
        What the examples are called, such as their keys; by default their rows.
    other : SetModel, SemanticModel, or a fitted estimator, optional
        A model that was in use before: the page shows what changed on X.
    name : str, default="the other model"
        What the other model is called.
    access : Access, optional
        Who may ask; by default everybody who asks this machine by one of its own names, such as ``localhost``.
    edits_to : path-like, optional
        The file that people may save edited models to; by default they can try edits, but save nothing.

    Returns
    -------
    starlette.Starlette
        ``/`` is the page, ``/openapi.json`` describes all other addresses.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.serve import create_app
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> [route.path for route in create_app(model).routes]
    ['/', '/openapi.json', '/api/predict', '/api/explain', '/api/model', '/api/example', '/api/tokens', '/api/items',
    '/api/known', '/api/edit', '/health']
    """
    from clearset import __version__

    access = access or Access()
    service = Service(model, X, y, names, other, name, edits_to)
    page, description = service.page.encode(), written(describe(__version__, access.key is not None))

    async def show(_request: Request) -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    async def describe_all(_request: Request) -> Response:
        return answer(description)

    app = Starlette(
        routes=[
            Route("/", show),
            Route("/openapi.json", describe_all),
            *(
                Route(each.path, _handler(each, getattr(service, each.name)), methods=[each.method])
                for each in ENDPOINTS
            ),
        ],
        middleware=[Middleware(AccessControl, access=access)],
        exception_handlers={HTTPException: _refuse},
    )
    app.router.redirect_slashes = False  # an address has one spelling
    return app


def _handler(
    endpoint: Endpoint, respond: Callable[[Mapping[str, Any]], Any]
) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that answers requests to an endpoint; errors become one sentence."""

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
                return refusal(f"The Content-Type is {_kind(request)[:100]!r}; send JSON, as application/json.", 415)
            else:
                try:
                    async with asyncio.timeout(SECONDS):
                        asked = await _body(request)
                except TimeoutError:
                    late = f"The body did not arrive within {SECONDS} seconds. Send fewer sets at a time."
                    return refusal(late, 408, {"Connection": "close"})  # what is left of the body is not read
            # Long requests may occupy all threads; short answers do not wait for one.
            return answer(await run_in_threadpool(work, asked) if endpoint.works else work(asked))
        except TooLargeError as error:
            return refusal(str(error), 413)
        except UnicodeError:
            return refusal("A text in the request is not valid Unicode.", 400)
        except _WRONG as error:
            return refusal(str(error), 400)
        except ClientDisconnect:
            return refusal("The request ended before its body was complete.", 400)  # nobody is left to read it
        except asyncio.CancelledError:  # the server is shutting down and does not wait any longer
            return refusal("The server is ending.", 503)
        except Exception as error:
            found = endpoint.path, request.state.request_id, type(error).__name__, error
            _LOGGER.error("%s failed (request %s): %s: %s", *found)
            return refusal(f"Internal error; see the server's log, request {request.state.request_id}.", 500)

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
