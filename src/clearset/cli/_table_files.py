"""Tables on disk: CSV and Parquet, with a row for each set or for each token."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

import clearset as cs
from clearset.artifact import replaced_file
from clearset.cli._csv_files import read_csv
from clearset.cli._options import CsvFormat
from clearset.models import Model
from clearset.sets import NotConstantError

_PARQUET = (".parquet", ".pq")


def names_in(text: str) -> list[str]:
    """Split the ``a,b`` of an option into names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def read_sets(
    path: Path,
    form: CsvFormat,
    by: str | None,
    set_columns: Sequence[str],
    texts: Sequence[str] = (),
    others: Sequence[str] = (),
) -> pa.Table:
    """Return a table with one row for each set, `texts` as in `read_table`; with `by`, a long table is grouped.

    As the columns `set_columns`, `others` (labels, weights, ids) must have one value a set there.
    """
    table = read_table(path, form, texts)
    if by is None:
        if set_columns:
            raise ValueError("Set columns are named only for a long table. Give its key with --by as well.")
        return table
    whole = tuple(dict.fromkeys([*set_columns, *others]))
    for name in (by, *whole):
        check_column(table, name, path)
    if list_columns(table):
        return table  # it has one row for each set already; its key is kept as a column
    if by in whole:
        option = "--set-columns" if by in set_columns else "the label or the weight"
        raise ValueError(f"Column {by!r} is the key (--by), and cannot be named by {option} as well. Name another.")
    try:
        return cs.from_long(table, by=by, set_columns=whole)
    except NotConstantError as error:
        todo = "Leave it out of --set-columns to make it a token feature."
        if error.name in others:
            todo = f"A label, weight or --id has one value a set. Correct '{path}', or name another key with --by."
        raise ValueError(f"{error.found} {todo}") from error


def columns_of_fit(table: pa.Table, model: Model) -> pa.Table:
    """Return the columns that `model` was fitted on, without the key and the label, for example."""
    # A model with declared features selects them itself; a model without has taken every column it was given.
    if model.feature_names_in is None or model.parameters.get("features") is not None:
        return table
    return table.select([name for name in model.feature_names_in if name in table.column_names])


def read_table(path: Path, form: CsvFormat, texts: Sequence[str] = ()) -> pa.Table:
    """Return the table of a CSV or Parquet file, by its extension; of CSV, the columns `texts` are read as text."""
    if not path.is_file():
        what = "it is a folder, which this command does not read" if path.is_dir() else "there is no such file"
        raise FileNotFoundError(f"Cannot read '{path}': {what}. Give a CSV or Parquet file.")
    if path.suffix.lower() != ".tsv":
        check_format(path)
    if is_parquet(path):
        check_no_format(form, path)
    try:
        table = pa.parquet.ParquetFile(path).read() if is_parquet(path) else read_csv(path, form, texts)
    except pa.ArrowException as error:
        raise ValueError(f"Cannot read '{path}': {error}") from error
    names = table.column_names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"'{path}' has more than one column named {', '.join(map(repr, twice))}. Rename them.")
    if len(table) == 0:
        raise ValueError(f"'{path}' has no rows.")
    return table


def check_no_format(form: CsvFormat, path: Path) -> None:
    """Raise an error if options for CSV files were given with Parquet files."""
    if given := [each.name for each in fields(CsvFormat) if getattr(form, each.name)]:
        what = "folder of Parquet files" if path.is_dir() else "Parquet file"
        raise ValueError(f"--{given[0]} is for CSV files, but '{path}' is a {what}. Leave it out.")


def is_parquet(path: Path) -> bool:
    """Return whether the name of a file ends as those of Parquet files do."""
    return path.suffix.lower() in _PARQUET


def write_table(table: pa.Table, path: Path | None) -> None:
    """Write a table as CSV or Parquet by the extension, or as CSV to standard output if there is no path."""
    with writing(path) as write:
        write(table)


@contextmanager
def writing(path: Path | None) -> Iterator[Callable[[pa.Table], None]]:
    """Open a table that is written part by part, as `write_table` does; the file is there once all parts are."""
    if path is None:
        header = iter([True])
        yield lambda table: _print_csv(table, header=next(header, False))
        return
    with replaced_file(path) as file, ExitStack() as stack:
        writer: Any = None

        def write(table: pa.Table) -> None:
            nonlocal writer
            if writer is None:
                kind = partial(pa.csv.CSVWriter, write_options=pa.csv.WriteOptions(quoting_style="needed"))
                writer = stack.enter_context(
                    (pa.parquet.ParquetWriter if is_parquet(path) else kind)(file, table.schema)
                )
            writer.write_table(table)

        yield write


def _print_csv(table: pa.Table, *, header: bool) -> None:
    buffer = io.BytesIO()
    pa.csv.write_csv(table, buffer, pa.csv.WriteOptions(include_header=header, quoting_style="needed"))
    sys.stdout.write(buffer.getvalue().decode())


def check_format(path: Path) -> None:
    """Raise an error if a file name does not end as those of CSV or Parquet files."""
    if path.suffix.lower() not in (".csv", *_PARQUET):
        raise ValueError(f"'{path}' is neither CSV nor Parquet by its name. Use .csv or .parquet.")


def check_column(table: pa.Table, name: str, path: Path) -> None:
    """Raise an error if a table has no column of this name."""
    if name not in table.column_names:
        raise ValueError(f"'{path}' has no column {name!r}. {did_you_mean(name, table.column_names)}")


def plain_column(table: pa.Table, name: str, path: Path) -> npt.NDArray[Any]:
    """Return a column of single, present values as a numpy array."""
    if name in list_columns(table):
        raise ValueError(f"Column {name!r} of '{path}' holds lists; a label or weight is one value a set.")
    column = table[name]
    if missing := column.null_count:
        raise ValueError(f"Column {name!r} of '{path}' has {missing} missing values. Remove these sets.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values: npt.NDArray[Any] = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else values


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the nearest known one, or all of them."""
    names = list(known)
    if close := get_close_matches(name, names, n=1):
        return f"Did you mean {close[0]!r}?"
    return f"There are: {', '.join(names)}."


def list_columns(table: pa.Table) -> list[str]:
    """Return the names of the columns that hold lists."""
    return [
        field.name
        for field in table.schema
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type) or pa.types.is_fixed_size_list(field.type)
    ]


def count_tokens(table: pa.Table) -> int:
    """Return the number of tokens of all sets; without list columns, each row is a set of one token."""
    lists = list_columns(table)
    return pc.sum(pc.list_value_length(table[lists[0]])).as_py() or 0 if lists else len(table)
