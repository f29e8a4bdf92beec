"""Reading an artifact: everything is checked before it is used, and nothing is executed."""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any, NoReturn

from safetensors import SafetensorError
from safetensors.numpy import load

from clearset.artifact._format import ARRAYS, DOCUMENT, FORMAT, MANIFEST, VERSION, Arrays, Artifact, ArtifactError

_HOW_TO_READ = "Give a file written by save()."


def read_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Read an artifact.

    Parameters
    ----------
    path : path-like
        A file that `write_artifact` wrote.

    Returns
    -------
    Artifact
        Its kind, document, arrays and further members.

    Raises
    ------
    ArtifactError
        If the file is not a whole, unchanged artifact of a version this package knows.
    OSError
        If there is no such file, or it cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from clearset.artifact import ArtifactError, read_artifact
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "notes.txt"
    ...     _ = path.write_text("hello")
    ...     try:
    ...         read_artifact(path)
    ...     except ArtifactError as error:
    ...         print(str(error).replace(str(path), "notes.txt"))
    'notes.txt' is not a clearset artifact: it is no zip file. Give a file written by save().
    """
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"Cannot read '{source}': it is a folder. {_HOW_TO_READ}")
    if not source.exists():
        raise FileNotFoundError(f"Cannot read '{source}': there is no such file. {_HOW_TO_READ}")
    return unpack_artifact(source.read_bytes(), str(source))


def unpack_artifact(content: bytes, path: str) -> Artifact:
    """Read an artifact from what its file holds.

    Parameters
    ----------
    content : bytes
        What `pack_artifact` returned.
    path : str
        What errors call it.

    Returns
    -------
    Artifact
        Its kind, document, arrays and further members.

    Raises
    ------
    ArtifactError
        If the content is not a whole, unchanged artifact of a version this package knows.
    """
    members = _members(path, content)
    manifest = _manifest(path, members)
    further = sorted(manifest["sha256"].keys() - {MANIFEST, DOCUMENT, ARRAYS})
    expected = {MANIFEST, DOCUMENT, ARRAYS, *further}
    if members.keys() != expected:
        missing, unexpected = sorted(expected - members.keys()), sorted(members.keys() - expected)
        what = f"it lacks {missing}" if missing else f"it holds unexpected members {unexpected}"
        raise _damaged(path, what)
    for name in (DOCUMENT, ARRAYS, *further):
        if hashlib.sha256(members[name]).hexdigest() != manifest["sha256"].get(name):
            raise _damaged(path, f"the checksum of {name} does not match")
    return Artifact(
        manifest["kind"],
        _json(path, DOCUMENT, members[DOCUMENT]),
        _arrays(path, members[ARRAYS]),
        {name: members[name] for name in further},
    )


def _members(path: str, content: bytes) -> dict[str, bytes]:
    """Read all members, refusing any zip this package would not have written."""
    if not content.startswith(b"PK"):
        what = "it is no zip file"
        if not content:
            what = "it is empty"
        elif content.startswith(b"\x80"):
            what = "it looks like a pickle, which is never loaded"
        raise _foreign(path, what)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(path, entries, len(content))
            return {entry.filename: archive.read(entry) for entry in entries}
    except ArtifactError:
        raise
    # zipfile answers damaged headers with errors of many kinds (BadZipFile, NotImplementedError,
    # RuntimeError, EOFError, struct.error, UnicodeDecodeError, ...): all say the same here.
    except Exception as error:
        raise _damaged(path, f"its zip structure is broken ({error})") from error


def _check_entries(path: str, entries: list[zipfile.ZipInfo], size: int) -> None:
    names = [entry.filename for entry in entries]
    # In a file that was cut off, zipfile would find an artifact that is a member of it, and take that for the whole.
    if entries and min(entry.header_offset for entry in entries) > 0:
        raise _damaged(path, "it does not begin with its first member")
    for entry in entries:
        name = entry.filename
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name:
            raise _damaged(path, f"member name {name!r} points outside the file")
        if names.count(name) > 1:
            raise _damaged(path, f"member {name!r} is there more than once")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise _damaged(path, f"member {name!r} is compressed, artifacts are stored plain")
        # A stored member fits in the file; a header that says otherwise must not make us reserve memory.
        if entry.file_size > size or entry.compress_size != entry.file_size:
            raise _damaged(path, f"member {name!r} has an impossible size")


def _manifest(path: str, members: dict[str, bytes]) -> dict[str, Any]:
    if MANIFEST not in members:
        raise _foreign(path, f"it is a zip without {MANIFEST}")
    manifest = _json(path, MANIFEST, members[MANIFEST])
    if manifest.get("format") != FORMAT:
        raise _foreign(path, f"its format is {manifest.get('format')!r}")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise _damaged(path, f"its format version is {version!r}, not a number")
    if version > VERSION:
        raise ArtifactError(
            f"Cannot read '{path}': it has format version {version} (written by clearset "
            f"{manifest.get('clearset')}), this clearset reads up to {VERSION}. Upgrade clearset."
        )
    if not isinstance(manifest.get("kind"), str) or not isinstance(manifest.get("sha256"), dict):
        raise _damaged(path, f"{MANIFEST} lacks its kind or checksums")
    return manifest


def _json(path: str, name: str, content: bytes) -> dict[str, Any]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        document = json.loads(content.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"{name} is not valid JSON ({error})") from error
    if not isinstance(document, dict):
        raise _damaged(path, f"{name} is not a JSON object")
    return document


def _arrays(path: str, content: bytes) -> Arrays:
    try:
        # Copies, because arrays read in place cannot be written to, which torch warns about.
        return {name: array.copy() for name, array in load(content).items()}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, f"{ARRAYS} is not valid ({error})") from error


def _foreign(path: str, what: str) -> ArtifactError:
    """Return the error for a file that was never an artifact."""
    return ArtifactError(f"'{path}' is not a clearset artifact: {what}. {_HOW_TO_READ}")


def _damaged(path: str, what: str) -> ArtifactError:
    """Return the error for an artifact that is not as it was written."""
    return ArtifactError(
        f"Cannot read '{path}': {what}. The file is damaged or was edited; take a fresh copy or save the model again."
    )
