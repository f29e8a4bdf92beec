"""The file of a runtime model: a description as JSON, and arrays, in one zip archive; each with a checksum."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.files import Key, SignatureError, brief, check_key, json_object, read_members, sign_zip, verify_zip

FORMAT, VERSION = "clearset runtime model", 1
_DESCRIPTION = "model.json"
_DTYPES = ("float64", "int64", "int32", "uint32", "uint8")
_LARGEST = 2**31 - 1
# The earliest date a zip can hold: with a fixed one, the same content gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)

Arrays = Mapping[str, npt.NDArray[Any]]


class RuntimeFileError(ValueError):
    """A file is no runtime model, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clearset import runtime
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.runtime")
    ...     _ = path.write_text("no model")
    ...     try:
    ...         runtime.load(path)
    ...     except runtime.RuntimeFileError:
    ...         print("not a runtime model")
    not a runtime model
    """


def pack_runtime_file(description: Mapping[str, Any], arrays: Arrays, key: Key | None = None) -> bytes:
    """Return the bytes of a file.

    Parameters
    ----------
    description : mapping
        What JSON can hold.
    arrays : mapping of str to ndarray
        Of float64, int64, int32, uint32 or uint8.
    key : bytes or Ed25519PrivateKey, optional
        The key to sign the file with.

    Returns
    -------
    bytes
        The file, the same for the same content.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.runtime import pack_runtime_file
    >>> pack_runtime_file({"kind": "values"}, {"vertices": np.zeros(2)})[:2]
    b'PK'
    """
    members, listed = {}, {}
    for name, array in arrays.items():
        if array.dtype.name not in _DTYPES:
            raise TypeError(f"Array {name!r} is of {array.dtype.name}; a runtime file holds {', '.join(_DTYPES)}.")
        content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        members[name] = content
        listed[name] = {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    body = {**description, "arrays": listed}
    stated = json.dumps(body, ensure_ascii=False, allow_nan=False, sort_keys=True)
    checksum = hashlib.sha256(stated.encode()).hexdigest()
    head = json.dumps({"format": FORMAT, "version": VERSION, "sha256": checksum, "model": stated})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {_DESCRIPTION: head.encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)
    return file.getvalue() if key is None else sign_zip(key, file.getvalue())


def read_runtime_file(
    path: str | PathLike[str], key: Key | None = None
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read the description and the arrays of a file; they take no more memory than the file has bytes."""
    file = Path(path)
    if key is not None:
        check_key(key)
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {str(file)!r}.")
    if (size := file.stat().st_size) > _LARGEST:
        raise RuntimeFileError(
            f"{str(file)!r} is no runtime model: it has {size:,} bytes, at most {_LARGEST:,} are read."
        )
    try:
        content = file.read_bytes()
    except MemoryError:
        raise RuntimeFileError(f"Cannot read {str(file)!r}: there is no memory for its {size:,} bytes.") from None
    if key is not None:
        try:
            verify_zip(key, content)
        except SignatureError as error:
            advice = "Use the key that it was signed with, or take a fresh copy from where you trust."
            raise RuntimeFileError(f"Cannot read {str(file)!r}: {error} {advice}") from None
    try:
        return _unpacked(read_members(content))
    except RuntimeFileError as error:
        raise RuntimeFileError(f"{str(file)!r} is no runtime model, or it is damaged: {brief(error)}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RuntimeFileError(f"{str(file)!r} is no runtime model, or it is damaged ({brief(error)}).") from None


def _unpacked(members: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    head = json_object(members.pop(_DESCRIPTION))
    if head["format"] != FORMAT:
        raise RuntimeFileError(f"its format is {head['format']!r}, and {FORMAT!r} is read.")
    if head["version"] != VERSION:
        raise RuntimeFileError(
            f"it is of version {head['version']!r}, and this clearset reads version {VERSION}. Write it again with "
            "`to_runtime`, or install the clearset that wrote it."
        )
    if hashlib.sha256(head["model"].encode()).hexdigest() != head["sha256"]:
        raise RuntimeFileError("its description does not have the checksum it was written with.")
    model = json_object(head["model"].encode())
    listed = model.pop("arrays")
    if set(listed) != set(members):
        raise RuntimeFileError("it does not hold the arrays that it lists.")
    return model, {name: _array(name, told, members[name]) for name, told in listed.items()}


def _array(name: str, told: Mapping[str, Any], content: bytes) -> npt.NDArray[Any]:
    if hashlib.sha256(content).hexdigest() != told["sha256"]:
        raise RuntimeFileError(f"array {name!r} does not have the checksum it was written with.")
    shape = tuple(int(length) for length in told["shape"])
    if told["dtype"] not in _DTYPES or min(shape, default=0) < 0:
        raise RuntimeFileError(f"array {name!r} is of {told['dtype']!r} and shape {shape}.")
    dtype = np.dtype(told["dtype"]).newbyteorder("<")
    if math.prod(shape) * dtype.itemsize != len(content):
        raise RuntimeFileError(f"array {name!r} has {len(content)} bytes, which are not of shape {shape}.")
    # Native byte order, and memory of its own, which compiled code may rely on.
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("=")).reshape(shape)
