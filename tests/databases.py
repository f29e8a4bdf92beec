"""Databases that queries are run in: DuckDB, SQLite, and a PostgreSQL server of one's own in a temporary folder."""

import csv
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Columns = Mapping[str, tuple[str, Sequence[Any]]]  # by name: the type, and the values


class SQLite:
    """A database in memory."""

    name = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def script(self, text: str) -> None:
        """Run statements."""
        try:
            self.connection.executescript(text)
        except sqlite3.Error:
            self.connection.rollback()
            raise

    def fill(self, table: str, columns: Columns) -> None:
        """Make a table, whose name is quoted already, with these columns."""
        self.script(created(table, columns))
        values = zip(*(values for _, values in columns.values()), strict=True)
        marks = ", ".join("?" for _ in columns)
        self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self.connection.execute(query).fetchall()


class DuckDB:
    """A database in memory, on one thread."""

    name = "duckdb"

    def __init__(self) -> None:
        import duckdb

        self.connection = duckdb.connect(config={"threads": 1})

    def script(self, text: str) -> None:
        """Run statements."""
        import duckdb

        try:
            self.connection.execute(text)
        except duckdb.Error:
            if "BEGIN" in text:
                self.connection.rollback()
            raise

    def fill(self, table: str, columns: Columns) -> None:
        """Make a table, whose name is quoted already, with these columns."""
        import pyarrow as pa

        self.script(created(table, columns))
        names = [f"c{place}" for place in range(len(columns))]
        given = pa.table(dict(zip(names, (pa.array(list(values)) for _, values in columns.values()), strict=True)))
        self.connection.register("given", given)
        self.script(f"INSERT INTO {table} SELECT * FROM given")  # noqa: S608
        self.connection.unregister("given")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        rows: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return rows


class PostgreSQL:
    """A server that listens on a socket in a folder only, asked through psql."""

    name = "postgresql"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Numbers with all their digits, and errors as errors.
        self.psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(folder), "-U", "postgres", "-d", "postgres"]

    def script(self, text: str) -> None:
        """Run statements."""
        self._run(text)

    def fill(self, table: str, columns: Columns) -> None:
        """Make a table, whose name is quoted already, with these columns."""
        path = self.folder / "given.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NOTNULL if hasattr(csv, "QUOTE_NOTNULL") else csv.QUOTE_MINIMAL)
            writer.writerows(
                ["\\N" if value is None else value for value in row]
                for row in zip(*(values for _, values in columns.values()), strict=True)
            )
        path.chmod(0o644)
        self._run(f"{created(table, columns)}\n\\copy {table} FROM '{path}' WITH (FORMAT csv, NULL '\\N')\n")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        answer = self._run(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, NULL '\\N')")
        return [tuple(_value(cell) for cell in row) for row in csv.reader(answer.splitlines())]

    def _run(self, text: str) -> str:
        # From a file: a command line has not enough room.
        done = subprocess.run(self.psql, input=text, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            raise RuntimeError(done.stderr[:2000])
        return done.stdout


def created(table: str, columns: Columns) -> str:
    """Return the statement that makes a table anew."""
    quoted = ", ".join('"' + name.replace('"', '""') + f'" {kind}' for name, (kind, _) in columns.items())
    return f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} ({quoted});"


def _value(cell: str) -> Any:
    if cell == "\\N":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def server_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None where there is no server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found and shutil.which("psql"):
        return found[-1].parent
    return Path(initdb).parent if (initdb := shutil.which("initdb")) and shutil.which("psql") else None


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """Start a server in a temporary folder, by another user where this one is root, whom it refuses."""
    programs = server_programs()
    assert programs is not None
    other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    # A socket's path may have some 100 letters.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pg") as made:
        folder = Path(made)
        if other:
            shutil.chown(folder, "postgres")
        data, log = folder / "data", folder / "log"

        def run(program: str, *arguments: Any) -> None:
            command = [*other, str(programs / program), *map(str, arguments)]
            subprocess.run(command, check=True, capture_output=True, cwd=folder)  # noqa: S603

        run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        quick = f"-c jit=off -c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", data, "-l", log, "-w", "-o", quick, "start")
        try:
            yield PostgreSQL(folder)
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
