"""Queries as they are put together and handed out: named steps, and what users receive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from clearset.artifact import check_target, write_file
from clearset.export._sql_dialects import DIALECTS, Dialect, name


@dataclass(frozen=True, repr=False)
class Sql:
    """A model as SQL, made by `to_sql`.

    Parameters
    ----------
    dialect : str
        The database that it is written for.
    query : str
        What scores the sets, one statement without a semicolon.
    setup : str, default=""
        Statements that make and fill the tables which the query reads beside those of the sets; empty where it reads
        none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]})
    >>> model = cs.SetRegressor([cs.Feature("stars", monotonic="increasing")], random_state=0)
    >>> sql = model.fit(products, [120.0, 20.0, 180.0, 60.0]).to_sql("sqlite", table="reviews", key="product")
    >>> sql
    Sql('sqlite', ... lines)
    """

    dialect: str
    query: str
    setup: str = ""

    def __repr__(self) -> str:
        return f"Sql({self.dialect!r}, {str(self).count(chr(10))} lines)"

    def __str__(self) -> str:
        return self.setup + self._script

    @property
    def _script(self) -> str:
        # Compiling such formulas takes PostgreSQL far longer than they do.
        before = "SET jit = off;\n" if self.dialect == "postgresql" else ""
        return f"{before}{self.query};\n"

    def write(self, path: str | PathLike[str]) -> list[Path]:
        """Write the query to a file, and the setup, where there is one, beside it.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.sql``; the setup goes to ``model.setup.sql``. Existing files are replaced.

        Returns
        -------
        list of Path
            The files, in the order in which they are to be run.
        """
        query = Path(path)
        check_target(query)
        setup = query.with_name(f"{query.stem}.setup{query.suffix}")
        written = [(setup, self.setup)] * bool(self.setup) + [(query, self._script)]
        for file, _ in written:
            check_target(file)
        for file, text in written:
            write_file(file, text.encode())
        return [file for file, _ in written]


@dataclass(frozen=True)
class Places:
    """Where the data of sets stand in a database.

    Parameters
    ----------
    dialect : str
        The database.
    table : str or sequence of str
        The table with a row for each token; a sequence names it within its schema.
    key : str
        The column that says which set a row belongs to.
    columns : mapping of str to str
        The columns of features whose names are others.
    sets : str or sequence of str, optional
        A table with one row for each set.
    set_columns : sequence of str or None
        The features that stand there; None for those that were of whole sets in training.
    prefix : str
        What the names of tables begin with that the setup makes.
    order : str or None, default=None
        The column of `table` that has the order of the tokens of a set.
    """

    dialect: str
    table: str | Sequence[str]
    key: str
    columns: Mapping[str, str]
    sets: str | Sequence[str] | None
    set_columns: Sequence[str] | None
    prefix: str
    order: str | None = None

    @property
    def writer(self) -> Dialect:
        """What writes for the database."""
        if self.dialect not in DIALECTS:
            raise ValueError(f"dialect={self.dialect!r}, but dialect is one of {', '.join(map(repr, DIALECTS))}.")
        return DIALECTS[self.dialect]

    def checked(self, known: Sequence[str], of_sets: Sequence[str], *, ordered: bool = False) -> Places:
        """Return the places with `set_columns` in full; raise a ValueError for what the model does not read or lacks.

        It is `ordered` if it reads the places of tokens.
        """
        if ordered and self.order is None:
            raise ValueError(
                "The model reads the places of tokens in their list, but the rows of a table have no order. Name the "
                "column that has it: order='day'."
            )
        if self.order is not None and not ordered:
            raise ValueError(
                f"order={self.order!r}, but the model does not read the places of tokens, so that their order does not "
                "matter. Leave it out."
            )
        if isinstance(self.set_columns, str):
            raise TypeError(f"set_columns is the string {self.set_columns!r}; give a list of names of features.")
        for option, named in (("columns", self.columns), ("set_columns", self.set_columns or ())):
            if unknown := [each for each in named if each not in known]:
                raise ValueError(f"{option} names {unknown[0]!r}, but the model reads {list(known)}.")
        if self.sets is None and self.set_columns:
            raise ValueError(
                f"set_columns={list(self.set_columns)} stand in a table of sets. Name it: sets='products'."
            )
        chosen = self.set_columns
        if chosen is None:
            chosen = [] if self.sets is None else [each for each in of_sets if each in known]
        return replace(self, set_columns=list(chosen))

    def column(self, feature: str) -> str:
        """Return the column of a feature."""
        row = "s" if feature in (self.set_columns or ()) else "t"
        return f"{row}.{name(self.columns.get(feature, feature))}"

    @property
    def rows(self) -> str:
        """All tokens with their sets; a set without tokens comes once where there is a table of sets."""
        key = name(self.key)
        if self.sets is None:
            return f"FROM {name(self.table)} AS t\n  WHERE t.{key} IS NOT NULL"
        return f"FROM {name(self.sets)} AS s\n  LEFT JOIN {name(self.table)} AS t ON t.{key} = s.{key}"

    @property
    def token_key(self) -> str:
        """The key of the token in `rows`, NULL for a set without tokens."""
        return f"t.{name(self.key)}"

    @property
    def count(self) -> str:
        """The number of tokens of the set in `rows`."""
        return f"COUNT({self.token_key}) OVER (PARTITION BY {self.set_key})"

    def place(self, *, from_end: bool) -> str:
        """Return the place of the token in its set, from the end or the start; NULL for a set without tokens."""
        rows = f"PARTITION BY {self.set_key} ORDER BY t.{name(self.order or '')}"
        number = f"ROW_NUMBER() OVER ({rows})"
        counted = f"{self.count} - {number}" if from_end else f"{number} - 1"
        return f"CASE WHEN {self.token_key} IS NOT NULL THEN {counted} END"

    @property
    def set_key(self) -> str:
        """The key of the set in `rows`."""
        return f"{'t' if self.sets is None else 's'}.{name(self.key)}"


@dataclass
class Steps:
    """The steps of a query, each with what it is for."""

    # Each is calculated once: otherwise columns would be replaced by their formulas wherever they are used.

    dialect: Dialect
    parts: list[str] = field(default_factory=list)

    def add(self, step: str, about: str, selected: Sequence[str], rows: str) -> None:
        """Add a step that selects columns."""
        self.add_union(step, about, [(selected, rows)])

    def add_union(self, step: str, about: str, parts: Sequence[tuple[Sequence[str], str]]) -> None:
        """Add a step that is the rows of several selections, equal ones once."""
        texts = ["  SELECT\n    " + ",\n    ".join(selected) + f"\n  {rows}\n" for selected, rows in parts]
        joined = "  UNION\n".join(texts)
        self.parts.append(f"{_comment(about)}\n{step} AS MATERIALIZED (\n{joined})")

    def add_values(self, step: str, about: str, columns: Sequence[str], values: Sequence[Sequence[str]]) -> None:
        """Add a step that is a small table."""
        lines = ",\n    ".join(f"({', '.join(row)})" for row in values)
        self.parts.append(f"{_comment(about)}\n{step} ({', '.join(columns)}) AS (\n  VALUES\n    {lines}\n)")

    def query(self, about: str, selected: Sequence[str], rows: str) -> str:
        """Return the query that selects columns from the last step."""
        columns = ",\n  ".join(selected)
        return "WITH\n" + ",\n".join(self.parts) + f"\n{_comment(about)}\nSELECT\n  {columns}\n{rows}"


def quoted(text: object) -> str:
    """Return a name for a comment, from which nothing in it can break out."""
    return json.dumps(text)


def _comment(text: str) -> str:
    return f"-- {text}"
