"""Connections that end when nothing comes of them. It needs uvicorn."""

import asyncio
from typing import Any
from uuid import uuid4

from h11 import Data, EndOfMessage, LocalProtocolError, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from clearset.serve._json_bodies import written
from clearset.serve._limits import SECONDS
from clearset.serve._recording import added_headers


class TimedConnection(H11Protocol):
    """A connection that is cut where no request begins within a time: after it was made, and after every answer.

    uvicorn itself waits without end for the rest of some headers, for the rest of a body that was refused, and for a
    client that does not take its answer.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request; it may already be there."""
        self._wait()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; after an answer there is nothing to say, and the connection ends."""
        identifier = uuid4().hex
        said = f"{msg} Send one as HTTP/1.1 has it."
        found = {"code": "bad_request", "message": said, "request_id": identifier}
        headers = [(b"content-type", b"application/json"), (b"connection", b"close"), *added_headers(identifier)]
        try:
            output = self.conn.send(Response(status_code=400, headers=headers, reason=b"Bad Request"))
            output += self.conn.send(Data(data=written(found))) + self.conn.send(EndOfMessage())
        except LocalProtocolError:
            self.transport.abort()
            return
        self.transport.write(output)
        self.transport.close()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(SECONDS, self._cut, self.cycle)

    def _cut(self, last: Any) -> None:
        if self.cycle is last:
            self.transport.abort()
