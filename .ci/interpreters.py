"""The Python versions that wheels are made for, and where they are on this machine."""

import shutil
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")


def interpreters() -> dict[str, str]:
    """Return the interpreters by version: those on the path, and those of pyenv; end if one is missing."""
    found = {}
    for version in VERSIONS:
        managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        path = shutil.which(f"python{version}") or (str(managed[-1]) if managed else None)
        if path is None:
            sys.exit(f"There is no Python {version} on this machine; wheels are made for {', '.join(VERSIONS)}.")
        found[version] = path
    return found
