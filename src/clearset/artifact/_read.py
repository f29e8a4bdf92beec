"""Reading an artifact: everything is checked before it is used, and nothing is executed."""

import hashlib
import io
import os
import zipfile
from collections import Counter
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load

from clearset.artifact._files import read_file
from clearset.artifact._format import (
    ARRAYS,
    DOCUMENT,
    FORMAT,
    MANIFEST,
    VERSION,
    Arrays,
    Artifact,
    ArtifactError,
    damaged,
)
from clearset.artifact._json import json_object

_HOW_TO_READ = "Give a file written by save()."
_ZIP = b"PK"

# How a zip ends: with the size of its list of members, among others. What comes before in larger zips is not written
# here, and would overrule it.
_END = b"PK\x05\x06"
_END_BYTES, _LIST_BYTES = 22, slice(12, 16)
_LARGE_END, _LARGE_END_BYTES = b"PK\x06\x07", 20
# A model has a handful of members, a joint model one for each column that has an engine.
_MOST_MEMBERS = 1000
_MOST_LIST_BYTES = _MOST_MEMBERS * 200


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
    return unpack_artifact(read_file(path, _ZIP, _HOW_TO_READ), str(path))


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
        raise damaged(path, what)
    for name in (DOCUMENT, ARRAYS, *further):
        if hashlib.sha256(members[name]).hexdigest() != manifest["sha256"].get(name):
            raise damaged(path, f"the checksum of {name} does not match")
    return Artifact(
        manifest["kind"],
        _json(path, DOCUMENT, members[DOCUMENT]),
        _arrays(path, members[ARRAYS]),
        {name: members[name] for name in further},
    )


def _members(path: str, content: bytes) -> dict[str, bytes]:
    """Read all members, refusing any zip this package would not have written."""
    if not content.startswith(_ZIP):
        what = "it is no zip file"
        if not content:
            what = "it is empty"
        elif content.startswith(b"\x80"):
            what = "it looks like a pickle, which is never loaded"
        raise _foreign(path, what)
    _check_end(path, content)
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
        raise damaged(path, f"its zip structure is broken ({error})") from error


def _check_end(path: str, content: bytes) -> None:
    """See that the list of members is short, before it is read."""
    end, before = content[-_END_BYTES:], content[-_END_BYTES - _LARGE_END_BYTES : -_END_BYTES]
    if not end.startswith(_END) or len(end) < _END_BYTES or before.startswith(_LARGE_END):
        raise damaged(path, "its zip structure is broken (it does not end as artifacts do)")
    if int.from_bytes(end[_LIST_BYTES], "little") > _MOST_LIST_BYTES:
        raise damaged(path, f"it has more members than the {_MOST_MEMBERS:,} that are allowed")


def _check_entries(path: str, entries: list[zipfile.ZipInfo], size: int) -> None:
    if len(entries) > _MOST_MEMBERS:
        raise damaged(path, f"it has {len(entries):,} members, at most {_MOST_MEMBERS:,} are allowed")
    if sum(entry.file_size for entry in entries) > size:
        raise damaged(path, "its members are larger than the file")
    names = Counter(entry.filename for entry in entries)
    # In a file that was cut off, zipfile would find an artifact that is a member of it, and take that for the whole.
    if entries and min(entry.header_offset for entry in entries) > 0:
        raise damaged(path, "it does not begin with its first member")
    for entry in entries:
        name = entry.filename
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name:
            raise damaged(path, f"member name {name!r} points outside the file")
        if names[name] > 1:
            raise damaged(path, f"member {name!r} is there more than once")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise damaged(path, f"member {name!r} is compressed, artifacts are stored plain")
        # A stored member fits in the file; a header that says otherwise must not make us reserve memory.
        if entry.file_size > size or entry.compress_size != entry.file_size:
            raise damaged(path, f"member {name!r} has an impossible size")


def _manifest(path: str, members: dict[str, bytes]) -> dict[str, Any]:
    if MANIFEST not in members:
        raise _foreign(path, f"it is a zip without {MANIFEST}")
    manifest = _json(path, MANIFEST, members[MANIFEST])
    if manifest.get("format") != FORMAT:
        raise _foreign(path, f"its format is {manifest.get('format')!r}")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise damaged(path, f"its format version is {version!r}, not a number")
    if version > VERSION:
        raise ArtifactError(
            f"Cannot read '{path}': it has format version {version} (written by clearset "
            f"{manifest.get('clearset')}), this clearset reads up to {VERSION}. Upgrade clearset."
        )
    if not isinstance(manifest.get("kind"), str) or not isinstance(manifest.get("sha256"), dict):
        raise damaged(path, f"{MANIFEST} lacks its kind or checksums")
    return manifest


def _json(path: str, name: str, content: bytes) -> dict[str, Any]:
    try:
        return json_object(content)
    except ValueError as error:
        raise damaged(path, f"{name} is not valid JSON ({error})") from error


def _arrays(path: str, content: bytes) -> Arrays:
    try:
        # Copies, because arrays read in place cannot be written to, which torch warns about.
        return {name: array.copy() for name, array in load(content).items()}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"{ARRAYS} is not valid ({error})") from error


def _foreign(path: str, what: str) -> ArtifactError:
    """Return the error for a file that was never an artifact."""
    return ArtifactError(f"'{path}' is not a clearset artifact: {what}. {_HOW_TO_READ}")
