"""Locks on files that only one run at a time may use."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clearset.artifact._format import ArtifactError

# The descriptors of the locks that this process has.
_HELD: set[int] = set()


@contextmanager
def locked(path: Path, instead: str) -> Iterator[None]:
    """Lock a file against all other runs, those of this process too; raise BlockingIOError if another has it.

    The lock is the system's, so it ends with the process. It is on a file of its own beside `path`, which others may
    then open, close and replace; that file is removed at the end.

    Parameters
    ----------
    path : path
        The file; it need not exist yet, but its folder must.
    instead : str
        What to do instead of waiting for the other run, for the error.

    Yields
    ------
    None
        Nothing; the file is locked inside of the ``with`` block.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clearset.artifact import locked
    >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder, "a"), "name another file"):
    ...     with locked(Path(folder, "a"), "name another file"):
    ...         pass
    Traceback (most recent call last):
    BlockingIOError: '...a' is in use by another run (process ...). Wait until it has ended, or name another file.
    """
    place = _resolved(path)
    # Not .lock: that is a link to the file itself where an Optuna that was killed has left it.
    place = place.with_name(f"{place.name}.clearset-lock")
    descriptor = _acquire(path, place, instead)
    _HELD.add(descriptor)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
        yield
    finally:
        if descriptor in _HELD:  # else this is a forked child, and the lock its parent's
            _HELD.remove(descriptor)
            _release(descriptor, place)


def _resolved(path: Path) -> Path:
    """Return where a path leads; raise an ArtifactError if no file can be there."""
    try:
        place = path.resolve()
        leads_nowhere = place.is_symlink()  # so Python 3.13 and later tell of a loop
    except RuntimeError:
        leads_nowhere = True
    if leads_nowhere:
        raise ArtifactError(f"Cannot use '{path}': it is a link to itself. Name another file.")
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise ArtifactError(f"Cannot use '{path}': it is a pipe, a socket or a device. Name another file.")
    return place


def _acquire(path: Path, place: Path, instead: str) -> int:
    while True:
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise type(error)(
                f"'{path}' cannot be locked: '{place.name}' cannot be made beside it ({error.strerror}). Use another "
                "folder, or a shorter name."
            ) from error
        try:
            _lock(descriptor)
        except OSError as error:
            holder = os.read(descriptor, 200).decode(errors="replace")
            os.close(descriptor)
            if not isinstance(error, BlockingIOError | PermissionError):
                raise OSError(
                    f"'{path}' cannot be locked ({error}): some network disks have no locks. Use a folder on a local "
                    "disk."
                ) from error
            raise BlockingIOError(
                f"'{path}' is in use by another run{f' ({holder})' if holder else ''}. Wait until it has ended, or "
                f"{instead}."
            ) from error
        # The run that had the lock may have removed the file after it was opened here.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    # A locked byte cannot be read, so it is one behind all that is written.
    _FAR = 2**20

    def _lock(descriptor: int) -> None:
        _locking(descriptor, msvcrt.LK_NBLCK)

    def _release(descriptor: int, place: Path) -> None:
        _locking(descriptor, msvcrt.LK_UNLCK)
        os.close(descriptor)
        with suppress(OSError):  # no file is removed that another run has opened by now
            place.unlink()

    def _locking(descriptor: int, mode: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(descriptor: int, place: Path) -> None:
        with suppress(OSError):  # what was worked on is finished, whether this can be removed or not
            place.unlink()
        os.close(descriptor)

    def _close_in_child() -> None:
        for descriptor in _HELD:
            os.close(descriptor)
        _HELD.clear()

    # A worker that was forked has the lock as well, and might live longer than a run that was killed.
    os.register_at_fork(after_in_child=_close_in_child)
