"""Numbers in files without a name, which the system removes whatever ends the process."""

import io
import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Place = Callable[[str], Path | None]
"""Where a file of a name is to stay; None for a file without a name."""


def nowhere(name: str) -> None:
    """Return that a file is to have no name."""


def unnamed_file(owner: object) -> io.FileIO:
    """Return a new file without a name, which is there as long as its owner."""
    file: Any = tempfile.TemporaryFile(prefix="clearset-", buffering=0)  # noqa: SIM115
    weakref.finalize(owner, file.close)
    return file  # type: ignore[no-any-return]


def _named_file(owner: object, path: Path, mode: str) -> io.FileIO:
    """Open a file that is closed with its owner, and stays."""
    file: Any = path.open(mode, buffering=0)
    weakref.finalize(owner, file.close)
    return file  # type: ignore[no-any-return]


class ScratchNumbers:
    """Numbers of one type that are appended to a file without a name, and read back in pieces.

    The file is in the folder for temporary files (``TMPDIR``), unless a path is given, where it stays. It takes no
    memory but what is read from it.

    Examples
    --------
    >>> numbers = ScratchNumbers(np.int32)
    >>> numbers.append(np.arange(5))
    >>> len(numbers), numbers.read(1, 3).tolist()
    (5, [1, 2])
    """

    def __init__(self, dtype: npt.DTypeLike, path: Path | None = None) -> None:
        self.dtype, self.path = np.dtype(dtype), path
        self._file = unnamed_file(self) if path is None else _named_file(self, path, "wb+")
        self._length = 0

    @classmethod
    def of_file(cls, path: Path, dtype: npt.DTypeLike) -> "ScratchNumbers":
        """Return the numbers that a file holds."""
        numbers = cls.__new__(cls)
        numbers.dtype, numbers.path = np.dtype(dtype), path
        numbers._file = _named_file(numbers, path, "rb")
        numbers._length = path.stat().st_size // numbers.dtype.itemsize
        return numbers

    def sync(self) -> None:
        """Have everything written to the disk."""
        os.fsync(self._file.fileno())

    def __len__(self) -> int:
        return self._length

    def append(self, numbers: npt.NDArray[Any]) -> None:
        """Add numbers at the end."""
        self.write(self._length, numbers)

    def write(self, start: int, numbers: npt.NDArray[Any]) -> None:
        """Replace the numbers from `start` on, and add what goes beyond the end."""
        content = memoryview(np.ascontiguousarray(numbers, self.dtype).view(np.uint8).data)
        self._file.seek(start * self.dtype.itemsize)
        while len(content):  # a system may write less than it is asked to
            content = content[self._written(content) :]
        self._length = max(self._length, start + len(numbers))

    def _written(self, content: memoryview) -> int:
        try:
            return self._file.write(content) or 0
        except OSError as error:
            if self.path is not None:
                raise OSError(error.errno, f"Cannot write to '{self.path}': {error.strerror}.") from error
            raise OSError(
                error.errno,
                f"Cannot write to the folder for temporary files, '{tempfile.gettempdir()}': {error.strerror}. Name "
                "another one by the environment variable TMPDIR.",
            ) from error

    def read(self, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return the numbers from `start` to `stop`, by default all."""
        stop = self._length if stop is None else min(stop, self._length)
        numbers = np.empty(max(stop - start, 0), self.dtype)
        if len(numbers):
            content, done = memoryview(numbers.view(np.uint8).data), 0
            self._file.seek(start * self.dtype.itemsize)
            while done < len(content):
                done += self._file.readinto(content[done:]) or len(content)
        return numbers
