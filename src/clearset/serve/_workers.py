"""Who computes requests: a bounded number at a time, while a bounded number waits."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from threading import Thread

from clearset.engines import available_engines
from clearset.serve._endpoints import Endpoint
from clearset.serve._errors import BusyError, TookTooLongError
from clearset.serve._limits import Limits
from clearset.serve._service import Service
from clearset.serve._work import Outcome, computed

_LIGHT_BODY = 50_000
"""Bytes of the body of a prediction that is expected to take milliseconds."""


def usual_number() -> int:
    """Return how many requests are computed at a time by default.

    Returns
    -------
    int
        One for each processor, and one for those that are quick.
    """
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n + 1


class Workers(ABC):
    """Computes requests, each by one of `n` workers; requests that may take long leave one of them to others."""

    def __init__(self, n: int, limits: Limits) -> None:
        self.n, self.waiting, self._limits = n, 0, limits
        self._free = asyncio.Semaphore(n)
        self._free_for_long = asyncio.Semaphore(max(1, n - 1))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be able to answer while the block runs."""
        yield

    async def answer(self, endpoint: Endpoint, body: bytes) -> Outcome:
        """Return what is answered to the JSON sent to an endpoint; raise an error if it waits or takes too long."""
        if self.waiting >= self._limits.waiting:
            raise BusyError(f"{self.waiting:,} requests are waiting already. Ask again in a moment.")
        end = asyncio.get_running_loop().time() + self._limits.seconds
        taken = [self._free]
        if endpoint.long or len(body) > _LIGHT_BODY:
            taken.insert(0, self._free_for_long)
        await self._take(taken, end)
        work = asyncio.ensure_future(self._compute(endpoint, body, end))

        def finished(_: object) -> None:  # also if nobody waits for it any longer
            for each in taken:
                each.release()
            if not work.cancelled():
                work.exception()

        work.add_done_callback(finished)
        done, _ = await asyncio.wait({work}, timeout=end - asyncio.get_running_loop().time())
        if not done:
            raise self.too_long()
        return work.result()

    def too_long(self) -> TookTooLongError:
        """Return the error of a computation that is given up."""
        return TookTooLongError(f"The answer was not found within {self._limits.seconds:,} seconds. Ask for less.")

    async def _take(self, semaphores: list[asyncio.Semaphore], end: float) -> None:
        held: list[asyncio.Semaphore] = []
        self.waiting += 1
        try:
            async with asyncio.timeout_at(end):
                for each in semaphores:
                    await each.acquire()
                    held.append(each)
        except BaseException as error:
            for each in held:
                each.release()
            if isinstance(error, TimeoutError):
                raise BusyError(f"Other requests have taken {self._limits.seconds:,} seconds. Ask again.") from None
            raise
        finally:
            self.waiting -= 1

    @abstractmethod
    async def _compute(self, endpoint: Endpoint, body: bytes, end: float) -> Outcome:
        """Compute what should be known by a time of the loop's clock."""


class Threads(Workers):
    """Computes in threads of this process. What takes too long goes on, and nobody hears of it."""

    def __init__(self, service: Service, limits: Limits) -> None:
        # Torch, which calculates where the compiled module is missing, has one number of threads for the process.
        super().__init__(usual_number() if available_engines()[0] == "native" else 1, limits)
        self._service = service

    async def _compute(self, endpoint: Endpoint, body: bytes, end: float) -> Outcome:  # noqa: ARG002
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Outcome] = loop.create_future()

        def deliver(outcome: Outcome) -> None:
            if not found.done():
                found.set_result(outcome)

        def work() -> None:
            outcome = computed(self._service, endpoint, body)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(deliver, outcome)

        Thread(target=work, daemon=True).start()
        return await found
