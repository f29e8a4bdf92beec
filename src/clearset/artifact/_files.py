"""Files on disk: read within bounds, and written wholly or not at all."""

import glob
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from clearset.artifact._format import ArtifactError

LARGEST = 2**31 - 1
"""The most bytes that a file may have; what a zip file can hold without extensions."""


def read_file(path: str | os.PathLike[str], begins: bytes, hint: str) -> bytes:
    """Read a file of known kind; one that begins otherwise is not read any further.

    Parameters
    ----------
    path : path-like
        The file.
    begins : bytes
        What files of this kind begin with.
    hint : str
        Which file to give instead, for errors.

    Returns
    -------
    bytes
        The content, or just its first bytes if they are not `begins`.

    Raises
    ------
    ArtifactError
        If it is a pipe or a device, or too large.
    OSError
        If there is no such file, or it cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from clearset.artifact import read_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "table.csv"
    ...     _ = path.write_text("token,count")
    ...     read_file(path, b"PAR1", "Give a Parquet file.")
    b'toke'
    """
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"Cannot read '{source}': it is a folder. {hint}")
    if not source.exists():
        raise FileNotFoundError(f"Cannot read '{source}': there is no such file. {hint}")
    if not source.is_file():  # opening a pipe would wait for someone to write to it
        raise ArtifactError(f"Cannot read '{source}': it is a pipe, a socket or a device. {hint}")
    if (size := source.stat().st_size) > LARGEST:
        raise ArtifactError(f"Cannot read '{source}': it has {size:,} bytes, at most {LARGEST:,} are allowed. {hint}")
    try:
        with source.open("rb") as file:
            head = file.read(max(len(begins), 4))
        return source.read_bytes() if head.startswith(begins) else head
    except MemoryError:
        raise ArtifactError(f"Cannot read '{source}': there is no memory for its {size:,} bytes. {hint}") from None


def check_target(path: str | os.PathLike[str], *sources: str | os.PathLike[str] | None) -> None:
    """Raise an OSError unless a file can be written to `path`; to be called before long work starts.

    Parameters
    ----------
    path : path-like
        The file to write.
    *sources : path-like or None
        Files that are read and must not be replaced; None is no file.

    Examples
    --------
    >>> from clearset.artifact import check_target
    >>> check_target("no_folder/model.clearset")
    Traceback (most recent call last):
        ...
    FileNotFoundError: Cannot save to 'no_folder/model.clearset': there is no folder 'no_folder'. ...
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"Cannot save to '{path}': it is a folder. Give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"Cannot save to '{path}': there is no folder '{path.parent}'. Make it first.")
    if path.exists() and not path.is_file():  # replaced by a file, /dev/null would be one for all programs
        raise FileExistsError(f"Cannot save to '{path}': it is a pipe, a socket or a device. Give the name of a file.")
    for source in sources:
        if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
            raise FileExistsError(f"Cannot save to '{path}': it is what is read. Give another name.")
    try:
        # What the rights of a folder say is not all: its disk may be one that is only read.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(
            f"Cannot save to '{path}': no file can be made in '{path.parent}' ({error.strerror}). Name another folder."
        ) from error


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in one step, through a temporary file in the same folder.

    Content and name are on the disk when this returns. Temporary files of the same name, left by processes that were
    killed, are removed.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist. An existing file is replaced once the new one is complete.
    content : bytes
        The content of the file.

    Raises
    ------
    ArtifactError
        If the content is larger than what is read back.
    OSError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from clearset.artifact import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(pathlib.Path(folder) / "page.html", b"<p>")
    ...     (pathlib.Path(folder) / "page.html").read_bytes()
    b'<p>'
    """
    if len(content) > LARGEST:
        raise ArtifactError(f"Cannot save to '{path}': {len(content):,} bytes, at most {LARGEST:,} are allowed.")
    with replaced_file(path) as file:
        file.write(content)


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of another one when it is complete, as `write_file` does.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist.

    Yields
    ------
    file
        The new file, open for writing. Where an error ends the block, nothing is left of it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from clearset.artifact import replaced_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced_file(pathlib.Path(folder) / "lines.txt") as file:
    ...         _ = file.write(b"one")
    ...     (pathlib.Path(folder) / "lines.txt").read_bytes()
    b'one'
    """
    target = Path(path)
    check_target(target)
    try:
        _remove_leftovers(target)
        with _temporary_file(target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if sys.platform == "win32":
                file.close()  # no open file is renamed there
            Path(file.name).replace(target)
        _sync_folder(target.parent)
    except PermissionError as error:
        raise PermissionError(
            f"Cannot save to '{target}': no permission to write in '{target.parent}'. Choose another folder."
        ) from error


def remove_file(path: str | os.PathLike[str]) -> None:
    """Remove a file, if there is one, and temporary files of its name that processes have left that were killed.

    Parameters
    ----------
    path : path-like
        The file.

    Examples
    --------
    >>> from clearset.artifact import remove_file
    >>> remove_file("no_such_file.checkpoint")
    """
    target = Path(path)
    target.unlink(missing_ok=True)
    _remove_leftovers(target)


@contextmanager
def _temporary_file(target: Path) -> Iterator[BinaryIO]:
    """Open a new file beside `target`, locked as long as it is open, and removed at the end if it is still there."""
    while True:
        path = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        file = path.open("xb")
        if not _lock(file) or os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # another process took it for a leftover before it was locked
    try:
        with file:
            yield file
    finally:
        path.unlink(missing_ok=True)


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of the target, and of files named after it, that no living process has locked."""
    for path in target.parent.glob(f".{glob.escape(target.name)}*.{'[0-9a-f]' * 32}"):
        with suppress(OSError), path.open("rb") as file:
            if _lock(file):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":

    def _lock(file: BinaryIO) -> bool:  # noqa: ARG001
        """Return that no file was locked."""
        return False

else:
    import fcntl

    def _lock(file: BinaryIO) -> bool:
        """Lock an open file for as long as it is open; return whether that was possible."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process has it, or this disk knows no locks
            return False
        return True
