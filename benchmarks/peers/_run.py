"""Cases are run one after the other, each contender in a process of its own; what is finished is kept."""

from __future__ import annotations

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers._cases import Case, Data
from benchmarks.peers._data import write_items, write_numeric
from benchmarks.peers._environments import CONTENDERS, ROOT, PeerMissingError, command, variables

# Imports, reading the data and measuring quality may take this long beside the limit.
BESIDE_SECONDS = 30.0
# How time is taken to grow with the size, as long as two sizes do not say: small data are mostly overhead.
FIRST_EXPONENT = 0.5


class ContenderError(Exception):
    """A contender brought no result; the message says why."""


@dataclass
class Row:
    """What one contender did in one case: medians of the repeats, or the reason why there are none."""

    case: Case
    contender: str
    values: dict[str, float] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    repeats: int = 0
    why_not: str = ""


@dataclass
class Runner:
    """Runs cases in a folder for data.

    Parameters
    ----------
    folder : Path
        Where data are written for the contenders.
    repeats : int
        How often each contender is run; in turns, so that what disturbs one disturbs all.
    limit : float
        The wall time in seconds that one fit may take.
    seconds : float
        How long peers may train on numeric tokens; the epoch that is under way is finished.
    total : int
        How many cases there are, those included that nobody asked for.
    """

    folder: Path
    repeats: int
    limit: float
    seconds: float
    total: int = 0
    rows: list[Row] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    _seen: dict[tuple[str, str, str], list[tuple[int, float]]] = field(default_factory=dict)

    def run(self, cases: Iterable[Case], keep: Callable[[], None]) -> None:
        """Run all cases; `keep` is called after each of them."""
        todo = list(cases)
        for number, case in enumerate(todo, 1):
            print(f"[{number}/{len(todo)}] {case.part}: {case.title}", file=sys.stderr, flush=True)
            self.rows += self._case(case)
            keep()

    def _case(self, case: Case) -> list[Row]:
        rows = {name: Row(case, name, why_not=self._too_slow(case, name)) for name in case.contenders}
        results: dict[str, list[dict[str, Any]]] = {name: [] for name in rows}
        data = self._data(case.data)
        for _ in range(self.repeats):
            for name, row in rows.items():
                if row.why_not or name in self.missing:
                    continue
                try:
                    results[name].append(self._one(case, name, data))
                except PeerMissingError as error:
                    self.missing[name] = str(error)
                    print(f"    {CONTENDERS[name].title} is skipped: {error}", file=sys.stderr, flush=True)
                except ContenderError as error:
                    row.why_not = str(error)
                    print(f"    {CONTENDERS[name].title}: {error}", file=sys.stderr, flush=True)
        for name, row in rows.items():
            _fill(row, results[name])
            wall = row.values.get("wall", self.limit if row.why_not else 0.0)
            self._seen.setdefault((case.part, case.series, name), []).append((case.at, wall))
        return [row for name, row in rows.items() if name not in self.missing]

    def _too_slow(self, case: Case, name: str) -> str:
        """Say why a contender is not asked, judging by smaller sizes of the same series."""
        seen = self._seen.get((case.part, case.series, name), [])
        if not seen or not case.at or not seen[-1][1]:
            return ""
        exponent = FIRST_EXPONENT
        if len(seen) > 1 and seen[-2][1]:
            exponent = math.log(seen[-1][1] / seen[-2][1]) / math.log(seen[-1][0] / seen[-2][0])
        at, wall = seen[-1]
        expected = wall * (case.at / at) ** exponent
        if expected <= self.limit:
            return ""
        return f"not run: about {expected:.0f} s would be needed, and {self.limit:.0f} s are allowed"

    def _data(self, data: Data) -> Path:
        folder = self.folder / "-".join(map(str, data))
        if not folder.exists():
            folder.mkdir()
            write = write_numeric if data.kind == "numeric" else write_items
            write(folder, data.n_sets, data.n)
        return folder

    def _one(self, case: Case, name: str, data: Path) -> dict[str, Any]:
        job = case.job | {"data": str(data), "seconds": self.seconds} | dict(CONTENDERS[name].extra)
        arguments = [*command(name), json.dumps(job)]
        begun = time.perf_counter()
        result = _child(arguments, variables(name, case.job["threads"]), self.limit + BESIDE_SECONDS)
        if result.get("wall", 0.0) > self.limit:
            print(f"    {CONTENDERS[name].title} took longer than the limit", file=sys.stderr, flush=True)
        told = f"{result['wall']:.2f} s, " if "wall" in result else ""
        whole = time.perf_counter() - begun
        print(f"    {CONTENDERS[name].title}: {told}{whole:.1f} s in all", file=sys.stderr, flush=True)
        return result


def _child(arguments: list[str], settings: dict[str, str], limit: float) -> dict[str, Any]:
    """Run a process and return the JSON of its last line; it ends with its own children, whatever happens."""
    process = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise ContenderError(f"not finished after {limit:.0f} s") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = out.splitlines()
    if process.returncode or not lines:
        raise ContenderError(f"failed: {(errors.strip().splitlines() or ['no output'])[-1]}")
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def _fill(row: Row, results: list[dict[str, Any]]) -> None:
    """Put medians of numbers and the last of everything else into a row."""
    if not results:
        return
    row.repeats = len(results)
    for key, value in results[-1].items():
        if isinstance(value, int | float):
            row.values[key] = statistics.median(result[key] for result in results)
        else:
            row.said[key] = value
