"""The server as a program: it says where it is, answers, and ends when told to."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import clearset as cs
from clearset.cli import main

pytest.importorskip("uvicorn")


def ask(address: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return answer.read().decode()


@contextmanager
def ending(process: "subprocess.Popen[str]") -> Iterator[None]:
    """End a process whatever happens, for a test would wait for it."""
    try:
        yield
    finally:
        process.kill()


def test_it_serves_until_it_is_interrupted(folder: Path) -> None:
    command = [sys.executable, "-c", "import sys; from clearset.cli import main; sys.exit(main())", "serve"]
    command += [str(folder / "regressor"), "--data", str(folder / "sets.parquet"), "--label", "sales"]
    command += ["--compare", str(folder / "regressor"), "--port", "0", "--log-format", "json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (
        subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as started,
        ending(started),
    ):
        assert started.stdout is not None
        address = started.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert json.loads(ask(f"{address}health")) == {"status": "ok"}
        assert '"comparison":{"name":"regressor"' in ask(address)
        sets = [{"star_rating": [5, 4], "num_helpful": [1, 2], "price": 10}]
        predicted = json.loads(ask(f"{address}api/predict", {"sets": sets}))["predictions"]
        frame = {"star_rating": [[5.0, 4.0]], "num_helpful": [[1.0, 2.0]], "price": [10.0]}
        assert predicted == cs.load(folder / "regressor").predict(pa.table(frame)).tolist()
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=30)
        assert started.returncode == 0
        logged = [json.loads(line) for line in errors.splitlines()]
        assert [(each["route"], each["status"]) for each in logged] == [
            ("/health", 200), ("/", 200), ("/api/predict", 200)
        ]  # fmt: skip
        assert (logged[2]["sets"], logged[2]["tokens"]) == (1, 2)


def test_a_port_in_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", str(folder / "regressor"), "--port", port]) == 1
    error = capsys.readouterr().err
    assert f"Port {port} of 127.0.0.1 is in use" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--compare", "x"], "--data"),
        (["--label", "sales"], "--data"),
        (["--host", "no.such.host.invalid"], "no address"),
        (["--data", "nothing.csv"], "there is no such file"),
        (["--data", "{folder}/long.csv"], "--by"),
        (["--data", "{folder}/sets.parquet", "--label", "sold"], "no column 'sold'"),
        (["--data", "{folder}/classes.parquet", "--label", "level"], "must hold numbers"),
        (["--data", "{folder}/sets.parquet", "--compare", "nothing"], "Cannot read 'nothing'"),
        (
            ["--data", "{folder}/sets.parquet", "--compare", "{folder}/classifier"],
            "/classifier', a SetClassifier, cannot be compared with '{folder}/regressor', a SetRegressor",
        ),
    ],
)
def test_wrong_calls(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    filled = [each.format(folder=folder) for each in arguments]
    assert main(["serve", str(folder / "regressor"), "--port", "0", *filled]) == 1
    error = capsys.readouterr().err
    assert said.format(folder=folder) in error
    assert len(error.splitlines()) == 1


def served(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Return the application that a command would serve, without serving it."""
    found = []

    def run(app: Any, host: str, port: int, ready: Any) -> None:
        found.append(app)
        ready(f"http://{host}:{port}/")

    monkeypatch.setattr("clearset.serve.run", run)
    monkeypatch.setattr("clearset.serve.log_to_stderr", lambda _: None)  # it is for the whole process
    assert main(["serve", *arguments]) == 0
    return found[0]


def test_keys_are_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing = pytest.importorskip("starlette.testclient")
    long = [str(folder / "regressor"), "--data", str(folder / "long.csv"), "--by", "product"]
    app = served(monkeypatch, *long, "--set-columns", "price", "--port", "0")
    keys = pa.csv.read_csv(folder / "long.csv")["product"].unique().to_pylist()
    with testing.TestClient(app, base_url="http://127.0.0.1") as client:
        found = [client.get(f"/api/example?row={row}").json()["name"] for row in (0, 70)]
    assert found == [f"product {keys[0]}", f"product {keys[70]}"]


