"""Members of zip archives that may be damaged or hostile: everything is checked before it is read."""

import io
import zipfile
from collections import Counter

from clearset.files._signature import end_of_zip

# How a zip ends: with the size of its list of members, among others. What comes before in larger zips is not written
# here, and would overrule it.
_END = b"PK\x05\x06"
_END_BYTES, _LIST_BYTES = 22, slice(12, 16)
_LARGE_END, _LARGE_END_BYTES = b"PK\x06\x07", 20
# A model has a handful of members, a joint model one for each column that has an engine.
_MOST_MEMBERS = 1000
_MOST_LIST_BYTES = _MOST_MEMBERS * 200


def read_members(content: bytes) -> dict[str, bytes]:
    """Read all members of a zip archive, signed or not; raise a ValueError for any that is not written here.

    Parameters
    ----------
    content : bytes
        The archive.

    Returns
    -------
    dict of str to bytes
        The members by name. They take no more memory than the archive.
    """
    place = end_of_zip(content)
    end, before = content[place : place + _END_BYTES], content[max(place - _LARGE_END_BYTES, 0) : place]
    if not end.startswith(_END) or len(end) < _END_BYTES or before.startswith(_LARGE_END):
        raise ValueError("its zip structure is broken (it does not end as it should)")
    # Before the list of members is read.
    if int.from_bytes(end[_LIST_BYTES], "little") > _MOST_LIST_BYTES:
        raise ValueError(f"it has more members than the {_MOST_MEMBERS:,} that are allowed")
    # zipfile answers damaged headers with errors of many kinds (BadZipFile, NotImplementedError,
    # RuntimeError, EOFError, struct.error, UnicodeDecodeError, ...): all say the same here.
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = archive.infolist()
    except Exception as error:
        raise ValueError(f"its zip structure is broken ({error})") from error
    _check_entries(entries, len(content))
    try:
        return {entry.filename: archive.read(entry) for entry in entries}
    except Exception as error:
        raise ValueError(f"its zip structure is broken ({error})") from error


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> None:
    if len(entries) > _MOST_MEMBERS:
        raise ValueError(f"it has {len(entries):,} members, at most {_MOST_MEMBERS:,} are allowed")
    if sum(entry.file_size for entry in entries) > size:
        raise ValueError("its members are larger than the file")
    names = Counter(entry.filename for entry in entries)
    # In a file that was cut off, zipfile would find an archive that is a member of it, and take that for the whole.
    if entries and min(entry.header_offset for entry in entries) > 0:
        raise ValueError("it does not begin with its first member")
    for entry in entries:
        name = entry.filename
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name:
            raise ValueError(f"member name {name!r} points outside the file")
        if names[name] > 1:
            raise ValueError(f"member {name!r} is there more than once")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"member {name!r} is compressed, members are stored plain")
        # A stored member fits in the file; a header that says otherwise must not make us reserve memory.
        if entry.file_size > size or entry.compress_size != entry.file_size:
            raise ValueError(f"member {name!r} has an impossible size")
