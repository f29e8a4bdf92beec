"""What damaged and hostile files do: `python -m benchmarks.hostile_files [number of mutations]`.

Files of every kind are changed at random, and read in processes of their own, which may take 1 GB more memory than the
libraries do, and 20 seconds a file. Three things are tried:

- *damaged*: bytes are changed. A file that still loads must answer everything as the original does.
- *forged*: contents are changed, and the checksums made right, as an attacker would. What loads must be a whole model:
  it answers with finite numbers, and its certificate holds.
- *signed*: the same, with a signed file and its key. Nothing may load.
"""

import json
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks._hostile_crafted import crafted_files
from benchmarks._hostile_subjects import KEY, KINDS, UNSIGNED
from benchmarks._hostile_worker import SECONDS as WORKER_SECONDS
from benchmarks._results import write_table

# Of the clock, on a busy machine: who is waited for so long waits for something that does not come.
PATIENCE = 200
# Files that one process reads: what is wrong in memory after one file may show with a later one.
_A_PROCESS = 500
MODES = {
    "damaged": "bytes changed",
    "forged": "contents changed, checksums made right",
    "signed": "signed files, changed in both ways, read with the key",
    "crafted": "made by hand",
}
SHARES = {"damaged": 0.4, "forged": 0.4, "signed": 0.2}


def write_originals(folder: Path) -> None:
    """Write a file of every kind, unsigned and signed."""
    for name, kind in KINDS.items():
        kind.make(folder / name, None)
        if name not in UNSIGNED:
            kind.make(folder / f"{name} signed", KEY)


class Worker:
    """A process that reads files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answered = 0
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-m", "benchmarks._hostile_worker", str(self.folder)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )
        self.answered = 0
        if self._answer(PATIENCE) != "ready":
            raise RuntimeError(f"The process did not begin: {self.end()}")

    def tell(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have a file read; return what came of it."""
        if self.answered >= _A_PROCESS:
            self.end()
            self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._answer(PATIENCE)
        if answer is None:
            alive = self._process.poll() is None
            told = self.end()
            self._start()
            outcome = "hung" if alive or told.startswith(str(-signal.SIGXCPU)) else "crashed"
            return {"outcome": outcome, "fault": f"the process ended: {told}", "seconds": 0.0, "megabytes": 0.0}
        self.answered += 1
        return dict(answer)

    def end(self) -> str:
        """End the process; return its status and what it wrote to the standard error."""
        self._process.kill()
        _, said = self._process.communicate()
        return f"{self._process.returncode} {said[-1500:]}"

    def _answer(self, seconds: float) -> Any:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None


def requests(n: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Yield mutations, as numbers that they are drawn by."""
    for mode, share in SHARES.items():
        for seed in range(first, first + round(n * share)):
            yield {"mode": mode, "seed": seed}


def tried(folder: Path, asked: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what came of each request."""
    worker = Worker(folder)
    try:
        for request in asked:
            yield {**request, **worker.tell(request)}
    finally:
        worker.end()


def main() -> None:
    """Try all, print what is at fault, and write the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        originals, made = Path(name) / "originals", Path(name) / "crafted"
        originals.mkdir()
        made.mkdir()
        write_originals(originals)
        crafted = list(crafted_files(originals, made))
        outcomes = []
        for outcome in tried(originals, [*requests(n), *crafted]):
            outcomes.append(outcome)
            if "fault" in outcome:
                print(json.dumps(outcome), flush=True)
            if len(outcomes) % 500 == 0:
                print(f"{len(outcomes)} files", file=sys.stderr, flush=True)
    _write(outcomes, n)
    if any("fault" in outcome for outcome in outcomes):
        raise SystemExit("Some files were not handled as they should be.")


def _write(outcomes: list[dict[str, Any]], n: int) -> None:
    rows = []
    for mode, told in MODES.items():
        own = [outcome for outcome in outcomes if outcome["mode"] == mode]
        counts = Counter(outcome["outcome"] for outcome in own)
        ended, faults = counts["crashed"] + counts["hung"], sum("fault" in outcome for outcome in own)
        memory, seconds = (max(outcome[name] for outcome in own) for name in ("megabytes", "seconds"))
        loaded = counts["loaded"] + counts["the same file"]
        refused = counts["refused"] + counts["diverged"]
        rows.append([told, len(own), refused, loaded, ended, faults, f"{memory:.0f} MB", f"{seconds:.1f} s"])
    header = ["files", "number", "refused", "loaded", "crashed or hung", "at fault", "most memory", "longest"]
    text = f"""
{n:,} mutations of {len(KINDS)} kinds of files ({", ".join(KINDS)})
with fixed seeds, and files that are made to do harm. Each is read in a process that may take 1 GB more than the
libraries do, and {WORKER_SECONDS} seconds of the processor. *Refused* is one line of an `ArtifactError` (or
`RuntimeFileError`). What loads of damaged files answers everything as the original does, to the bit (journals may lack
their last lines). A checkpoint is read by going on with its fit: refused means that it says so and left it as it is,
or, of forged ones, that training diverges and says so; what is gone on with from damaged ones ends with the same bits.
What loads of forged ones answers with finite numbers, saves, and has a certificate that holds;
nothing of a signed file loads with its key unless it is the same file. *At fault* is everything else: another error, a
message of several lines, code or another process that was run, a file that was written.
"""
    write_table("hostile_files", "Damaged and hostile files", text, header, rows)


if __name__ == "__main__":
    main()
