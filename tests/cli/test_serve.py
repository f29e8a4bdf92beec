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
    command += ["--compare", str(folder / "regressor"), "--port", "0"]
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
        assert json.loads(ask(f"{address}healthz")) == {"status": "ok"}
        assert '"comparison":{"name":"regressor"' in ask(address)
        sets = [{"star_rating": [5, 4], "num_helpful": [1, 2], "price": 10}]
        predicted = json.loads(ask(f"{address}api/predict", {"sets": sets}))["predictions"]
        frame = {"star_rating": [[5.0, 4.0]], "num_helpful": [[1.0, 2.0]], "price": [10.0]}
        assert predicted == cs.load(folder / "regressor").predict(pa.table(frame)).tolist()
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=30)
        assert (started.returncode, errors) == (0, "")


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


def test_a_server_for_all_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served(monkeypatch, str(folder / "regressor"), "--port", "0", "--host", "0.0.0.0")  # noqa: S104
    assert "without a password" in capsys.readouterr().out
    served(monkeypatch, str(folder / "regressor"), "--port", "0")
    assert "password" not in capsys.readouterr().out


def test_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("nothing", str(folder / "long.csv")):
        assert main(["serve", path, "--port", "0"]) == 1
        error = capsys.readouterr().err
        assert f"'{path}'" in error
        assert len(error.splitlines()) == 1
