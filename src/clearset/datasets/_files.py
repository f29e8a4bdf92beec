"""Finding the files of public data sets, and reading columns out of them."""

import csv as header_csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv, types

VARIABLE = "CLEARSET_DATA"
Folder = str | os.PathLike[str] | None


class Source(NamedTuple):
    """A public data set: its folder, the names of its file, and where to get it.

    Parameters
    ----------
    task : str
        The name of the folder that holds the data.
    files : tuple of str
        The names that the file may have.
    public : str
        A sentence about where to get it.

    Examples
    --------
    >>> from clearset.datasets import Source
    >>> Source("recipes", ("recipes.json",), "It is part of this project's examples.").task
    'recipes'
    """

    task: str
    files: tuple[str, ...]
    public: str


def find_file(source: Source, folder: Folder) -> Path:
    """Find the first of a source's files that is there.

    Without a folder, that of the environment variable is tried, then ``../shared/data``; in each the folder of the
    task, then the folder itself.

    Parameters
    ----------
    source : Source
        The data set.
    folder : str, path or None
        Where to look.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from clearset.datasets import Source, find_file
    >>> source = Source("recipes", ("recipes.json",), "It is part of this project's examples.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "recipes.json").write_text("[]")
    ...     find_file(source, folder).name
    'recipes.json'
    """
    if folder is not None:
        roots = [Path(folder).expanduser()]
    else:
        named = os.environ.get(VARIABLE)
        roots = [*([Path(named).expanduser()] if named else []), Path("..", "shared", "data")]
    places = [place for root in roots for place in (root / source.task, root)]
    for place in places:
        for name in source.files:
            if (place / name).is_file():
                return place / name
    raise FileNotFoundError(
        f"No {' or '.join(source.files)} for {source.task}; looked in {', '.join(map(str, places))}. {source.public} "
        f"Say where the unpacked files are with folder=..., --data DIR or the environment variable {VARIABLE}."
    )


def read_columns(path: Path, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Read some columns of a Parquet or CSV file, as these types; all must be there, and no value missing."""
    check_columns(path, column_names(path), columns)
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path, columns=list(columns))
        else:
            options = csv.ConvertOptions(include_columns=list(columns), column_types=columns)
            # Reviews hold line breaks.
            table = csv.read_csv(path, convert_options=options, parse_options=csv.ParseOptions(newlines_in_values=True))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    return as_types(path, table, columns)


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet or CSV file."""
    if path.suffix == ".parquet":
        try:
            return list(pq.read_schema(path).names)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is no Parquet file: {error}") from error
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(header_csv.reader(file), [])


def check_columns(path: Path, names: list[str], needed: Mapping[str, pa.DataType]) -> None:
    """Raise an error if a file lacks a column."""
    if missing := [name for name in needed if name not in names]:
        raise ValueError(
            f"{path} lacks {', '.join(map(repr, missing))}; it has {', '.join(map(repr, names)) or 'no columns'}. "
            "It is another file than the one that is looked for."
        )


def as_types(path: Path, table: pa.Table, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Return columns with the types that they should have, each in one chunk; raise an error for missing values."""
    arrays = {}
    for name, wanted in columns.items():
        column = table[name].combine_chunks()
        # Numbers would become strings without a word.
        if not _alike(column.type, wanted):
            raise ValueError(f"Column {name!r} of {path} holds {column.type}, but {wanted} is needed.")
        try:
            column = column.cast(wanted)
        except pa.ArrowInvalid as error:
            raise ValueError(f"Column {name!r} of {path} cannot be read as {wanted}: {error}") from error
        items = column.flatten() if types.is_list(wanted) else column
        if column.null_count or items.null_count:
            raise ValueError(f"Column {name!r} of {path} has missing values.")
        arrays[name] = column
    return pa.table(arrays)


def _alike(given: pa.DataType, wanted: pa.DataType) -> bool:
    if types.is_dictionary(given):
        given = given.value_type
    if types.is_list(wanted):
        return (types.is_list(given) or types.is_large_list(given)) and _alike(given.value_type, wanted.value_type)
    texts = [types.is_string(kind) or types.is_large_string(kind) for kind in (given, wanted)]
    return texts[0] == texts[1] and not types.is_nested(given)
