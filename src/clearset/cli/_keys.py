"""Keys of signed files: named by the file they are in, never written on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

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


def warn_of_lost_signatures(key: "Key | None", *sources: Path) -> None:
    """Print a warning if there is no key to sign what is made of signed files."""
    from clearset.artifact import is_signed

    signed = [f"'{path}'" for path in sources if path.is_file() and is_signed(path)] if key is None else []
    if signed:
        which = f"{signed[0]} is signed" if len(signed) == 1 else f"{', '.join(signed)} are signed"
        typer.echo(f"clearset: warning: {which}, but what is saved is not. Sign it with --key-file.", err=True)
