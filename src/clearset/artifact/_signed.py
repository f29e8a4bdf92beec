"""Whether a file has a signature."""

import os
from pathlib import Path

from clearset.artifact._parquet import PARQUET, SIGNATURE_PLACE
from clearset.files import is_signed_zip

_END = 200  # of a zip archive: its signature; of a Parquet file: the length of its footer


def is_signed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file that was saved has a signature, which is not checked.

    Parameters
    ----------
    path : path-like
        The file of a model or a token table.

    Returns
    -------
    bool
        Whether it has one, by whomever.
    """
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _END, 0))
        end = file.read()
        if not end.endswith(PARQUET):
            return is_signed_zip(end)
        of_footer = int.from_bytes(end[-8:-4], "little")
        file.seek(max(size - 8 - of_footer, 0))
        return SIGNATURE_PLACE in file.read()
