"""Spark against one process: the same tables, predictions and explanations, and what its driver needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_recipes

ARRAYS = ("vocabulary", "items", "parents", "levels", "held", "sums", "sizes", "prior", "classes")


def recipes() -> pa.Table:
    """Load recipes, with their cuisines."""
    data = load_recipes()
    return pa.table({"key": pa.array(range(len(data.y))), "items": pa.array(data.X), "label": pa.array(data.y)})


def generated(n: int = 1_000_000, n_items: int = 2_000, size: int = 8) -> pa.Table:
    """Make sets of up to 8 of 2,000 items, the first ones frequent; the label is a number, weights have fractions."""
    rng = np.random.default_rng(0)
    frequency = np.cumsum(1 / np.arange(1, n_items + 1) ** 0.7)
    items = np.searchsorted(frequency / frequency[-1], rng.random((n, size)))
    worth = rng.normal(size=n_items)
    names = pa.array([f"item {item}" for item in range(n_items)])
    lists = pa.ListArray.from_arrays(
        np.arange(0, n * size + 1, size, dtype=np.int32), names.take(pa.array(items.ravel()))
    )
    label = worth[items].mean(axis=1) + rng.normal(size=n)
    return pa.table({"key": np.arange(n), "items": lists, "label": label, "weight": rng.random(n)})


def many_pairs(n: int = 1_000_000, n_items: int = 6_000, size: int = 8) -> pa.Table:
    """Make sets of 8 of 6,000 items, all as frequent: more than 10^7 pairs occur, 10^5 of them often enough."""
    rng = np.random.default_rng(1)
    names = pa.array([f"item {item}" for item in range(n_items)])
    items = names.take(pa.array(rng.integers(0, n_items, n * size)))
    lists = pa.ListArray.from_arrays(np.arange(0, n * size + 1, size, dtype=np.int32), items)
    return pa.table({"items": lists, "label": rng.random(n) < 0.5})


class Case:
    """Data, the table that is counted of them, and a model that is applied to them."""

    def __init__(self, name: str) -> None:
        self.data = {"recipes": recipes, "generated": generated, "many_pairs": many_pairs}[name]()
        self.weight = "weight" if "weight" in self.data.column_names else None
        self.tokens = cs.Subsets(max_size=3 if name == "recipes" else 2)
        self.filters = [cs.MinCount({"recipes": 20, "generated": 100, "many_pairs": 6}[name])]
        self.explained = 20_000

    def model(self) -> Any:
        """Fit a few epochs on some of the rows."""
        some = self.data.slice(0, 20_000)
        options: dict[str, Any] = {"tokens": self.tokens, "filters": self.filters, "epochs": 3, "random_state": 0}
        kind = cs.SemanticRegressor if self.weight else cs.SemanticClassifier
        return kind(**options).fit(some.select(["items"]), some["label"])

    def table(self) -> cs.TokenTable:
        """Count in this process."""
        weights = None if self.weight is None else self.data[self.weight]
        options: dict[str, Any] = {"tokens": self.tokens, "filters": self.filters, "sample_weight": weights}
        return cs.TokenTable.build(self.data.select(["items"]), self.data["label"], **options)


def session_of(master: str, **options: str) -> Any:
    """Start Spark."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "8")
    builder = builder.config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    for name, value in options.items():
        builder = builder.config("spark." + name.replace("_", "."), value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def arrays_of(table: cs.TokenTable) -> dict[str, Any]:
    """Return all that a table holds."""
    index, statistics = table.index, table.statistics
    parts = [
        table.vocabulary.to_numpy(zero_copy_only=False), index.items, index.parents, index.levels,
        statistics.held, statistics.sums, statistics.sizes, np.asarray(table.prior), np.asarray(table.classes),
    ]  # fmt: skip
    return dict(zip(ARRAYS, parts, strict=True))


def compare(name: str, workers: int) -> dict[str, Any]:
    """Compare everything on so many workers with this process."""
    case = Case(name)
    session = session_of(f"local[{workers}]", driver_memory="4g")
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(case.data, Path(folder) / "rows.parquet", row_group_size=len(case.data) // 8 + 1)
        df = session.read.parquet(folder)
        df.count()  # Spark has started
        return {"workers": workers} | _compared(case, df)


def _compared(case: Case, df: Any) -> dict[str, Any]:
    columns = ["items", "label", *([] if case.weight is None else [case.weight])]
    here, expected = timed(case.table)
    there, found = timed(
        lambda: cs.TokenTable.build(df.select(*columns), "label", case.tokens, case.filters, sample_weight=case.weight)
    )
    mine, theirs = arrays_of(found), arrays_of(expected)
    equal = [name for name in ARRAYS if np.array_equal(mine[name], theirs[name])]
    rows_equal = found.to_arrow().equals(expected.to_arrow())
    model = case.model()
    X = case.data.select(["items"])
    predict_here, predictions = timed(lambda: model.predict(X))
    predict_there, predicted = timed(lambda: cs.spark.predict(model, df).select("key", "prediction").toArrow())
    estimates = model.as_model().transform(X)
    estimated = cs.spark.transform(model.as_model(), df).select("key", "estimate").toArrow().sort_by("key")
    numbers = np.stack(estimated["estimate"].to_numpy()).reshape(estimates.shape)
    some = case.data.slice(0, case.explained)
    explained = model.explain(some.select(["items"])).to_frame()
    rows = cs.spark.explain(model, df.where(f"key < {case.explained}"), "key").toArrow()
    rows = rows.take(pa.array(np.argsort(rows["key"].to_numpy(), kind="stable")))
    same = [
        pc.all(pc.equal(rows[name], explained[name].cast(rows[name].type))).as_py()
        for name in explained.column_names
        if name not in ("set", "token", "feature", "value")
    ]
    same.append(rows["key"].to_numpy().tolist() == explained["set"].to_numpy().tolist())
    same.append(rows["token"].to_pylist() == explained["token"].to_pylist())
    ordered = predicted.sort_by("key")["prediction"].to_numpy()
    return {
        "tokens": len(expected),
        "table": f"{len(equal)} of {len(ARRAYS)} arrays, rows {'equal' if rows_equal else 'differ'}",
        "seconds": f"{there:.1f} ({here:.1f} here)",
        "predictions": f"{np.mean(ordered == predictions):.0%} equal; {predict_there:.1f} s ({predict_here:.1f} here)",
        "transform": f"{np.abs(numbers - estimates).max():.0e}",
        "explanation": f"{len(rows):,} rows of {case.explained:,} sets, {'equal' if all(same) else 'differ'}",
    }


def peak_mb(pid: int | str) -> float:
    """Return the most memory that a process has had, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def driver() -> dict[str, Any]:
    """Measure what the driver needs while a table is built, with executors in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        # Made in another process, for what it takes is not the driver's.
        write = f"from benchmarks.spark import *; pq.write_table(many_pairs(), {folder!r} + '/rows')"
        subprocess.run([sys.executable, "-c", write], check=True)
        options = {"driver_memory": "1g", "executor_memory": "3g", "driver_maxResultSize": "256m"}
        session = session_of("local-cluster[2,1,4096]", **options)
        df = session.read.parquet(folder)
        df.count()
        java = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        before = peak_mb("self"), peak_mb(java)
        seconds, table = timed(lambda: cs.TokenTable.build(df, "label", cs.Subsets(2), [cs.MinCount(6)]))
        return {
            "tokens": len(table),
            "seconds": round(seconds, 1),
            "python": f"{before[0]:.0f} before, {peak_mb('self'):.0f} at most",
            "java": f"{before[1]:.0f} before, {peak_mb(java):.0f} at most",
        }


def distinct_pairs() -> int:
    """Count the pairs of `many_pairs` that occur at all."""
    data = many_pairs()
    items = data["items"].combine_chunks().values.dictionary_encode().indices.to_numpy().reshape(-1, 8).astype(np.int64)
    found = [
        np.minimum(items[:, i], items[:, j]) * 6000 + np.maximum(items[:, i], items[:, j])
        for i in range(8)
        for j in range(i)
    ]
    pairs = np.unique(np.concatenate(found))
    return int(np.count_nonzero(pairs // 6000 != pairs % 6000))


def in_process(call: str) -> Any:
    """Run a function of this module in a process of its own, which starts Spark anew."""
    command = f"import json; from benchmarks.spark import *; print('RESULT' + json.dumps({call}))"
    done = subprocess.run([sys.executable, "-c", command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.split("RESULT")[-1])


def main() -> None:
    """Measure and write."""
    rows = []
    for name, what in (("recipes", "recipes, 20 classes"), ("generated", "10^6 sets, a number, weights")):
        for workers in (2, 4):
            found = in_process(f"compare({name!r}, {workers})")
            print(name, found, flush=True)
            rows.append([what, *found.values()])
    pairs, found = in_process("distinct_pairs()"), in_process("driver()")
    text = f"""
PySpark 4.3.0, Java 17: local mode with 2 and 4 workers, on 2 cores, against this process. Tables: `Subsets(3)`,
`MinCount(20)` of recipes, `Subsets(2)`, `MinCount(100)` of generated sets; all arrays that a table holds are compared,
and all columns of `to_arrow()`, to the last bit. Predictions, estimates (largest difference) and explanations are
those of a semantic model. Others used the machine at the same time, so that seconds say little.

**The driver** while a table of 10^6 sets of 8 items is counted by 2 executors in processes of their own, `MinCount(6)`:
{pairs:,} distinct pairs are candidates, {found["tokens"]:,} tokens are kept; {found["seconds"]} s. Bounds: a heap of
1 GB (`spark.driver.memory`), 256 MB of results (`spark.driver.maxResultSize`). Peak resident memory in MB: Python
{found["python"]}; Java {found["java"]}. Candidates under the least count stay on the executors.
"""
    header = ["data", "workers", "tokens", "table", "s to build", "predictions", "transform", "explanation"]
    write_table("spark", "Spark against one process", text, header, rows)


if __name__ == "__main__":
    main()
