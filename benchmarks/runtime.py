"""`clearset.runtime` where nothing else is installed: the same numbers as Python, its footprint, and its speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import timeit
import venv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from packaging.requirements import Requirement

import clearset as cs
from benchmarks._random_models import Case, as_table, expected, item_cases, value_cases
from benchmarks._results import write_table

RUNS = 7
TIMED = ("a number", "texts")
_PROCESS = Path(__file__).parent / "_runtime_process.py"
_IN_FULL = """
import json, os, sys, time
start = time.perf_counter()
import numpy
numpy_there = time.perf_counter()
import clearset as cs
model = cs.load(sys.argv[1])
loaded = time.perf_counter()
memory = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
print(json.dumps({"memory": memory, "numpy": numpy_there - start, "load": loaded - numpy_there}))
"""


def installed(folder: Path) -> Path:
    """Make an environment with clearset and numpy only, from a wheel; return its interpreter."""
    root, environment = Path(__file__).parent.parent, folder / "environment"
    pip: list[Any] = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, root], check=True)
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    version = f"numpy=={np.__version__}"
    command = [
        *pip,
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-compile",
        *folder.glob("clearset-*.whl"),
        version,
    ]
    subprocess.run(command, check=True)
    return python


def bytes_of(names: set[str]) -> int:
    """Return the size of installed distributions."""
    files = chain.from_iterable(distribution(name).files or () for name in names)
    return sum(
        path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file() and path.suffix != ".pyc"
    )


def needed(name: str, found: set[str]) -> set[str]:
    """Return a distribution and all that it needs."""
    if name not in found:
        found.add(name)
        for line in distribution(name).requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                needed(wanted.name, found)
    return found


def in_process(command: Sequence[Any]) -> dict[str, float]:
    """Run a command that prints numbers several times, and return the median of each."""
    runs = [json.loads(subprocess.run(list(command), check=True, capture_output=True).stdout) for _ in range(RUNS)]
    return {name: median(run[name] for run in runs) for name in runs[0]}


def ms(seconds: float) -> str:
    """Write seconds as milliseconds."""
    return f"{1e3 * seconds:,.3g} ms"


def rows(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the table."""
    python, cases = installed(folder), list(chain(value_cases(), item_cases()))
    names = {case.name: f"{place:02} {case.name}" for place, case in enumerate(cases)}
    for case in cases:
        case.model.to_runtime(folder / f"{names[case.name]}.runtime")
        (folder / f"{names[case.name]}.json").write_text(json.dumps(case.sets))
    subprocess.run([python, "-I", _PROCESS, "score", folder], check=True)
    for case in cases:
        yield (f"same numbers: {case.name}", *differences(case, folder / f"{names[case.name]}.npz"))

    alone = sum(path.stat().st_size for path in (folder / "environment" / "lib").rglob("*") if path.is_file())
    yield "installed size", f"{alone / 1e6:.0f} MB", f"{bytes_of(needed('clearset', set())) / 1e6:.0f} MB"
    for name in TIMED:
        case = next(case for case in cases if case.name == name)
        yield from timed(case, names[name], python, folder)


def differences(case: Case, found: Path) -> tuple[str, str]:
    """Return how far estimates and contributions are from Python's, relative to the largest of them."""
    there = np.load(found)
    wanted, X = expected(case), as_table(case.sets) if isinstance(case.sets, dict) else case.sets
    contributions = case.model.explain(X).tokens["contribution"].to_numpy()
    parts = [
        np.abs(got - told).max() / max(1.0, np.abs(told).max())
        for got, told in ((there["estimates"], wanted), (there["contributions"], contributions))
    ]
    assert max(parts) < 1e-9, (case.name, parts)
    return (
        f"{len(wanted):,} sets: {parts[0]:.1e}; {len(contributions):,} contributions: {parts[1]:.1e}",
        "compared with",
    )


def timed(case: Case, file: str, python: Path, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield times and memory of one model."""
    case.model.save(folder / "model.clearset")
    os.environ["OMP_NUM_THREADS"] = "1"
    small = in_process([python, "-I", _PROCESS, file, folder])
    full = in_process([sys.executable, "-c", _IN_FULL, folder / "model.clearset"])
    yield (f"{case.name}: import beside numpy, and load", ms(small["import"] + small["load"]), ms(full["load"]))
    yield f"{case.name}: resident memory after that", f"{small['memory']:.0f} MB", f"{full['memory']:.0f} MB"
    X = as_table(case.sets) if isinstance(case.sets, dict) else case.sets
    model = cs.load(folder / "model.clearset")
    for what, part in (("one", X[:1]), ("all", X)):
        repeat = 20 if what == "one" else 3
        calls: dict[str, Callable[[], Any]] = {
            "predict": partial(model.predict, part),
            "explain": partial(model.explain, part),
        }
        for name, call in calls.items():
            seconds = min(timeit.repeat(call, number=1, repeat=repeat))
            sets = "one set" if what == "one" else f"{len(X):,} sets"
            yield f"{case.name}: {name} {sets}", ms(small[f"{name} {what}"]), ms(seconds)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write_table(
            "runtime",
            "Models with numpy and the native module only",
            "An environment of numpy and clearset's wheel, installed with --no-deps, beside clearset with all that\n"
            "it needs. Differences are relative to the largest value, or to 1; the one is given sets as Python lists,\n"
            "the other as lists or Arrow tables. Median of 7 processes; calls: the fastest.",
            ("what", "clearset.runtime", "clearset"),
            rows(Path(made)),
        )
