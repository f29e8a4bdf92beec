"""Speed of the token table: mining against polars, DuckDB and pyfim, and finding tokens with and without cover.

Recipes: subsets of up to 3 ingredients in at least 5 of 70% of the recipes, with the counts of 20 cuisines. polars and
DuckDB join the ingredients with themselves and prune size by size, as mining does; pyfim counts no classes.
Every number of threads runs in a process of its own; within it the contestants take turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import fim
import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks._results import write_table
from clearset.tokens._codes import Coded, Joining
from clearset.tokens._mining import mine
from clearset.tokens._token_index import TokenIndex

MIN_COUNT, MAX_SIZE, REPEATS = 5, 3, 5
THREADS = (1, 2)


class Data(NamedTuple):
    """Examples, codes from rare to frequent, and their classes."""

    coded: Coded
    classes: npt.NDArray[np.int32]
    n_classes: int


def data_folder() -> Path:
    """Return the folder with the data sets."""
    return Path(os.environ.get("CLEARSET_DATA", Path(__file__).parents[2] / "shared" / "data"))


def recipes() -> Data:
    """Read 70% of the recipes."""
    frame = pl.read_parquet(data_folder() / "recipes" / "recipes.parquet").sample(fraction=0.7, seed=0)
    classes = frame["cuisine"].rank("dense").to_numpy().astype(np.int32) - 1
    row = pl.int_range(pl.len()).alias("row")
    long = frame.select(row, item="ingredients").explode("item").drop_nulls().unique()
    codes = long.group_by("item").len().sort("len", "item").with_row_index("code")
    long = long.join(codes, on="item").sort("row", "code")
    sizes = np.bincount(long["row"].to_numpy(), minlength=len(classes))
    coded = Coded(long["code"].to_numpy().astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]))
    return Data(coded, classes, int(classes.max()) + 1)


def faces() -> Data:
    """Read the attributes that are present in 70% of the faces of CelebA."""
    frame = pl.read_parquet(data_folder() / "celeba" / "celeba_attributes.parquet").sample(fraction=0.7, seed=0)
    classes = (frame["Attractive"].to_numpy() == 1).astype(np.int32)
    present = frame.select(pl.selectors.integer().exclude("Attractive")).to_numpy() == 1
    present = present[:, np.argsort(present.sum(axis=0))]
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return Data(Coded(np.nonzero(present)[1].astype(np.int32), offsets), classes, 2)


def by_polars(long: pl.DataFrame) -> int:
    """Count subsets and their classes; return the number of subsets."""
    items = long.lazy().filter(pl.len().over("code") >= MIN_COUNT)
    tokens = items.rename({"code": "c1"}).collect()
    total = 0
    for size in range(1, MAX_SIZE + 1):
        columns = [f"c{k + 1}" for k in range(size)]
        if size > 1:
            tokens = (
                tokens.lazy()
                .join(items.select("row", pl.col("code").alias(columns[-1])), on="row")
                .filter(pl.col(columns[-2]) < pl.col(columns[-1]))
                .collect()
            )
        classes = tokens.lazy().group_by(*columns, "class").len()
        counts = classes.group_by(columns).agg(pl.col("len").sum()).filter(pl.col("len") >= MIN_COUNT)
        kept, table = pl.collect_all([counts, classes.join(counts, on=columns, how="semi")])
        assert len(table) >= len(kept)
        total += len(kept)
        if size < MAX_SIZE:
            tokens = tokens.join(kept, on=columns, how="semi")
    return total


def by_duckdb(connection: duckdb.DuckDBPyConnection) -> int:
    """Count subsets and their classes; return the number of subsets."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE items AS SELECT * FROM long "
        f"WHERE code IN (SELECT code FROM long GROUP BY code HAVING count(*) >= {MIN_COUNT})"
    )
    connection.execute("CREATE OR REPLACE TEMP TABLE tokens AS SELECT row, class, code AS c1 FROM items")
    total = 0
    for size in range(1, MAX_SIZE + 1):
        columns = ", ".join(f"c{k + 1}" for k in range(size))
        if size > 1:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE tokens AS SELECT t.*, i.code AS c{size} FROM tokens t "
                f"JOIN items i ON t.row = i.row AND t.c{size - 1} < i.code"
            )
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE classes AS SELECT {columns}, class, count(*) AS n FROM tokens "
            f"GROUP BY {columns}, class"
        )
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE counts AS SELECT {columns}, sum(n) AS n FROM classes "
            f"GROUP BY {columns} HAVING sum(n) >= {MIN_COUNT}"
        )
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE kept AS SELECT * FROM classes SEMI JOIN counts USING ({columns})"
        )
        if size < MAX_SIZE:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE tokens AS SELECT * FROM tokens SEMI JOIN counts USING ({columns})"
            )
        (number,) = connection.execute("SELECT count(*) FROM counts").fetchall()[0]
        total += int(number)
    return total


