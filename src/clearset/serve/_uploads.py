"""Bodies of requests, read within bounds of size and time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request

from clearset.serve._errors import BusyError, TooLargeError
from clearset.serve._limits import SECONDS

_MOST_AT_ONCE = 20


class Uploads:
    """Reads bodies of up to `most` bytes each, and of 20 times as many together."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Hold the body of a request while the block runs.

        Raise TooLargeError if it is too long, BusyError if there are too many others, and TimeoutError if it does not
        arrive in time.
        """
        announced = request.headers.get("content-length", "0")
        if len(announced) > 18 or (announced.isdigit() and int(announced) > self._most):
            raise self._too_large()
        size = 0
        try:
            parts = []
            async with asyncio.timeout(SECONDS):
                async for part in request.stream():
                    size += len(part)
                    self._held += len(part)
                    if size > self._most:
                        raise self._too_large()
                    if self._held > _MOST_AT_ONCE * self._most:
                        raise BusyError("Too many large requests arrive at once. Ask again in a moment.")
                    parts.append(part)
            yield b"".join(parts)
        finally:
            self._held -= size

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"The body has more than {self._most:,} bytes. Send fewer sets at a time.")
