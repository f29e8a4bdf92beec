"""What the finished passes of a build have left, in a folder, from which the same build goes on."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from clearset.artifact import (
    Artifact,
    ArtifactError,
    clearset_version,
    locked,
    read_artifact,
    remove_file,
    write_artifact,
)
from clearset.tokens._scratch import ScratchNumbers

T = TypeVar("T")
Numbers = Mapping[str, ScratchNumbers | npt.NDArray[Any] | None]

_KIND, _PASS_KIND = "checkpoint of a token table", "pass of a token table"
_FIRST = "build.clearset"
_WHAT_TO_DO = "It was left as it is. Name another folder, or remove this one to start anew."
_AT_ONCE = 1 << 21  # numbers that are hashed at once


class BuildFolder:
    """A folder with a description of the build, and for every finished pass its numbers and a file that says so.

    The numbers of a pass stand in files of their own, which are complete and on the disk before the file of the pass is
    written; those of a pass that was cut off are written anew.
    """

    def __init__(self, path: Path, build: Mapping[str, str]) -> None:
        self.path = path
        described = {**build, "the version of clearset": clearset_version()}
        first = path / _FIRST
        if first.exists():
            self._check(first, described)
            return
        # The first file may have been cut off as it was written.
        if others := sorted(file.name for file in path.iterdir() if not file.name.startswith(f".{_FIRST}.")):
            raise ValueError(
                f"The folder '{path}' holds no checkpoint of a table, but {others[:3]}. Name a new folder, or an empty "
                "one."
            )
        write_artifact(first, Artifact(_KIND, {"build": described}, {}))

    @staticmethod
    def _check(first: Path, described: Mapping[str, str]) -> None:
        artifact = _read(first, _KIND)
        before = artifact.document.get("build")
        if not isinstance(before, dict):
            raise ArtifactError(f"'{first}' is damaged. {_WHAT_TO_DO}")
        differ = [name for name in {**described, **before} if before.get(name) != described.get(name)]
        if differ:
            name, *others = differ
            too = f" (other differences: {', '.join(others[:5])})" if others else ""
            raise ValueError(
                f"'{first.parent}' is the checkpoint of another build: {name} was {before.get(name, 'nothing')}, and "
                f"is now {described.get(name, 'nothing')}{too}. {_WHAT_TO_DO}"
            )

    def place(self, name: str) -> Path:
        """Return where numbers are to stand."""
        return self.path / f"{name}.numbers"

    def known(self, name: str) -> tuple[dict[str, ScratchNumbers], dict[str, Any]] | None:
        """Return what a finished pass has left; None if it has not been finished."""
        path = self.path / f"{name}.clearset"
        if not path.exists():
            return None
        document = _read(path, _PASS_KIND).document
        try:
            numbers = {}
            for each, (dtype, length, digest) in document["numbers"].items():
                if np.dtype(dtype).kind not in "biuf" or Path(each).name != each:
                    raise ValueError(f"{each!r} cannot be numbers")
                numbers[each] = ScratchNumbers.of_file(self.place(each), dtype)
                if len(numbers[each]) != length or _digest(numbers[each]) != digest:
                    raise ValueError(f"'{self.place(each)}' has another content than was written")
            return numbers, dict(document["values"])
        except (AttributeError, KeyError, TypeError, ValueError, FileNotFoundError) as error:
            raise ArtifactError(f"The checkpoint '{self.path}' is damaged: {error}. {_WHAT_TO_DO}") from error

    def keep(self, name: str, numbers: Numbers, values: Mapping[str, Any]) -> None:
        """Keep what a finished pass has left."""
        known: dict[str, Any] = {}
        for each, content in numbers.items():
            if content is None:
                continue
            stored = content
            if not isinstance(stored, ScratchNumbers):
                stored = ScratchNumbers(stored.dtype, self.place(each))
                stored.append(np.ravel(content))  # type: ignore[arg-type]
            stored.sync()
            known[each] = [stored.dtype.str, len(stored), _digest(stored)]
        document = {"numbers": known, "values": dict(values)}
        write_artifact(self.path / f"{name}.clearset", Artifact(_PASS_KIND, document, {}))

    def remove(self) -> None:
        """Remove all files: those that call passes finished first, and the description last."""
        passes = [file for file in self.path.glob("*.clearset") if file.name != _FIRST]
        for file in [*passes, *self.path.glob("*.numbers"), self.path / _FIRST]:
            remove_file(file)


@contextmanager
def build_folder(
    path: str | os.PathLike[str] | None, build: Callable[[], Mapping[str, str]]
) -> Iterator[BuildFolder | None]:
    """Open the folder of a build that begins or goes on, and remove it when the build is done; None for no path.

    Parameters
    ----------
    path : path-like or None
        The folder, which need not exist; None keeps nothing.
    build : callable
        Returns what tells the build from others, as texts by what messages call them.
    """
    if path is None:
        yield None
        return
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a folder; received {path!r}.")
    folder, described = Path(path), build()
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"There is no folder '{folder.parent}' for the checkpoint '{folder}'. Make it first.")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"checkpoint is the path of a folder; '{folder}' is a file.")
    with locked(folder, "name another folder"):
        folder.mkdir(exist_ok=True)
        opened = BuildFolder(folder, described)
        yield opened
        opened.remove()
        if not any(folder.iterdir()):
            folder.rmdir()


def _read(path: Path, kind: str) -> Artifact:
    try:
        artifact = read_artifact(path)
    except ArtifactError as error:
        raise ArtifactError(f"{str(error).rstrip('.')}. {_WHAT_TO_DO}") from error
    if artifact.kind != kind:
        raise ArtifactError(f"'{path}' holds a {artifact.kind}, not a {kind}. {_WHAT_TO_DO}")
    return artifact


def _digest(numbers: ScratchNumbers) -> str:
    found = hashlib.blake2b(digest_size=20)
    for start in range(0, len(numbers), _AT_ONCE):
        found.update(numbers.read(start, start + _AT_ONCE).view(np.uint8).data)
    return found.hexdigest()
