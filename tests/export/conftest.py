"""Databases that queries are run in."""

import pytest
from tests.databases import DuckDB, SQLite, postgresql, server_programs


@pytest.fixture(scope="package", params=["sqlite", "duckdb", "postgresql"])
def database(request):
    if request.param == "sqlite":
        yield SQLite()
    elif request.param == "duckdb":
        yield DuckDB()
    elif server_programs() is None:
        pytest.skip("There is no PostgreSQL server on this machine.")
    else:
        with postgresql() as server:
            yield server
