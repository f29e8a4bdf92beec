"""A server under load on this machine: 64 connections, mixed requests, and clients that are slow or never speak.

It is a server of a process of its own, as ``clearset serve`` starts it, and ends with this command.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import clearset as cs
from benchmarks._results import write_table

CONNECTIONS = 64
SLOW = {"headers": 100, "bodies": 100, "reading": 20}
HALF_OPEN = 300
WORDS = [f"word {place}" for place in range(300)]


@dataclass
class Load:
    """What requests took, by kind, and what went wrong."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """The number of requests."""
        return sum(map(len, self.seconds.values()))

    def at(self, share: float, kind: str | None = None) -> str:
        """Return milliseconds that a share of the requests, or of those of a kind, did not exceed."""
        times = self.seconds[kind] if kind else [each for several in self.seconds.values() for each in several]
        return f"{1000 * float(np.quantile(times, share)):.0f}"


def requests(rng: random.Random) -> dict[str, bytes]:
    """Return a request of each kind, as it is sent."""
    sets = [rng.sample(WORDS, rng.randint(1, 10)) for _ in range(200)]
    return {
        "predict, one set": _post("/api/predict", {"sets": sets[:1]}),
        "predict, 200 sets": _post("/api/predict", {"sets": sets}),
        "explain, one set": _post("/api/explain", {"sets": sets[:1]}),
        "explain, 20 sets": _post("/api/explain", {"sets": sets[:20]}),
        "search": _get(f"/api/tokens?search={rng.randint(0, 299)}"),
        "the page": _get("/"),
        "/health": _get("/health"),
    }


WEIGHTS = {"predict, one set": 10, "predict, 200 sets": 2, "explain, one set": 5, "explain, 20 sets": 1, "search": 4}


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def _post(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def client(port: int, end: float, load: Load, seed: int) -> None:
    """Ask one question after the other over one connection, until a time."""
    rng = random.Random(seed)  # noqa: S311
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        asked = requests(rng)
        kind = rng.choices(list(asked), [WEIGHTS.get(each, 1) for each in asked])[0]
        begun = time.perf_counter()
        try:
            writer.write(asked[kind])
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
            await reader.readexactly(size)
        except (OSError, EOFError) as error:
            load.wrong[type(error).__name__] += 1
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        load.seconds[kind].append(time.perf_counter() - begun)
        if (status := head.split()[1].decode()) != "200":
            load.wrong[f"{kind}: {status}"] += 1
    writer.close()


async def loaded(port: int, seconds: float, load: Load, connections: int = CONNECTIONS) -> None:
    """Ask over many connections for some seconds."""
    end = time.perf_counter() + seconds
    await asyncio.gather(*(client(port, end, load, seed) for seed in range(connections)))


async def slow_client(port: int, kind: str) -> None:
    """Be slow without end; begin again whenever the server ends the connection."""
    asked = _post("/api/predict", {"sets": [["word 1"]] * 1000})
    begun = {"headers": 20, "bodies": len(asked) - 5000}
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            if kind not in begun:
                large = _post("/api/predict", {"sets": [["word 1"]] * 20_000})
                writer.transport.pause_reading()  # type: ignore[attr-defined]
                writer.write(large)
                await asyncio.sleep(3600)
            at = begun[kind]
            writer.write(asked[:at])
            while not writer.is_closing():
                await asyncio.sleep(1)
                writer.write(asked[at : at + 1])
                at += 1
        except OSError:
            await asyncio.sleep(0.1)


async def settled(port: int) -> None:
    """Wait until what slow clients have asked for is computed, which would take as long if they were quick."""
    for _ in range(200):
        await asyncio.sleep(0.5)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_get("/metrics").replace(b"localhost", b"localhost\r\nConnection: close"))
        waiting = re.search(rb"clearset_requests_waiting (\d+)", await reader.read())
        writer.close()
        if waiting and waiting[1] == b"0":
            return


@asynccontextmanager
async def slow_clients(port: int) -> AsyncIterator[None]:
    """Let slow clients and half-open connections be there while the block runs."""
    tasks = [asyncio.ensure_future(slow_client(port, kind)) for kind, n in SLOW.items() for _ in range(n)]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(HALF_OPEN)]
    await settled(port)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for _, writer in opened:
            writer.close()


def memory(process: int) -> float:
    """Return the megabytes of memory of a process and all that it has started, shared pages counted in parts."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) == process or _begun_by(int(folder.name), process):
                lines = (folder / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000
        except (OSError, ValueError):
            continue
    return total


def _begun_by(process: int, ancestor: int) -> bool:
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        if process == ancestor:
            return True
    return False


def train(path: Path) -> int:
    """Save a model of 300 words and several thousand tokens; return their number."""
    rng = np.random.default_rng(0)
    X = [rng.choice(WORDS, rng.integers(1, 10), replace=False).tolist() for _ in range(5000)]
    y = np.array([sum(len(word) % 3 for word in row) for row in X], float)
    model = cs.SemanticRegressor(cs.Subsets(2), [cs.MinCount(2)], epochs=3, random_state=0, n_jobs=1).fit(X, y)
    model.save(path)
    return len(model.token_table_)


async def measured(port: int, process: int, seconds: float) -> tuple[Load, Load, Load, list[float]]:
    """Return the load alone, less load, the same beside slow clients, and the memory from the start to the end."""
    used = [memory(process)]
    await loaded(port, 3, Load())  # the first requests touch what later ones share
    alone = Load()
    used.append(memory(process))
    watched = asyncio.ensure_future(loaded(port, seconds, alone))
    await asyncio.sleep(seconds / 2)
    used.append(await asyncio.to_thread(memory, process))
    await watched
    used.append(memory(process))
    quiet, beside = Load(), Load()
    await loaded(port, seconds / 3, quiet, 8)
    async with slow_clients(port):
        await loaded(port, seconds / 3, beside, 8)
    used.append(memory(process))
    return alone, quiet, beside, used


def main() -> None:
    """Start a server, load it, and end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it is loaded")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        n_tokens = train(Path(folder) / "model")
        command = [sys.executable, "-m", "clearset", "serve", f"{folder}/model", "--port", "0", "--log-format", "json"]
        log = Path(folder, "log")
        with log.open("w") as file, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as server:
            assert server.stdout is not None
            try:
                port = int(server.stdout.readline().split()[0].strip("/").rpartition(":")[2])
                alone, quiet, beside, used = asyncio.run(measured(port, server.pid, seconds))
            finally:
                server.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    failed = sum(line["status"] >= 500 for line in lines)
    wrong = alone.wrong + quiet.wrong + beside.wrong
    rows = [
        (f"{CONNECTIONS} connections: {kind}", len(times), alone.at(0.5, kind), alone.at(0.99, kind))
        for kind, times in sorted(alone.seconds.items())
    ]
    rows += [
        (f"{CONNECTIONS} connections: all", alone.n, alone.at(0.5), alone.at(0.99)),
        ("8 connections: all", quiet.n, quiet.at(0.5), quiet.at(0.99)),
        ("8 connections, beside slow clients: all", beside.n, beside.at(0.5), beside.at(0.99)),
    ]
    said = ", ".join(f"{n} {what}" for what, n in wrong.items()) or "none"
    megabytes = ", ".join(f"{each:.0f}" for each in used)
    text = f"""
`clearset serve` on 127.0.0.1, with a model of {n_tokens:,} tokens; {os.cpu_count()} processors for server and clients.
{alone.n / seconds:.0f} requests a second over {CONNECTIONS} connections for {seconds:.0f} s.
Of {alone.n + quiet.n + beside.n:,} requests {wrong.total()} had no answer or another status than 200 ({said}).
The log has {failed} with 500 and more. The server ended with status {server.returncode} when it was told to.
Memory of all its processes at the start, after 3 s of requests, after {seconds / 2:.0f} s more, at the end and
after the slow clients: {megabytes} MB (pages that are shared count once).
Slow clients: {SLOW["headers"]} send a byte of their headers a second and {SLOW["bodies"]} a byte of their body;
they come again when they are cut. {SLOW["reading"]} do not read answers of 400 KB, and {HALF_OPEN} say nothing.
The machine had other work too.
Milliseconds from the first byte sent to the last received:
"""
    write_table("server_load", "A server under load", text, ("requests", "n", "p50", "p99"), rows)


if __name__ == "__main__":
    main()
