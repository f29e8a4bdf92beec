"""The Python versions that wheels are made for, and where they are on this machine."""

import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")


def interpreters() -> dict[str, str]:
    """Return the interpreters by version: those on the path, and those of pyenv; end if one is missing."""
    found = {version: _interpreter(version) for version in VERSIONS}
    missing = [version for version, python in found.items() if python is None]
    if missing:
        sys.exit(f"There is no Python {', '.join(missing)} on this machine; wheels are made for {', '.join(VERSIONS)}.")
    return {version: python for version, python in found.items() if python is not None}


def _interpreter(version: str) -> str | None:
    """Return the first that runs: what pyenv puts on the path fails for versions that are not chosen."""
    managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for python in (shutil.which(f"python{version}"), *map(str, reversed(managed))):
        if python is not None and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return python
    return None
