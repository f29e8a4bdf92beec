"""CelebA: faces, their attributes, and whether they were called attractive."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.datasets._files import Folder, Source, column_names, find_file, read_columns
from clearset.datasets._labelled import Labelled
from clearset.datasets._list_columns import sets_of_names

_SOURCE = Source(
    "celeba",
    ("celeba_attributes.parquet", "list_attr_celeba.txt", "list_attr_celeba.csv"),
    "list_attr_celeba.txt is on the project page http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html, and as "
    "list_attr_celeba.csv in Kaggle's data set jessicali9530/celeba-dataset.",
)
_LABEL = "Attractive"


def load_celeba(folder: Folder = None, *, values: bool = False) -> Labelled:
    r"""Load the attributes of CelebA's faces; the label is whether the face was called attractive.

    202,599 faces with 39 further yes-or-no attributes (Z. Liu, P. Luo, X. Wang, X. Tang, "Deep Learning Face
    Attributes in the Wild", 2015). The images are not needed.

    Parameters
    ----------
    folder : path, default=None
        Where ``celeba_attributes.parquet``, the project's ``list_attr_celeba.txt`` or Kaggle's
        ``list_attr_celeba.csv`` is, or ``celeba/`` with one of them. None: the folder that the environment variable
        ``CLEARSET_DATA`` names, then ``../shared/data``.
    values : bool, default=False
        Whether a face is the set of all its attributes with their values ("Bald=no", "Smiling=yes"), and not
        of those that are present ("Smiling").

    Returns
    -------
    Labelled
        X is a list column of attributes; y is 1 for attractive, else 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from clearset.datasets import load_celeba
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = "2\nAttractive Bald Smiling\n000001.jpg  1 -1  1\n000002.jpg -1 -1 -1\n"
    ...     _ = (pathlib.Path(folder) / "list_attr_celeba.txt").write_text(text)
    ...     faces = load_celeba(folder)
    ...     with_values = load_celeba(folder, values=True)
    >>> faces.X.to_pylist(), faces.y
    ([['Smiling'], []], array([1, 0]))
    >>> with_values.X.to_pylist()
    [['Bald=no', 'Smiling=yes'], ['Bald=no', 'Smiling=no']]
    """
    path = find_file(_SOURCE, folder)
    names, table = _read_text(path) if path.suffix == ".txt" else _read_table(path)
    if _LABEL not in names or len(names) < 2:
        raise ValueError(
            f"{path} should have the attribute {_LABEL!r} and others; it has {', '.join(names) or 'none'}."
        )
    if not np.isin(table, (1, -1)).all():
        raise ValueError(f"Attributes are 1 or -1, but {path} holds {table[~np.isin(table, (1, -1))][0]}.")
    place = names.index(_LABEL)
    labels = (table[:, place] == 1).astype(np.int64)
    present = np.delete(table, place, axis=1) == 1
    names.remove(_LABEL)
    if values:
        named = pa.array([f"{name}={value}" for name in names for value in ("no", "yes")])
        codes = (2 * np.arange(len(names)) + present).ravel()
        return Labelled(sets_of_names(named, codes, np.full(len(labels), len(names))), labels)
    return Labelled(sets_of_names(pa.array(names), np.nonzero(present)[1], present.sum(axis=1)), labels)


def _read_text(path: Path) -> tuple[list[str], npt.NDArray[np.int8]]:
    """Read the project's own file: the number of faces, the names, and a line a face."""
    with path.open(encoding="utf-8") as file:
        count, names = file.readline().strip(), file.readline().split()
        try:
            columns = range(1, len(names) + 1)
            table = np.loadtxt(file, dtype=np.int8, comments=None, usecols=columns, ndmin=2)
        except ValueError as error:
            raise ValueError(f"{path} cannot be read as a file of attributes: {error}") from error
    if count != str(len(table)):
        raise ValueError(f"{path} should have {count!r} faces, as its first line says, but has {len(table)}.")
    return names, table


def _read_table(path: Path) -> tuple[list[str], npt.NDArray[np.int8]]:
    names = [name for name in column_names(path) if name != "image_id"]
    table = read_columns(path, dict.fromkeys(names, pa.int8()))
    values = np.empty((len(table), len(names)), dtype=np.int8)
    for place, name in enumerate(names):
        values[:, place] = table[name].to_numpy()
    return names, values
