"""CSV files as people have them: with semicolons or tabs, decimal commas, and in other encodings."""

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.csv

from clearset.cli._options import CsvFormat

_DELIMITERS = ",;\t|"
_MOST_HEADER = 1 << 16
_SHOWN = 60
_END = 20
_UNCLOSED = "Probably a cell begins with a quote that is not closed: close it, or write it twice and put quotes around."


def read_csv(path: Path, form: CsvFormat, texts: Sequence[str]) -> pa.Table:
    """Return the table of a CSV file, the columns `texts` as text; columns without a name are called as in pandas."""
    try:
        table = _parsed(path, form, texts)
        names = table.column_names
    except UnicodeDecodeError as error:
        _wrong_encoding(path, form, error)
    except pa.ArrowInvalid as error:
        _unreadable(path, form, texts, error)
    if any(pa.types.is_binary(field.type) for field in table.schema):  # so Arrow reads what is not UTF-8
        _wrong_encoding(path, form)
    if len(names) == 1:
        _check_delimiter(path, form)
    _check_quotes(path, form, table)
    return table.rename_columns([name if name.strip() else f"Unnamed: {place}" for place, name in enumerate(names)])


def _parsed(path: Path, form: CsvFormat, texts: Sequence[str], *, threads: bool = True) -> pa.Table:
    reading = pa.csv.ReadOptions(encoding=form.encoding or "utf-8", use_threads=threads)
    parsing = pa.csv.ParseOptions(delimiter=_delimiter(path, form), newlines_in_values=True)
    strings = dict.fromkeys(texts, pa.string())

    def read(**options: Sequence[str]) -> pa.Table:
        types = pa.csv.ConvertOptions(
            column_types=strings, decimal_point=form.decimal or ".", strings_can_be_null=True, **options
        )
        return pa.csv.read_csv(path, reading, parsing, types)

    table = read()
    wanted = [name for name in strings if table.column_names.count(name) == 1]
    if not wanted:
        return table
    # Words for missing values, such as NA, can be set for whole files only; in these columns they are items.
    exact = read(include_columns=wanted, null_values=[""])
    for name in wanted:
        table = table.set_column(table.column_names.index(name), name, exact[name])
    return table


def _delimiter(path: Path, form: CsvFormat) -> str:
    return form.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")


def _unreadable(path: Path, form: CsvFormat, texts: Sequence[str], error: pa.ArrowInvalid) -> NoReturn:
    """Raise an error that says why a file cannot be read, and which option may help."""
    head = _head(path)
    if not head.strip():
        raise ValueError(f"'{path}' is empty. Its first line should name the columns.") from None
    if "UTF8" in str(error) or (form.encoding is None and b"\0" in head):
        _wrong_encoding(path, form)
    _check_delimiter(path, form)
    try:
        _parsed(path, form, texts, threads=False)  # the same error, but with the number of the row
    except pa.ArrowInvalid as numbered:
        error = numbered
    advice = f"Put cells that contain {_delimiter(path, form)!r} into quotes, or name another --delimiter."
    if "straddling" in str(error):  # a cell as long as the blocks that Arrow reads
        advice = _UNCLOSED
    raise ValueError(f"Cannot read '{path}': {str(error).rstrip('.')}. {advice}") from error


def _check_delimiter(path: Path, form: CsvFormat) -> None:
    """Raise an error if another delimiter stands in the first line, and the one that is read by does not."""
    used = _delimiter(path, form)
    header = _head(path).decode(form.encoding or "utf-8-sig", "replace").lstrip().partition("\n")[0]
    count, other = max((header.count(each), each) for each in _DELIMITERS)
    if used in header or not count:
        return
    advice = "tab" if other == "\t" else f"'{other}'"
    raise ValueError(
        f"Cannot read '{path}': its first line, {_short(header.strip())}, holds no {used!r} but {other!r}. "
        f"Say what stands between columns: --delimiter {advice}"
    )


def _check_quotes(path: Path, form: CsvFormat, table: pa.Table) -> None:
    """Raise an error if the last cell begins with a quote that nothing closes: it would swallow the rows after it."""
    cells = [cell for row in table.slice(max(len(table) - 1, 0)).to_pylist() for cell in row.values()]
    ends = [cell[-_END:] for cell in cells if isinstance(cell, str) and "\n" in cell]
    if not ends:
        return
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 8 * _END, 0))
        tail = file.read().decode(form.encoding or "utf-8", "replace")
    if tail.endswith(tuple(ends)):  # a cell that is closed is followed by a quote
        raise ValueError(f"Cannot read '{path}': its last cell goes over several lines. {_UNCLOSED}")


def _wrong_encoding(path: Path, form: CsvFormat, error: UnicodeDecodeError | None = None) -> NoReturn:
    head = _head(path)
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    likely = "utf-16" if wide else "utf-16-le" if b"\0" in head else "latin-1"
    if likely == form.encoding:
        likely = "cp1252"
    found = f" ({error.reason}, byte 0x{error.object[error.start]:02x})" if error else ""
    raise ValueError(
        f"Cannot read '{path}': its encoding is not {form.encoding or 'utf-8'}{found}. Name it, for example "
        f"--encoding {likely}"
    ) from None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_HEADER)


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
