"""From a frame to positions: a million tokens in 100,000 sets, six list columns and a plain one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks._results import write_table
from clearset.sets import Binning, Feature, read_sets

N_SETS, TOKENS, REPEATS = 100_000, 10, 7


def seconds(work: Callable[[], object]) -> str:
    """Return the median of the repeats."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return f"{statistics.median(times):.3f}"


def main() -> None:
    """Time each kind of frame."""
    rng = np.random.default_rng(0)
    offsets = pa.array(np.arange(0, N_SETS * TOKENS + 1, TOKENS, dtype=np.int32))
    columns: dict[str, pa.Array] = {
        f"x{d}": pa.ListArray.from_arrays(offsets, pa.array(rng.normal(size=N_SETS * TOKENS))) for d in range(6)
    }
    columns["price"] = pa.array(rng.normal(size=N_SETS))
    table = pa.table(columns)
    features = [Feature(name) for name in columns]
    arrow_types = table.to_pandas(types_mapper=pd.ArrowDtype)
    lists = pd.DataFrame({name: table[name].to_pylist() for name in columns})
    frames = {
        "Arrow": table,
        "polars": pl.from_arrow(table),
        "pandas, Arrow lists": arrow_types,
        "pandas, Python lists": lists,
    }
    rows = [(f"read_sets, {name}", seconds(partial(read_sets, frame, features))) for name, frame in frames.items()]
    data = read_sets(table, features)
    binning = Binning.fit(data, features)
    rows.append(("Binning.fit (keypoints)", seconds(lambda: Binning.fit(data, features))))
    rows.append(("Binning.positions", seconds(lambda: binning.positions(data))))
    write_table(
        "reading",
        "Reading a million tokens",
        "Seconds, median of seven repeats; these machines are shared, so only the order of magnitude means much.",
        ("step", "seconds"),
        rows,
    )


if __name__ == "__main__":
    main()
