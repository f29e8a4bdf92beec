"""Run the blocks of a page one after the other in one process, and write what each prints.

Started as ``python page_session.py BLOCKS RESULTS``: BLOCKS is a JSON list of language and text, and RESULTS is
written as a JSON list of outputs. Lines that call ``clearset`` and nothing else call its `main` here, as a shell would
call the command, but for the time that every start of Python takes. Other lines are bash's.
"""

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

PLAIN = re.compile(r"clearset [^|&;<>$`\n]*")


def run_shell(text: str) -> None:
    """Run the lines of a block of bash, each of which must succeed."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    if not all(PLAIN.fullmatch(line) for line in lines):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], stdout=subprocess.PIPE, check=True)  # noqa: S603, S607
        print(done.stdout.decode(), end="")
        return
    from clearset.cli import main

    for line in lines:
        if status := main(shlex.split(line, comments=True)[1:]):
            raise RuntimeError(f"status {status} of {line}")


def run(blocks: list[tuple[str, str]]) -> list[str]:
    """Run all blocks and return what each prints."""
    names = {"__name__": "__main__"}
    printed = []
    for number, (language, text) in enumerate(blocks, 1):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            if language == "python":
                exec(compile(text, f"block {number}", "exec"), names)  # noqa: S102
            else:
                run_shell(text)
        printed.append(out.getvalue())
    return printed


if __name__ == "__main__":
    found = run(json.loads(Path(sys.argv[1]).read_text()))
    Path(sys.argv[2]).write_text(json.dumps(found))