KEY = "a-key-of-the-tests"
FOR_ALL = ("--port", "0", "--host", "0.0.0.0")  # noqa: S104


@pytest.mark.parametrize("from_file", [True, False])
def test_a_server_for_all(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], from_file: bool
) -> None:
    testing = pytest.importorskip("starlette.testclient")
    (tmp_path / "key").write_text(f"{KEY}\n")
    monkeypatch.setenv("CLEARSET_API_KEY", "another-key-of-the-tests" if from_file else KEY)
    options = ["--allow-host", "Models.example", "--allow-host", "fe80::1"]
    options += ["--api-key-file", str(tmp_path / "key")] if from_file else []
    app = served(monkeypatch, str(folder / "regressor"), *FOR_ALL, *options)
    said = capsys.readouterr().out
    assert "asked as: localhost, 127.0.0.1, [::1], 0.0.0.0, models.example, [fe80::1]" in said
    assert "needs the key" in said
    assert KEY not in said
    key = {"authorization": f"Bearer {KEY}"}
    for host, headers, status in [
        ("models.example", key, 200), ("localhost", key, 200), ("[fe80::1]", key, 200), ("evil.example", key, 400),
        ("models.example", {}, 401), ("models.example", {"authorization": "Bearer another-key-of-the-tests"}, 401),
    ]:  # fmt: skip
        with testing.TestClient(app, base_url=f"http://{host}:8000") as client:
            assert client.get("/api/model", headers=headers).status_code == status, (host, headers)


def test_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing = pytest.importorskip("starlette.testclient")
    options = ["--max-body", "1000", "--max-sets", "2", "--max-rows", "3", "--max-tokens", "4", "--processes", "1"]
    app = served(monkeypatch, str(folder / "regressor"), "--port", "0", *options)
    one = {"star_rating": [5, 4], "num_helpful": [1, 2], "price": 10}
    with testing.TestClient(app, base_url="http://127.0.0.1") as client:
        assert "clearset_workers 1" in client.get("/metrics").text
        for path, sets, status in [
            ("predict", [one] * 2, 200), ("predict", [one] * 3, 413), ("predict", [one] * 40, 413),
            ("explain", [one], 200), ("explain", [one] * 2, 413),
            ("predict", [one, {**one, "star_rating": [1, 2, 3], "num_helpful": [1, 2, 3]}], 413),
        ]:  # fmt: skip
            assert client.post(f"/api/{path}", json={"sets": sets}).status_code == status, (path, sets)


def test_a_server_for_this_machine_needs_no_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CLEARSET_API_KEY", raising=False)
    served(monkeypatch, str(folder / "regressor"), "--port", "0")
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (None, FOR_ALL, "a key is needed. Write one to a file and name it by --api-key-file, or set CLEARSET_API_KEY."),
        (None, (*FOR_ALL, "--api-key-file", "{path}"), "Cannot read --api-key-file '{path}': No such file"),
        (b"secret", (*FOR_ALL, "--api-key-file", "{path}"), "The API key must have 16 to"),
        (b"\xff" * 20, (*FOR_ALL, "--api-key-file", "{path}"), "'{path}' is not a text file"),
        (None, ("--port", "0", "--allow-host", "http://models.example"), "'http://models.example' is no host name"),
    ],
)  # fmt: skip
def test_servers_that_do_not_start(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    options: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setenv("CLEARSET_API_KEY", "")
    monkeypatch.setattr("clearset.serve.run", lambda *_: pytest.fail("started"))
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    assert main(["serve", str(folder / "regressor"), *(each.format(path=path) for each in options)]) == 1
    error = capsys.readouterr().err
    assert said.format(path=path) in error
    assert "secret" not in error.replace("secrets", "")
    assert len(error.splitlines()) == 1


def test_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("nothing", str(folder / "long.csv")):
        assert main(["serve", path, "--port", "0"]) == 1
        error = capsys.readouterr().err
        assert f"'{path}'" in error
        assert len(error.splitlines()) == 1
