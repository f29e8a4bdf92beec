"""Lines of JSON in a file that grows, each with a checksum of itself and of all lines before it."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The last name of a line, after which nothing follows.
_SUM = re.compile(rb',"sha256":"([0-9a-f]{64})"\}\n\Z')


class SummedLines:
    """What Optuna keeps of trials, as it asks for it: it appends objects, and reads those from a number on.

    A line that is removed, changed or moved is noticed, because the checksums of all later ones depend on it; lines at
    the end that are missing are not, for a process that was killed has not written them. Files of earlier versions
    have lines without checksums, which those that are added afterwards cover.

    Parameters
    ----------
    path : Path
        The file, which may be absent. No other process writes to it meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logs = list[dict[str, Any]]()
        self._sum = b""  # of all lines
        if path.exists():
            self._read()

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Yield the objects from a number on."""
        yield from self._logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write objects; they are on the disk when this returns."""
        lines = b""
        for log in logs:
            body = json.dumps(log, separators=(",", ":")).encode().removesuffix(b"}")
            self._sum = _summed(self._sum, body)
            lines += body + b',"sha256":"' + self._sum.hex().encode() + b'"}\n'
        with self._path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        self._logs += logs

    def _read(self) -> None:
        has_sums = False
        for number, line in enumerate(self._path.read_bytes().splitlines(keepends=True), 1):
            told = _SUM.search(line)
            body = line[: told.start()] if told else line
            self._sum = _summed(self._sum, body)
            if told is None and has_sums:
                raise ValueError(f"the checksum of line {number} is missing")
            if told is not None and bytes.fromhex(told[1].decode()) != self._sum:
                raise ValueError(f"the checksum of line {number} does not match")
            has_sums |= told is not None
            log = json.loads(line)
            if not isinstance(log, dict):
                raise TypeError(f"line {number} holds no object")
            log.pop("sha256", None)
            self._logs.append(log)


def _summed(before: bytes, body: bytes) -> bytes:
    return hashlib.sha256(before + body).digest()
