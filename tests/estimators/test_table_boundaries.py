"""Where the tables of a stream are cut changes no bit of what is learned from them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearset as cs
from clearset.estimators import _semantic_files
from clearset.sets import _stream

N = 240
SEMANTIC: dict[str, Any] = {"cross_fit": 3, "refine": 1, "epochs": 2, "random_state": 0, "max_memory": "64MB"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one file of sets of numbers and of items: empty ones first, a large one in the middle."""
    rng = np.random.default_rng(0)
    sizes = np.concatenate([np.zeros(40, int), rng.integers(0, 9, N - 40)])
    sizes[N // 2] = 90
    numbers = [rng.normal(size=size) for size in sizes]
    table = pa.table(
        {
            "stars": [row.tolist() for row in numbers],
            "kind": [[f"k{int(3 * abs(value))}" for value in row] for row in numbers],
            "items": [[f"item {code}" for code in rng.integers(0, 12, size)] for size in sizes],
            "number": [float(row.sum()) + rng.normal() for row in numbers],
            "weight": rng.uniform(0.1, 3.0, N),
        }
    )
    path = tmp_path_factory.mktemp("boundaries") / "rows.parquet"
    pq.write_table(table, path)
    return path


def sets(path: Path) -> Any:
    model = cs.SetRegressor([cs.Feature("stars"), cs.Feature("kind", kind="categorical")], epochs=2, random_state=0)
    return model.fit(path, "number", sample_weight="weight")


def pairs(path: Path) -> Any:
    return cs.TokenTable.build(path, "number", cs.Subsets(2), [cs.MinCount(3)], column="items", sample_weight="weight")


def items(path: Path) -> Any:
    model = cs.SemanticRegressor(cs.Items(), **SEMANTIC)
    return model.fit(path, "number", sample_weight="weight", column="items")


def digest(found: Any) -> str:
    """Return a hash of all numbers that were learned."""
    tables = [found] if isinstance(found, cs.TokenTable) else []
    parts: list[Any] = []
    if not tables:
        model = found.as_model()
        parts += [*model.function.tables.values(), *found.binning_.keypoints, *model.function.support.counts]
        tables += [model.table] if model.semantic else []
    for table in tables:
        parts += [table.index.items, table.index.parents, table.counts, table.statistics.sums, table.means]
        parts += [] if table.corrections is None else [table.corrections.amounts]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


KNOWN: dict[Any, str] = {}


@pytest.mark.parametrize("learned", [sets, pairs, items])
@settings(max_examples=6, deadline=None)
@given(
    places=st.one_of(st.just(list(range(1, N))), st.lists(st.integers(1, N - 1), unique=True, max_size=30).map(sorted))
)
def test_any_cuts_give_the_same_bits(learned: Any, places: list[int], path: Path) -> None:
    tables: list[int] = []

    def cut(batches: Iterator[pa.RecordBatch], _most: int) -> Iterator[pa.Table]:
        whole = pa.Table.from_batches(list(batches))
        for start, stop in zip([0, *places], [*places, N], strict=True):
            if len(part := whole.slice(start, stop - start)):
                tables.append(len(part))
                yield part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_semantic_files, "_COPIES", 10**9)
        if learned not in KNOWN:
            KNOWN[learned] = digest(learned(path))
        patch.setattr(_stream, "_gathered", cut)
        assert digest(learned(path)) == KNOWN[learned]
    assert len(tables) >= 2 * (len(places) + 1)  # in two passes or more
