"""`to_sql` in DuckDB, PostgreSQL and SQLite: the same numbers as Python, and rows scored in a second."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
from tests.databases import DuckDB, PostgreSQL, SQLite, postgresql, server_programs

import clearset as cs
from benchmarks._random_models import Case, expected, item_cases, quick, random_sets, randomised, value_cases
from benchmarks._results import write_table

Database = DuckDB | PostgreSQL | SQLite
LARGE = 300_000  # sets, of some million tokens
VOCABULARY = 100_000
TYPES = {"store": "TEXT", "aisle": "INTEGER"}


def databases(stack: ExitStack) -> Iterator[Database]:
    """Yield the databases that this machine has."""
    yield DuckDB()
    if server_programs() is not None:
        yield stack.enter_context(postgresql())
    yield SQLite()


def versions() -> str:
    """Return the versions of the databases."""
    found = [f"DuckDB {duckdb.__version__} on one thread", f"SQLite {sqlite3.sqlite_version}"]
    if (programs := server_programs()) is not None:
        told = subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, text=True)
        found.append(told.stdout.strip().replace("postgres (PostgreSQL)", "PostgreSQL").split(" (")[0])
    return ", ".join(found)


def fill(database: Database, sets: Any) -> int:
    """Make a table of the tokens of sets and one of the sets; return how many tokens there are."""
    if not isinstance(sets, Mapping):
        sets = {"item": sets}
    listed = [name for name, values in sets.items() if any(isinstance(value, list) for value in values)]
    rows = listed or list(sets)
    n_sets = len(sets[rows[0]])
    sizes = [len(each) for each in sets[rows[0]]] if listed else [1] * n_sets
    keys = np.repeat(np.arange(n_sets), sizes).tolist()
    kinds = {"item": "TEXT", **TYPES}
    tokens = {"set": ("INTEGER", keys)}
    for name in rows:
        values = list(chain.from_iterable(sets[name])) if listed else sets[name]
        tokens[name] = (kinds.get(name, "DOUBLE PRECISION"), values)
    of_sets = {"set": ("INTEGER", list(range(n_sets)))}
    of_sets |= {name: ("DOUBLE PRECISION", sets[name]) for name in sets if name not in rows}
    database.fill("tokens", tokens)
    database.fill("sets", of_sets)
    if database.name == "postgresql":
        database.script("ANALYZE tokens; ANALYZE sets;")
    return len(keys)


def found(rows: list[tuple[Any, ...]], link: Any, n_sets: int) -> npt.NDArray[np.float64]:
    """Return the estimates in the rows of a query, ``(B, 1)`` or ``(B, classes)``."""
    estimates = np.full((n_sets, link.n_outputs), np.nan)
    classes = [] if link.classes is None else link.classes.tolist()
    places = {label: place for place, label in enumerate(classes)}
    for row in rows:
        if link.n_outputs == 1:
            estimates[int(row[0]), 0] = row[-1]
        else:
            estimates[int(row[0]), places[row[1]]] = row[2]
    return estimates


def measured(case: Case, database: Database) -> str:
    """Score the sets in a database; return the largest difference, relative to the largest value, and the speed."""
    wanted, link = expected(case), case.model.link
    n_tokens = fill(database, case.sets)
    database.script("DROP TABLE IF EXISTS clearset_scores; DROP TABLE IF EXISTS clearset_tokens;")
    sql = case.model.to_sql(database.name, sets="sets")
    start = time.perf_counter()
    database.script(sql.setup)
    ready = time.perf_counter()
    rows = database.rows(sql.query)
    seconds = time.perf_counter() - ready
    difference = np.abs(found(rows, link, len(wanted)) - wanted).max() / max(1.0, np.abs(wanted).max())
    assert difference < 1e-9, (case.name, database.name, difference)
    setup = f", setup {ready - start:.1f} s" if len(sql.setup) > 10**6 else ""
    return f"{difference:.1e}; {seconds:.2f} s, {n_tokens / seconds:,.0f} rows/s{setup}"


def large() -> Iterator[Case]:
    """Yield a model of numbers with a million tokens, and one with a large vocabulary."""
    rng = np.random.default_rng(0)
    case = next(value_cases(10))
    yield Case(f"{case.name}, {LARGE:,} sets", case.model, random_sets(rng, LARGE))
    names = np.array([f"item {number}" for number in range(VOCABULARY)])
    training = [names[start :: VOCABULARY // 4].tolist() for start in range(VOCABULARY // 4)]
    model = quick(cs.SemanticRegressor, tokens=cs.Items(), filters=[], refine=False)
    model = model.fit(training, rng.normal(size=len(training))).as_model()
    drawn = names[rng.integers(0, VOCABULARY, (LARGE, 3))]
    yield Case(f"{VOCABULARY:,} items, {LARGE:,} sets", randomised(model, rng), drawn.tolist())


def rows(made: list[Database]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for case in chain(value_cases(), item_cases(), large()):
        try:
            case.model.to_sql("sqlite")
        except ValueError as error:
            yield case.name, *[f"refused: {str(error).split('.')[0]}"] * len(made)
            continue
        yield case.name, *(measured(case, database) for database in made)


if __name__ == "__main__":
    with ExitStack() as opened:
        tried = list(databases(opened))
        write_table(
            "sql_exports",
            "Models as queries, beside Python",
            "The largest difference of estimates from Python's, relative to the largest of them or to 1, for 10,000\n"
            "random sets (some empty, with missing and unknown values); the time of the query with its results\n"
            f"fetched, and rows of the table of tokens in a second. {versions()}.",
            ("model", *(database.name for database in tried)),
            rows(tried),
        )
