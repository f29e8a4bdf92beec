"""The service by HTTP: an ASGI application."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clearset.models import FittedModel
from clearset.serve._access_control import Access, AccessControl
from clearset.serve._description import describe
from clearset.serve._endpoints import ENDPOINTS
from clearset.serve._handlers import Handlers
from clearset.serve._json_bodies import answer, written
from clearset.serve._limits import Limits
from clearset.serve._metrics import Metrics
from clearset.serve._processes import Processes
from clearset.serve._recording import Recording
from clearset.serve._service import Service
from clearset.serve._workers import Threads


def create_app(
    model: FittedModel,
    X: Any = None,
    y: Any = None,
    *,
    names: Sequence[str | None] | None = None,
    other: tuple[str, FittedModel] | None = None,
    access: Access | None = None,
    edits_to: str | PathLike[str] | None = None,
    limits: Limits | None = None,
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
    other : tuple of str and SetModel, SemanticModel, or a fitted estimator, optional
        A name, and a model of this name that was in use before: the page shows what changed on X.
    access : Access, optional
        Who may ask; by default everybody who asks this machine by one of its own names, such as ``localhost``.
    edits_to : path-like, optional
        The file that people may save edited models to; by default they can try edits, but save nothing.
    limits : Limits, optional
        How much is answered; by default as `Limits` says.

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
    ['/', '/openapi.json', '/metrics', '/api/predict', '/api/explain', '/api/model', '/api/example', '/api/tokens',
    '/api/items', '/api/known', '/api/edit', '/health']
    """
    from clearset import __version__

    access, limits = access or Access(), limits or Limits()
    service = Service(model, X, y, names, other, edits_to, limits)
    workers = (Processes if limits.processes else Threads)(service, limits)
    metrics = Metrics(service.labels | {"version": __version__})
    page = service.page.encode()
    description = written(describe(__version__, access.key is not None, limits, service.accepted()))

    async def show(_request: Request) -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    async def describe_all(_request: Request) -> Response:
        return answer(description)

    async def measure(_request: Request) -> Response:
        return Response(metrics.text(workers.waiting, workers.n), media_type="text/plain; version=0.0.4; charset=utf-8")

    @asynccontextmanager
    async def working(_app: Starlette) -> AsyncIterator[None]:
        async with workers.running():
            yield

    routes = [Route("/", show), Route("/openapi.json", describe_all), Route("/metrics", measure)]
    handlers = Handlers(service, workers, limits)
    routes += [Route(each.path, handlers.of(each), methods=[each.method]) for each in ENDPOINTS]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Recording, routes=[each.path for each in routes], metrics=metrics),
            Middleware(AccessControl, access=access),
        ],
        exception_handlers={HTTPException: _refuse},
        lifespan=working,
    )
    app.router.redirect_slashes = False  # an address has one spelling
    return app


async def _refuse(request: Request, error: Any) -> Response:
    code = "method_not_allowed" if error.status_code == 405 else "not_found"
    message = f"{error.detail}. /openapi.json says what can be asked."
    refused: Response = request.state.record.refusal(code, message, error.headers)
    return refused
