"""Tables of examples that are read in batches are those of examples in memory, to the last bit."""

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings

import clearset as cs
from clearset.sets import as_stream
from clearset.tokens import _item_counts, _mining_passes, _streamed_table
from clearset.tokens._filters import check_filters
from clearset.tokens._own_tokenizers import as_tokenizer
from clearset.tokens._streamed_columns import StreamedColumns

from .test_table import ITEMS, LABELS, same

ROWS = st.lists(st.lists(st.sampled_from([*ITEMS, "a", "b", "c"]), max_size=7), min_size=1, max_size=30)


class Neighbours:
    """A tokenizer of a user's own."""

    def tokens(self, example: list[str]) -> list[Any]:
        return [*example, *itertools.pairwise(example)]


SETS = {
    "items": cs.Items(),
    "pairs": cs.Subsets(2),
    "triples": cs.Subsets(3),
    "all subsets": cs.Subsets(),
    "bigrams": cs.NGrams(2),
    "4-grams": cs.NGrams(4),
}


def streamed(X: Any, tokens: Any, filters: Any = (), *, memory: int = 2000, **options: Any) -> cs.TokenTable:
    """Build a table within so little memory that nothing fits."""
    tokenizer, chosen = as_tokenizer(tokens), check_filters(filters)
    stream = as_stream(X)
    assert stream is not None
    columns = StreamedColumns.of(
        stream, options.get("column"), tokenizer, options.get("y", "label"), options.get("sample_weight")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_mining_passes, "_check_size", lambda *_: None)
        patch.setattr(_streamed_table, "_check_size", lambda *_: None)
        patch.setattr(_item_counts, "_PARTITIONS", 4)
        found = _streamed_table.count_streamed(columns, tokenizer, chosen, options.get("task", "auto"), 1, memory)
    return cs.TokenTable(tokenizer=tokenizer, filters=chosen, **vars(found))


def data_set(table: pa.Table, cuts: list[int]) -> ds.Dataset:
    """Cut a table into the parts of a data set."""
    places = sorted({0, len(table), *(cut % (len(table) + 1) for cut in cuts)})
    parts = [table.slice(a, b - a) for a, b in itertools.pairwise(places)]
    return ds.dataset([ds.dataset(part) for part in parts]) if parts else ds.dataset(table)


@pytest.mark.parametrize("tokens", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("weighted", [False, True])
@given(
    rows=ROWS,
    seed=st.integers(0, 2**31),
    least=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 100), max_size=4),
    memory=st.sampled_from([2000, 30_000, 10**8]),
)
@settings(max_examples=4, deadline=None)
def test_same_as_in_memory(
    tokens: Any, kind: str, weighted: bool, rows: list[list[str]], seed: int, least: int, cuts: list[int], memory: int
) -> None:
    rng = np.random.default_rng(seed)
    y = LABELS[kind](rng, len(rows))
    w = np.where(rng.random(len(rows)) < 0.8, rng.uniform(0.5, 2, len(rows)) * 10.0 ** rng.integers(-8, 8), 0.0)
    w[0] = 1.0
    task = "number" if kind == "number" else "classes"
    options = {"task": task, "sample_weight": w if weighted else None}
    expected = cs.TokenTable.build(pa.array(rows, pa.list_(pa.string())), y, tokens, [cs.MinCount(least)], **options)
    order = rng.permutation(len(rows))
    table = pa.table({"items": pa.array(rows, pa.list_(pa.string())), "label": y, "weight": w}).take(order)
    options["sample_weight"] = "weight" if weighted else None
    found = streamed(data_set(table, cuts), tokens, [cs.MinCount(least)], memory=memory, **options)
    same(found, expected)
