"""Writing an artifact: the whole file or nothing."""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from clearset.artifact._files import check_target, write_file
from clearset.artifact._format import ARRAYS, DOCUMENT, FORMAT, MANIFEST, VERSION, Artifact, ArtifactError
from clearset.files import Key, check_signing_key, sign_zip

# The earliest date a zip can hold: with a fixed one, the same content gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
_PLAIN_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


def write_artifact(path: str | os.PathLike[str], artifact: Artifact, key: Key | None = None) -> None:
    """Write an artifact; a failure leaves an existing file at `path` as it was.

    Parameters
    ----------
    path : path-like
        The file, such as ``model.clearset``. Its folder must exist.
    artifact : Artifact
        The content. Its document holds JSON values with string keys, no nan and no infinity; tuples are read back as
        lists. Arrays are of float64, float32, int64, int32, uint8 or bool.
    key : bytes or Ed25519PrivateKey, optional
        The key to sign the file with.

    Raises
    ------
    ArtifactError
        If the content is not of this form.
    OSError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from clearset.artifact import Artifact, read_artifact, write_artifact
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "example.clearset"
    ...     write_artifact(path, Artifact("example", {"width": 1}, {"vertices": np.array([-1.0, 1.0])}))
    ...     artifact = read_artifact(path)
    >>> artifact.kind, artifact.document, artifact.arrays["vertices"].tolist()
    ('example', {'width': 1}, [-1.0, 1.0])
    """
    check_target(path)
    if key is not None:
        check_signing_key(key)
    content = pack_artifact(artifact)
    write_file(path, content if key is None else sign_zip(key, content))


def pack_artifact(artifact: Artifact) -> bytes:
    """Return what the file of an artifact holds, such as for a member of another artifact.

    Parameters
    ----------
    artifact : Artifact
        The content, as for `write_artifact`.

    Returns
    -------
    bytes
        The same for the same content.

    Raises
    ------
    ArtifactError
        If the content is not of this form.
    """
    contents = {DOCUMENT: _json(artifact.document), ARRAYS: _tensors(artifact.arrays), **_further(artifact.members)}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "kind": artifact.kind,
        "clearset": clearset_version(),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    }
    return _zip({MANIFEST: _json(manifest), **contents})


def _json(given: Mapping[str, Any]) -> bytes:
    document = _with_lists(given)
    try:
        text = json.dumps(document, allow_nan=False, sort_keys=True, ensure_ascii=False, indent=1)
        content = text.encode()
    except (TypeError, ValueError) as error:
        raise ArtifactError(
            f"The document cannot be written as JSON: {error}. Use strings, finite numbers, lists and dicts."
        ) from error
    if json.loads(text) != document:
        raise ArtifactError("The document would not be read back as it is. Use strings as keys.")
    return content


def _with_lists(value: Any) -> Any:
    """Turn tuples, which JSON does not know, into lists."""
    if isinstance(value, Mapping):
        return {key: _with_lists(item) for key, item in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def _tensors(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    for name, array in arrays.items():
        received = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        if not isinstance(array, np.ndarray) or array.dtype.name not in _DTYPES:
            raise ArtifactError(f"Array '{name}' is of type {received}; an artifact holds {', '.join(_DTYPES)}.")
    # safetensors writes the memory as it lies, so a view or a foreign byte order must be laid out first.
    laid_out = {
        name: np.array(array, dtype=array.dtype.newbyteorder("="), order="C") for name, array in sorted(arrays.items())
    }
    return bytes(save(laid_out))


def _further(members: Mapping[str, bytes]) -> dict[str, bytes]:
    for name in members:
        if name in (MANIFEST, DOCUMENT, ARRAYS) or not _PLAIN_NAME.fullmatch(name):
            raise ArtifactError(
                f"Member {name!r} cannot be written; use a plain file name other than {MANIFEST}, {DOCUMENT} "
                f"and {ARRAYS}."
            )
    return dict(sorted(members.items()))


def _zip(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = 3  # the same on every platform
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def clearset_version() -> str:
    """Return the version of this package.

    Returns
    -------
    str
        The version.
    """
    try:
        return version("clearset")
    except PackageNotFoundError:  # run from source, not installed
        return "0+source"
