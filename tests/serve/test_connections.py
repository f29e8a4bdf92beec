"""Connections to a running server: those that nothing comes of are ended, and a server that ends answers first."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from clearset.serve import create_app, listening

pytest.importorskip("uvicorn")

# A server whose times are short. It predicts after as many seconds, and as many numbers, as it is told.
SCRIPT = """
import sys, time
import clearset as cs
from clearset.serve import Limits, Service, _handlers, _run, _timed_connections, _uploads, create_app, run

_handlers.SECONDS = _timed_connections.SECONDS = _uploads.SECONDS = 1
_run._SECONDS_TO_END = 2


def predict(self, asked, counts):
    seconds, n = asked["sets"]
    print("begun", flush=True)
    time.sleep(seconds)
    return {"predictions": [0] * n}


Service.predict = predict
run(create_app(cs.load(sys.argv[1]), limits=Limits(processes=2)), "127.0.0.1", 0, lambda url: print(url, flush=True))
"""
Connect = Callable[[], socket.socket]


@contextmanager
def started(model: Path) -> Iterator[tuple["subprocess.Popen[str]", Connect]]:
    command = [sys.executable, "-c", SCRIPT, str(model)]
    opened: list[socket.socket] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        port = int(process.stdout.readline().strip().strip("/").rpartition(":")[2])

        def connect() -> socket.socket:
            opened.append(socket.create_connection(("127.0.0.1", port), timeout=30))
            return opened[-1]

        try:
            yield process, connect
        finally:
            for each in opened:
                each.close()
            process.kill()


@pytest.fixture(scope="module")
def model(cook: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("served") / "cook"
    cook.save(path)
    return path


@pytest.fixture(scope="module")
def connect(model: Path) -> Iterator[Connect]:
    with started(model) as (process, connect):
        yield connect
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")


def request(seconds: float, n: int) -> bytes:
    body = json.dumps({"sets": [seconds, n]}).encode()
    head = "POST /api/predict HTTP/1.1", "Host: localhost", "Content-Type: application/json"
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


def everything(connection: socket.socket) -> bytes:
    """Return what a server sends until it ends the connection."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


def one_answer(connection: socket.socket) -> tuple[int, Any]:
    with connection.makefile("rb") as file:
        status = int(file.readline().split()[1])
        size = 0
        while (line := file.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        return status, json.loads(file.read(size))


@pytest.mark.parametrize("sent", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"])
def test_requests_that_never_come(connect: Connect, sent: bytes) -> None:
    connections = [connect() for _ in range(50)]
    for each in connections:
        each.sendall(sent)
    assert {everything(each) for each in connections} == {b""}


def test_a_second_request_that_never_comes(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert one_answer(connection) == (200, {"status": "ok"})
    connection.sendall(b"GET /hea")
    assert everything(connection) == b""


def test_the_rest_of_a_body_that_was_refused(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    assert one_answer(connection)[0] == 404
    connection.sendall(b"{")
    assert everything(connection) == b""


def test_what_is_not_http(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"nonsense\r\n\r\n")
    head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["code"] == "bad_request"
    assert b"\r\nx-request-id: " + json.loads(body)["request_id"].encode() in head
    assert b"\r\nx-content-type-options: nosniff\r\n" in head
    connection = connect()
    connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert one_answer(connection)[0] == 404
    connection.sendall(b"nonsense\r\n\r\n")
    assert everything(connection) == b""


def test_a_body_that_takes_too_long(connect: Connect) -> None:
    connection = connect()
    connection.sendall(request(0, 1)[:-1])
    head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["message"].startswith("The body did not arrive within 1 seconds")


def test_an_answer_that_is_not_taken(connect: Connect) -> None:
    connection = connect()
    connection.sendall(request(0, 20_000_000))
    time.sleep(5)  # more than it takes to write the answer, and the time in which it must be taken
    assert b"\r\n\r\n" in (found := everything(connection))
    assert len(found) < 40_000_000


def test_work_may_take_longer(connect: Connect) -> None:
    connection = connect()
    for _ in range(2):
        connection.sendall(request(1.5, 1))
        assert one_answer(connection) == (200, {"predictions": [0]})


@pytest.mark.parametrize(("seconds", "answer"), [(1, (200, {"predictions": [0]})), (6, (503, {"code": "ending"}))])
def test_requests_in_progress_are_answered_at_the_end(model: Path, seconds: float, answer: Any) -> None:
    with started(model) as (process, connect):
        working, idle = connect(), connect()
        working.sendall(request(seconds, 1))
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        status, found = one_answer(working)
        assert (status, {name: found[name] for name in answer[1]}) == answer
        assert everything(idle) == b""
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")
        with pytest.raises(ConnectionRefusedError):
            connect()


def children(process: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == process:
                found += [int(folder.name), *children(int(folder.name))]
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, where Linux lists processes")
def test_a_server_that_is_killed_leaves_nothing(model: Path) -> None:
    with started(model) as (process, connect):
        connection = connect()
        connection.sendall(request(0, 1))
        assert one_answer(connection)[0] == 200
        address, workers = connection.getpeername(), children(process.pid)
        assert len(workers) == 3  # two that compute, and the one that replaces them
        process.kill()
        process.wait(30)
        listening(*address).close()  # the port is free at once
        for _ in range(3000):
            if not any(Path(f"/proc/{each}").exists() for each in workers):
                break
            time.sleep(0.01)
        assert [each for each in workers if Path(f"/proc/{each}").exists()] == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, where Linux lists processes")
def test_a_server_whose_workers_are_gone_ends(model: Path) -> None:
    with started(model) as (process, connect):
        connection = connect()
        connection.sendall(request(0, 1))
        assert one_answer(connection)[0] == 200
        for each in children(process.pid):
            os.kill(each, signal.SIGKILL)
        connection.sendall(request(0, 1))
        status, found = one_answer(connection)
        assert (status, found["code"]) == (500, "internal_error")
        assert process.wait(30) == 0


def test_an_upload_that_is_broken_off_is_no_failure(cook: Any, caplog: pytest.LogCaptureFixture) -> None:
    messages = [{"type": "http.request", "body": b'{"sets"', "more_body": True}, {"type": "http.disconnect"}]
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/predict", "headers": headers, "query_string": b""}

    async def receive() -> Any:
        return messages.pop(0)

    async def send(_message: Any) -> None: ...

    with caplog.at_level("INFO", logger="clearset.serve"):
        asyncio.run(create_app(cook)(scope, receive, send))
    assert [each.levelname for each in caplog.records] == ["INFO"]
