"""Processes that compute requests, forked from the server's: no request waits for the interpreter of another.

A process that takes too long is ended by its own alarm clock, one that dies for any other reason likewise harms only
the request that it was computing; the *keeper*, which has nothing else to do, forks another one in its place.
"""

import asyncio
import gc
import json
import os
import signal
import socket
import stat
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

from clearset.serve._endpoints import ENDPOINTS, Endpoint
from clearset.serve._limits import Limits
from clearset.serve._service import Service
from clearset.serve._work import Outcome, computed, failed
from clearset.serve._workers import Workers

_SIZES = struct.Struct("!QQ")
_BY_NAME = {endpoint.name: endpoint for endpoint in ENDPOINTS}
_DIED = b"died"
_STANDARD = 2  # the last of the standard streams
_LATE = 5  # seconds after which a worker that has neither answered nor died has lost its place


class Processes(Workers):
    """Computes in processes of their own; they hold the service as it was when they were started."""

    def __init__(self, service: Service, limits: Limits) -> None:
        super().__init__(limits.processes, limits)
        self._service = service
        self._idle: list[socket.socket] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let processes compute while the block runs; then those end too whose answers nobody waits for."""
        pairs = [socket.socketpair() for _ in range(self.n)]
        keeper = os.fork()
        if not keeper:
            _keep(self._service, [theirs for _, theirs in pairs])
        for ours, theirs in pairs:
            theirs.close()
            ours.setblocking(False)
        self._idle = [ours for ours, _ in pairs]
        try:
            yield
        finally:
            for ours, _ in pairs:
                ours.close()
            with suppress(ProcessLookupError):
                os.killpg(keeper, signal.SIGKILL)
            os.waitpid(keeper, 0)

    async def _compute(self, endpoint: Endpoint, body: bytes, end: float) -> Outcome:
        loop, worker = asyncio.get_running_loop(), self._idle.pop()
        try:
            async with asyncio.timeout_at(end + _LATE):
                await _send(worker, json.dumps([endpoint.name, end - loop.time()]).encode(), body)
                about, content = await _received(worker)
        except (TimeoutError, OSError, EOFError) as error:
            # The keeper is gone, or a process died while it read or wrote. What starts servers starts another one.
            signal.raise_signal(signal.SIGTERM)
            return failed(error)
        finally:
            self._idle.append(worker)
        if about == _DIED:
            number = int(content)
            if number == signal.SIGALRM:
                raise self.too_long()
            return Outcome(
                b"The process that computed this has ended. Ask again, or for less.",
                "internal_error",
                failure=f"a worker was ended by signal {number}",
            )
        code, sets, tokens, failure = json.loads(about)
        return Outcome(content, code, sets, tokens, failure)


async def _send(connection: socket.socket, head: bytes, content: bytes) -> None:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(connection, _SIZES.pack(len(head), len(content)) + head)
    await loop.sock_sendall(connection, content)


async def _received(connection: socket.socket) -> tuple[bytes, bytes]:
    loop = asyncio.get_running_loop()

    async def take(size: int) -> bytes:
        found, n = bytearray(size), 0
        while n < size:
            read = await loop.sock_recv_into(connection, memoryview(found)[n:])
            if not read:
                raise EOFError("The connection to a worker has ended.")
            n += read
        return bytes(found)

    sizes = _SIZES.unpack(await take(_SIZES.size))
    return await take(sizes[0]), await take(sizes[1])


def _keep(service: Service, connections: Sequence[socket.socket]) -> NoReturn:
    """Fork a worker for each connection, and another one in place of each that dies."""
    status = 1
    try:
        os.setpgid(0, 0)  # Ctrl-C in a terminal is for the server alone
        # Told to end by a signal to all its processes, a server still answers what it has begun.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _close_other_sockets(connections)
        gc.freeze()  # memory that is not written to stays shared
        running = {_fork(service, each): each for each in connections}
        while running:
            process, status = os.wait()
            connection = running.pop(process)
            if status:
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                _write(connection, _DIED, str(number).encode())
                running[_fork(service, connection)] = connection
        status = 0
    finally:
        os._exit(status)


def _fork(service: Service, connection: socket.socket) -> int:
    """Return the number of a new process, which answers what comes through a connection until that ends."""
    if process := os.fork():
        return process
    status = 1
    try:
        with connection.makefile("rb") as file:
            while sizes := file.read(_SIZES.size):
                n_head, n_content = _SIZES.unpack(sizes)
                name, seconds = json.loads(file.read(n_head))
                body = file.read(n_content)
                signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
                outcome = computed(service, _BY_NAME[name], body)
                signal.setitimer(signal.ITIMER_REAL, 0)
                about = [outcome.code, outcome.sets, outcome.tokens, outcome.failure]
                _write(connection, json.dumps(about).encode(), outcome.content)
        status = 0
    except ConnectionError:  # the server has ended
        status = 0
    finally:
        os._exit(status)


def _write(connection: socket.socket, head: bytes, content: bytes) -> None:
    connection.sendall(_SIZES.pack(len(head), len(content)) + head)
    connection.sendall(content)


def _close_other_sockets(kept: Sequence[socket.socket]) -> None:
    """Close the server's port and connections, which would otherwise stay open as long as this process lives."""
    numbers = {each.fileno() for each in kept}
    for number in [int(each.name) for each in Path("/dev/fd").iterdir()]:
        # Standard streams may be sockets too. Other files stay: Arrow closes its own whenever a process is forked.
        with suppress(OSError):  # the listing itself was a file
            if number > _STANDARD and number not in numbers and stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)
