"""Reading an artifact: everything is checked before it is used, and nothing is executed."""

import hashlib
import os
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
    unsigned,
)
from clearset.artifact._parquet import PARQUET
from clearset.files import Key, SignatureError, brief, check_key, json_object, read_members, verify_zip

_HOW_TO_READ = "Give a file written by save()."
_ZIP = b"PK"


def read_artifact(path: str | os.PathLike[str], key: Key | None = None) -> Artifact:
    """Read an artifact.

    Parameters
    ----------
    path : path-like
        A file that `write_artifact` wrote.
    key : bytes, Ed25519PublicKey or Ed25519PrivateKey, optional
        The key that it must be signed with; without one a signature is not looked at.

    Returns
    -------
    Artifact
        Its kind, document, arrays and further members.

    Raises
    ------
    ArtifactError
        If the file is not a whole, unchanged artifact of a version this package knows, or not signed with the key.
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
    if key is not None:
        check_key(key)
    content = read_file(path, _ZIP, _HOW_TO_READ)
    if key is not None and content.startswith(_ZIP):  # files of other kinds are refused below
        try:
            verify_zip(key, content)
        except SignatureError as error:
            raise unsigned(str(path), error) from None
    return unpack_artifact(content, str(path))


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
        elif content.startswith(PARQUET):
            what = "it is a Parquet file; FrozenModel.load reads frozen models, TokenTable.load token tables"
        raise _foreign(path, what)
    try:
        return read_members(content)
    except ValueError as error:
        raise damaged(path, str(error)) from error


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
            f"Cannot read '{path}': it has format version {brief(version)} (written by clearset "
            f"{brief(manifest.get('clearset'))}), this clearset reads up to {VERSION}. Upgrade clearset."
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
    return ArtifactError(f"'{path}' is not a clearset artifact: {brief(what)}. {_HOW_TO_READ}")