def take_turns(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each contestant."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def measure(threads: int) -> dict[str, float]:
    """Time everything with a number of threads."""
    data = recipes()
    joining = Joining("subsets", MAX_SIZE)
    coded = data.coded
    mined = mine(coded, joining, data.classes, data.n_classes, min_count=MIN_COUNT)
    long = pl.DataFrame({"row": coded.rows.astype(np.int32), "code": coded.codes, "class": data.classes[coded.rows]})
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("CREATE TABLE long AS SELECT * FROM long")
    rows = [row.tolist() for row in np.split(coded.codes, coded.offsets[1:-1])]
    limits = {"target": "s", "supp": -MIN_COUNT, "zmax": MAX_SIZE, "report": "a"}
    masks = np.ones(len(mined.items), np.uint32)
    index = TokenIndex(joining, mined.items, mined.parents, mined.levels, masks)
    folds = (np.arange(coded.n_rows) % 5 * data.n_classes).astype(np.int32) + data.classes
    works: dict[str, Callable[[], object]] = {
        "clearset, 20 classes": lambda: mine(
            coded, joining, data.classes, data.n_classes, min_count=MIN_COUNT, threads=threads
        ),
        "clearset, 20 classes in 5 folds": lambda: mine(
            coded, joining, folds, 5 * data.n_classes, min_count=MIN_COUNT, threads=threads
        ),
        "polars, 20 classes": lambda: by_polars(long),
        "DuckDB, 20 classes": lambda: by_duckdb(connection),
        "pyfim eclat, no classes": lambda: len(fim.eclat(rows, **limits)),
        "pyfim fpgrowth, no classes": lambda: len(fim.fpgrowth(rows, **limits)),
        "find, cover": lambda: index.find(coded, threads=threads),
        "find, all tokens": lambda: index.find(coded, cover=False, threads=threads),
    }
    for name, work in works.items():  # this also warms up
        assert not name.startswith(("polars", "DuckDB", "pyfim")) or work() == len(mined.items), name
    times = take_turns(works, REPEATS)
    for name in ("find, cover", "find, all tokens"):
        times[name] = coded.n_rows / times[name]
    portraits = faces()
    everything = Joining("subsets", None)
    times["CelebA"] = take_turns(
        {"mine": lambda: mine(portraits.coded, everything, portraits.classes, 2, min_count=16, threads=threads)}, 3
    )["mine"]
    return {**times, "tokens": len(mined.items), "recipes": coded.n_rows}


def main() -> None:
    """Measure in processes of their own, and write the table."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    results = []
    for threads in THREADS:
        command = [sys.executable, "-m", "benchmarks.table", str(threads)]
        environment = os.environ | {"POLARS_MAX_THREADS": str(threads)}
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        results.append(json.loads(output.splitlines()[-1]))
    names = [name for name in results[0] if name not in ("tokens", "recipes")]
    rows = []
    for name in names:
        numbers = [result[name] for result in results]
        if name.startswith("find"):
            rows.append((f"{name}, recipes/s", *(f"{number:,.0f}" for number in numbers)))
        elif name.startswith("pyfim"):
            rows.append((f"{name}, s", f"{numbers[0]:.3f}", "-"))
        else:
            unit = "CelebA, all sizes, in at least 16 faces" if name == "CelebA" else name
            rows.append((f"{unit}, s", *(f"{number:.3f}" for number in numbers)))
    write_table(
        "table",
        "The token table",
        f"{results[0]['recipes']:,} recipes, subsets of up to {MAX_SIZE} ingredients in at least {MIN_COUNT} of them:\n"
        f"{results[0]['tokens']:,} tokens. Medians of {REPEATS} repeats in turn; pyfim has one thread only.",
        ("work", *(f"{threads} thread{'s' * (threads > 1)}" for threads in THREADS)),
        rows,
    )


if __name__ == "__main__":
    main()
