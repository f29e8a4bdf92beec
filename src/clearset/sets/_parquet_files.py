"""Parquet files and folders of them, by their paths."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

# The first bytes of Parquet files, plain and encrypted.
_BEGINNINGS = (b"PAR1", b"PARE")
_TEXTS = (".csv", ".tsv", ".txt")


def open_parquet(path: Path) -> ds.Dataset:
    """Return the data set of a file or of the files of a folder; raise an error that names what is no Parquet file."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file or folder '{path}'. Give a frame, or the path of a Parquet file or a folder of them."
        )
    source: Any = path
    if path.is_dir():
        # Other files may lie beside them; files whose names do not tell are taken for Parquet.
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(path)))
        source = [str(file) for file in files if file.suffix.lower() in (".parquet", ".pq")] or list(map(str, files))
        if not source:
            raise FileNotFoundError(f"The folder '{path}' holds no Parquet files.")
    try:
        if path.is_dir():
            return ds.dataset(source, format="parquet", partitioning="hive", partition_base_dir=str(path))
        return ds.dataset(source, format="parquet")
    except (pa.ArrowException, OSError) as error:
        # Arrow takes a file of any other format for one that may be corrupted.
        for file in map(Path, source if path.is_dir() else [path]):
            if not _begins_as_parquet(file):
                raise ValueError(_no_parquet(file)) from error
        raise ValueError(f"Cannot read '{path}' as Parquet: {error}") from error


def _begins_as_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet files do; of one that cannot be opened another error tells more."""
    try:
        with path.open("rb") as file:
            return file.read(4) in _BEGINNINGS
    except OSError:
        return True


def _no_parquet(path: Path) -> str:
    what, read, further = "it does not begin as such files do", "pyarrow, pandas or polars", ""
    if path.suffix.lower() in _TEXTS:
        what = f"it is a {path.suffix.lower()} file"
        read = "pandas.read_csv, polars.read_csv or pyarrow.csv.read_csv"
        further = " In a shell, clearset fit and clearset predict read .csv files."
    return (
        f"Cannot read '{path}' as Parquet, the only format that is read by its path: {what}. Read it with {read} and "
        f"give the frame, or write it as Parquet first.{further}"
    )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
