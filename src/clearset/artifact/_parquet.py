"""Parquet files with a description and a checksum of everything in them."""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from clearset.artifact._format import ArtifactError, damaged, unsigned
from clearset.artifact._parquet_footer import read_declared
from clearset.files import BLANK, Key, SignatureError, brief, check_key, json_object, sign, verify

PARQUET = b"PAR1"

# The checksum is that of the file with zeros in the checksum's place. It stands in the footer, where any reader of
# Parquet skips it: the name, then two bytes of the footer's encoding (a string of 64 bytes), then the checksum.
_CHECKSUM = b"clearset_sha256"
_PLACE = _CHECKSUM + b"\x18\x40"
_ZEROS = b"0" * 64

# A signature stands there as well, and is that of the file with zeros and blanks in both places; the checksum is that
# of the file with its signature.
_SIGNATURE = b"clearset_signature"
SIGNATURE_PLACE = _SIGNATURE + b"\x18\x88\x01"

# The version that is written; the first one, which is read as well, had no checksum.
_VERSION = 2

# A small file must not take all the memory, so what it declares is bounded by its size. Rows are distinct tokens, which
# take 6 bytes or more, and there are up to 40 values a byte with a hundred classes. With thousands of classes nearly
# all values are zeros and take next to nothing; then spaces are added until the file is large enough.
_PADDING = b"clearset_padding"
_MOST = {"rows": (10**5, 1), "values": (5 * 10**7, 100), "uncompressed": (10**8, 100)}  # of any file, and a byte

# What content of a wrong form leads to, when something is made of it.
_UNMAKEABLE = (
    LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, AttributeError,
    OSError, MemoryError, pa.ArrowException,
)  # fmt: skip


@dataclass(frozen=True)
class ParquetFormat:
    """A kind of Parquet file, with a description as JSON among its metadata and a checksum.

    Parameters
    ----------
    kind : str
        What such a file is, for errors.
    writer : str
        Which method writes it, for errors.
    key : bytes
        The name of the description among the metadata.
    """

    kind: str
    writer: str
    key: bytes

    def pack(self, rows: pa.Table, document: Mapping[str, Any], key: Key | None = None) -> bytes:
        """Return what the file of a table holds, signed if there is a key."""
        described = json.dumps({"version": _VERSION, **document}, allow_nan=False)
        rows = rows.replace_schema_metadata({**(rows.schema.metadata or {}), self.key: described})
        further = {} if key is None else {_SIGNATURE: BLANK}
        content = _written(rows, further)
        if missing := _missing_bytes(content):
            content = _written(rows, {**further, _PADDING: b" " * missing})
        if key is not None:
            before, after = _around(content, SIGNATURE_PLACE, len(BLANK))
            content = b"".join([before, sign(key, content), after])
        before, after = _around_checksum(content)
        return b"".join([before, _sum(before, after), after])

    def unpack(self, content: bytes, name: str, key: Key | None = None) -> tuple[pa.Table, dict[str, Any]]:
        """Return the table and the description of a file; raise an ArtifactError unless it is whole and unchanged."""
        if key is not None:
            _check_signature(content, name, key)
        if not content.startswith(PARQUET):
            raise self._foreign(name, "it is no Parquet file" if content else "it is empty")
        has_checksum = _PLACE in content
        if has_checksum:
            before, after = _around_checksum(content)
            if content[len(before) : len(before) + len(_ZEROS)] != _sum(before, after):
                raise damaged(name, "its checksum does not match")
        try:
            _check_declared(content)
            metadata = pa.parquet.read_metadata(pa.BufferReader(content))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise damaged(name, f"its Parquet structure is broken ({error})") from error
        described = (metadata.metadata or {}).get(self.key)
        if described is None:
            raise self._foreign(name, "it is a Parquet file of something else")
        try:
            document = json_object(described)
        except ValueError as error:
            raise damaged(name, f"its description is not valid JSON ({error})") from error
        self._check_version(name, document.get("version"), has_checksum)
        return read_rows(content, name), document

    def _check_version(self, name: str, version: Any, has_checksum: bool) -> None:
        if type(version) is not int or version < 1:
            raise damaged(name, f"its version is {version!r}, not a number")
        if version > _VERSION:
            raise ArtifactError(
                f"Cannot read '{name}': it is a {self.kind} of version {brief(version)}, this clearset reads up to "
                f"{_VERSION}. Upgrade clearset."
            )
        if version > 1 and not has_checksum:
            raise damaged(name, "its checksum is missing")

    def _foreign(self, name: str, what: str) -> ArtifactError:
        return ArtifactError(f"'{name}' is no {self.kind}: {what}. Give a file that {self.writer} wrote.")

    @contextmanager
    def making(self, name: str, passing: type[ValueError] = ArtifactError) -> Iterator[None]:
        """Turn errors from content of a wrong form into an ArtifactError, but for those of type `passing`."""
        try:
            yield
        except passing:
            raise
        except _UNMAKEABLE as error:
            what = f"it does not describe a {self.kind} that this clearset can make ({type(error).__name__}: {error})"
            raise damaged(name, what) from error


