"""How names, texts and numbers are written in the SQL of a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DOUBLE = "DOUBLE PRECISION"


@dataclass(frozen=True)
class Dialect:
    """What differs between databases.

    Parameters
    ----------
    name : str
        The database.
    has_nan : bool
        Whether numbers may be NaN, which is not NULL.
    """

    name: str
    has_nan: bool

    def number(self, value: float) -> str:
        """Write a number so that it is read as the same double."""
        return self.numbers(np.array([value]))[0]

    def numbers(self, values: npt.NDArray[np.float64]) -> list[str]:
        """Write numbers so that they are read as the same doubles; DuckDB would take them for decimals without `e`."""
        if not np.isfinite(values).all():
            raise ValueError("The model has a parameter that is infinite or not a number, which SQL cannot say.")
        return [text if "e" in text else f"{text}e0" for text in map(repr, values.astype(np.float64).tolist())]

    def text(self, value: str) -> str:
        """Write a text as a literal that nothing in it can end."""
        quoted = _checked(value).replace("'", "''")
        if self.name == "postgresql" and "\\" in quoted:
            # Whether backslashes mean something in plain literals is a setting of the server.
            doubled = quoted.replace("\\", "\\\\")
            return f"E'{doubled}'"
        return f"'{quoted}'"

    def label(self, value: str | float) -> str:
        """Write a class; True and False are ints as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return str(value).upper()
        return str(value) if isinstance(value, int) else self.number(value)

    def numbers_of(self, column: str) -> str:
        """Read a column of numbers; NaN is NULL."""
        number = f"CAST({column} AS {DOUBLE})"
        return f"NULLIF({number}, CAST('NaN' AS {DOUBLE}))" if self.has_nan else number

    def texts_of(self, column: str) -> str:
        """Read a column of texts, letter by letter whatever the column's collation."""
        return f"CAST({column} AS TEXT){' COLLATE BINARY' if self.name == 'sqlite' else ''}"


DIALECTS = {
    each.name: each
    for each in (Dialect("duckdb", has_nan=True), Dialect("postgresql", has_nan=True), Dialect("sqlite", has_nan=False))
}


def name(parts: str | Sequence[str]) -> str:
    """Write the name of a table or column, or of a table within a schema, so that nothing in it can end it."""
    listed = [parts] if isinstance(parts, str) else list(parts)
    if not listed or not all(isinstance(part, str) and part for part in listed):
        raise ValueError(f"{parts!r} is no name of a table or column; give a string, or ('schema', 'table').")
    return ".".join('"' + _checked(part).replace('"', '""') + '"' for part in listed)


def _checked(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"{text!r} holds the character NUL, which databases do not read. Rename it.")
    return text
