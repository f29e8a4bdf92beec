"""Keys of signed files: named by the file they are in, never written on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearset.files import Key


def key_in(path: Path | None, *, to_sign: bool = False) -> "Key | None":
    """Return the key of a file; None where there is no file."""
    from clearset.files import check_signing_key, read_key

    if path is None:
        return None
    key = read_key(path)
    if to_sign:
        check_signing_key(key)
    return key