def read_rows(content: bytes, name: str) -> pa.Table:
    """Read a Parquet file.

    Parameters
    ----------
    content : bytes
        What the file holds.
    name : str
        What errors call it.

    Returns
    -------
    pyarrow.Table
        The table, each column in one piece.
    """
    try:
        rows = pa.parquet.read_table(pa.BufferReader(content)).combine_chunks()
        rows.validate(full=True)  # strings are UTF-8, which the reader takes for granted
        return rows
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise damaged(name, f"its Parquet structure is broken ({error})") from error


def _written(rows: pa.Table, further: Mapping[bytes, bytes]) -> bytes:
    buffer = io.BytesIO()
    with pa.parquet.ParquetWriter(buffer, rows.schema, compression="zstd") as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({_CHECKSUM: _ZEROS, **further})
    return buffer.getvalue()


def _missing_bytes(content: bytes) -> int:
    """Return how many bytes a file is too small for what it declares."""
    declared = read_declared(content)
    least: list[int] = [
        -(-(getattr(declared, what) - in_any) // per_byte) for what, (in_any, per_byte) in _MOST.items()
    ]
    return max(0, *(number - len(content) for number in least))


def _check_declared(content: bytes) -> None:
    """Raise a ValueError if a file declares more than one of its size can hold."""
    if missing := _missing_bytes(content):
        declared = read_declared(content)
        raise ValueError(
            f"it declares {declared.rows:,} rows with {declared.values:,} values of {declared.uncompressed:,} bytes, "
            f"for which {missing + len(content):,} bytes are needed, but it has {len(content):,}"
        )


def _check_signature(content: bytes, name: str, key: Key) -> None:
    """Raise an ArtifactError unless a file was signed with a key; nothing of it is parsed."""
    check_key(key)
    try:
        if SIGNATURE_PLACE not in content or _PLACE not in content:
            raise SignatureError("it is not signed, but a key was given.")
        before, after = _around_checksum(content)
        blank = b"".join([before, _ZEROS, after])
        before, after = _around(blank, SIGNATURE_PLACE, len(BLANK))
        verify(key, content[len(before) : len(before) + len(BLANK)], before, BLANK, after)
    except SignatureError as error:
        raise unsigned(name, error) from None


def _around_checksum(content: bytes) -> tuple[memoryview, memoryview]:
    return _around(content, _PLACE, len(_ZEROS))


def _around(content: bytes, place: bytes, length: int) -> tuple[memoryview, memoryview]:
    """Return what stands before and after so many bytes that follow the last of some others."""
    start = content.rindex(place) + len(place)
    return memoryview(content)[:start], memoryview(content)[start + length :]


def _sum(before: memoryview, after: memoryview) -> bytes:
    hashed = hashlib.sha256(before)
    hashed.update(_ZEROS)
    hashed.update(after)
    return hashed.hexdigest().encode()
