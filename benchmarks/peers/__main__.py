"""The command: ``python -m benchmarks.peers``."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks._results import RESULTS
from benchmarks.peers._cases import FULL, PARTS, QUICK, Case, cases
from benchmarks.peers._environments import CONTENDERS, FOLDER, OURS
from benchmarks.peers._plot import draw
from benchmarks.peers._report import markdown, read, write
from benchmarks.peers._run import Runner

# Of a quick run: the seconds that one fit, and the training of a peer on numeric tokens, may take.
QUICK_LIMIT, QUICK_SECONDS = 15.0, 2.0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser("python -m benchmarks.peers", description="Ours and its peers side by side.")
    parser.add_argument("--quick", action="store_true", help="small sizes, once, in less than three minutes")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        choices=(*PARTS, *CONTENDERS),
        help=f"one part ({', '.join(PARTS)}), or ours and one peer ({', '.join(CONTENDERS)}); may be repeated",
    )
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose title has this text")
    parser.add_argument("--repeats", type=int, help="how often each is run; 3, or 1 of a quick run")
    parser.add_argument("--limit", type=float, help="seconds that one fit may take; 300, or 15 of a quick run")
    parser.add_argument("--seconds", type=float, help="seconds that a peer may train on numeric tokens; 30, or 2")
    parser.add_argument(
        "--output",
        type=Path,
        help="where results go; benchmarks/results, or build/peers/results of a quick or partial run",
    )
    parser.add_argument("--add", action="store_true", help="cases that are not measured keep their earlier results")
    options = parser.parse_args(arguments)
    whole = not (options.quick or options.only or options.case)
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.limit = options.limit or (QUICK_LIMIT if options.quick else 300.0)
    options.seconds = options.seconds or (QUICK_SECONDS if options.quick else 30.0)
    options.output = options.output or (RESULTS if whole else FOLDER / "results")
    return options


def chosen(case: Case, only: list[str]) -> Case | None:
    """Return the case with the contenders that are wanted; None where only ours would be left of a comparison."""
    parts, names = set(only) & set(PARTS), set(only) & set(CONTENDERS)
    if parts and case.part not in parts:
        return None
    if not names:
        return case
    contenders = tuple(name for name in case.contenders if name == OURS or name in names)
    alone = contenders == (OURS,)
    return None if alone and OURS not in names else Case(**(vars(case) | {"contenders": contenders}))


def main() -> None:
    """Run what is asked for; an interrupt leaves what is finished written."""
    options = parsed(sys.argv[1:])
    everything = list(cases(QUICK if options.quick else FULL))
    titled = [case for case in everything if options.case in case.title]
    wanted = [left for case in titled if (left := chosen(case, options.only))]
    commands = shlex.join(("python", "-m", "benchmarks.peers", *sys.argv[1:]))
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), options.repeats, options.limit, options.seconds, len(everything))
        if options.add and (earlier := options.output / "peers.json").exists():
            rows, before = read(earlier)
            anew = {(case.part, case.title) for case in wanted}
            runner.rows = [row for row in rows if (row.case.part, row.case.title) not in anew]
            commands = f"{before}` and then `{commands}"
        stopped = False
        try:
            runner.run(wanted, lambda: write(runner, options.output, commands))
        except KeyboardInterrupt:
            stopped = True
    if runner.rows:
        draw(runner.rows, options.output / "peers.png")
        print(markdown(runner, commands))
    if stopped:
        sys.exit("Interrupted: what was finished is written.")


if __name__ == "__main__":
    main()
