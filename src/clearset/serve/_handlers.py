"""What answers requests to endpoints: HTTP to JSON, and what comes of it back to HTTP."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from clearset.serve._endpoints import Endpoint
from clearset.serve._errors import BusyError, RefusedError
from clearset.serve._json_bodies import answer, written
from clearset.serve._limits import SECONDS, Limits
from clearset.serve._record import Record
from clearset.serve._service import Service
from clearset.serve._uploads import Uploads
from clearset.serve._work import Outcome, computed, failed
from clearset.serve._workers import Workers


class Handlers:
    """Makes the functions that answer requests; `workers` compute what takes time."""

    def __init__(self, service: Service, workers: Workers, limits: Limits) -> None:
        self._service, self._workers, self._uploads = service, workers, Uploads(limits.body)

    def of(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Return the function that answers requests to an endpoint; errors become one sentence."""

        async def handle(request: Request) -> Response:
            record: Record = request.state.record
            if endpoint.body and (kind := _kind(request)) != "application/json":
                wrong = f"The Content-Type is {kind[:100]!r}; send JSON, as application/json."
                return record.refusal("not_json", wrong)
            try:
                outcome = await self._outcome(endpoint, request)
            except BusyError as error:
                return record.refusal(error.code, str(error), {"Retry-After": "1"})
            except RefusedError as error:
                return record.refusal(error.code, str(error))
            except ClientDisconnect:  # nobody is left to read this
                return record.refusal("bad_request", "The request ended before its body was complete.")
            except TimeoutError:
                late = f"The body did not arrive within {SECONDS} seconds. Send fewer sets at a time."
                # What is left of the body is not read.
                return record.refusal("upload_too_slow", late, {"Connection": "close"})
            except asyncio.CancelledError:  # the server is ending and does not wait any longer
                return record.refusal("ending", "The server is ending.")
            except Exception as error:
                outcome = failed(error)
            record.add(outcome)
            if outcome.code:
                return record.refusal(outcome.code, outcome.content.decode())
            return answer(outcome.content)

        return handle

    async def _outcome(self, endpoint: Endpoint, request: Request) -> Outcome:
        if not endpoint.body:
            asked = written(_query(request))
            # Answers that are ready do not wait for a worker.
            if not endpoint.works:
                return computed(self._service, endpoint, asked)
            return await self._workers.answer(endpoint, asked)
        async with self._uploads.read(request) as body:
            request.state.record.received = len(body)
            return await self._workers.answer(endpoint, body)


def _query(request: Request) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise RefusedError(f"The address has {name[:100]!r} more than once. Give it once.")
        found[name] = value
    return found


def _kind(request: Request) -> str:
    kind: str = request.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()
