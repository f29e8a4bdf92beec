"""What an artifact is made of: names, version, and the error for files that are not one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.files import brief

FORMAT = "clearset"
VERSION = 1
MANIFEST = "manifest.json"
DOCUMENT = "model.json"
ARRAYS = "arrays.safetensors"

Arrays = dict[str, npt.NDArray[Any]]


class ArtifactError(ValueError):
    """A file cannot be read, or content cannot be written, as an artifact.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import clearset as cs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.clearset")
    ...     _ = path.write_text("no model")
    ...     try:
    ...         cs.load(path)
    ...     except cs.ArtifactError:
    ...         print("not a model")
    not a model
    """


def damaged(path: str, what: str) -> ArtifactError:
    """Return the error for a file that is not as it was written."""
    return ArtifactError(
        f"Cannot read '{path}': {brief(what)}. The file is damaged or was edited; take a fresh copy or save it again."
    )


def unsigned(path: str, error: Exception) -> ArtifactError:
    """Return the error for a file that is not signed as it should be."""
    return ArtifactError(
        f"Cannot read '{path}': {error} Use the key that it was signed with, or take a fresh copy from where you trust."
    )


@dataclass(frozen=True, eq=False)
class Artifact:
    """The content of an artifact.

    Attributes
    ----------
    kind : str
        What the content is, such as ``"set estimator"``.
    document : dict
        Everything but the numbers in bulk, as JSON values.
    arrays : dict of str to ndarray
        The numbers in bulk, by name.
    members : dict of str to bytes, optional
        Further files inside, by name, such as a table as Parquet.
    """

    kind: str
    document: dict[str, Any]
    arrays: dict[str, np.ndarray[Any, Any]]
    members: dict[str, bytes] = field(default_factory=dict)
