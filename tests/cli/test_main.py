"""The command line as a module."""

import subprocess
import sys


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clearset", "verify", "nothing.clearset"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("clearset: Cannot read 'nothing.clearset'")
