"""Random calls of everything in the compiled module, as it is installed and with AddressSanitizer and UBSan in it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks._results import write_table

ROOT = Path(__file__).parents[1]
SANITIZED = (".ci/sanitize.py", "address")
# Where the module is from, and which instructions it is told to use.
BUILDS = {
    "as installed": ((), ""),
    "AddressSanitizer, UBSan": (SANITIZED, ""),
    "AddressSanitizer, UBSan; baseline instructions": (SANITIZED, "baseline"),
}
PER_PROCESS = 10_000


def main() -> None:
    """Make the calls and count what came of them; end with an error where a process died."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rows, died = [], []
    for name, (before, isa) in BUILDS.items():
        outcomes, dead = _called(before, isa, asked.seed, asked.calls)
        died += [(name, *each) for each in dead]
        kinds = Counter("returned" if outcome == "returned" else "raised" for _, outcome in outcomes)
        functions = len({function for function, _ in outcomes})
        rows.append(
            (name, f"{len(outcomes):,}", functions, f"{kinds['returned']:,}", f"{kinds['raised']:,}", len(dead))
        )
    text = f"""
Calls of every function, class and method of `clearset._native` (`tests/engines/native_fuzz.py`, seed {asked.seed}):
a good call of which arguments were changed at random: contents, shapes, types, strides, alignment, order, lengths,
objects of other kinds, and what was done with an object before. A finding of a sanitizer ends the process.
"""
    header = ("module", "calls", "functions", "returned", "raised an error", "processes that died")
    write_table("native_fuzz", "Random calls of the native module", text, header, rows)
    for name, number, why in died:
        print(f"{name}: call {number} of seed {asked.seed} ended the process: {why}", file=sys.stderr)
    sys.exit(1 if died else 0)


def _called(
    before: tuple[str, ...], isa: str, seed: int, calls: int
) -> tuple[list[tuple[str, str]], list[tuple[int, str]]]:
    """Return what came of each call, and the numbers of those that ended their process, with what it said at last."""
    outcomes: list[tuple[str, str]] = []
    died = []
    number = 0
    while number < calls:
        count = min(PER_PROCESS, calls - number)
        done = subprocess.run(
            [sys.executable, *before, "-m", "tests.engines.native_fuzz", str(seed), str(number), str(count)],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, "CLEARSET_ISA": isa},
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
        outcomes += [(function, outcome) for function, outcome in found]
        if len(found) < count or done.returncode:
            died.append((number + len(found), done.stderr[-3000:]))
            count = len(found) + 1
        number += count
    return outcomes, died


if __name__ == "__main__":
    main()
