from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from clearset.tokens import _item_counts
from clearset.tokens._item_counts import ItemCounts

BATCHES = st.lists(st.dictionaries(st.text(max_size=4), st.integers(1, 5), max_size=8), max_size=8)


@given(batches=BATCHES, least=st.integers(1, 8), most_bytes=st.sampled_from([1, 50, 300, 10**6]))
@settings(max_examples=60, deadline=None)
def test_same_as_a_counter(batches: list[dict[str, int]], least: int, most_bytes: int) -> None:
    expected: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_item_counts, "_PARTITIONS", 4)
        counts = ItemCounts(most_bytes)
        for batch in batches:
            counts.add(pa.array(list(batch), pa.large_string()), np.array(list(batch.values()), np.int64))
            expected.update(batch)
        found = [row for part in counts.at_least(least) for row in part.to_pylist()]
    assert len(found) == len({row["item"] for row in found})
    assert {row["item"]: row["count"] for row in found} == {k: n for k, n in expected.items() if n >= least}


def test_hashes_spread_items_and_depend_on_them_alone() -> None:
    items = pa.array([f"http://example.org/{number:08}/index.html" for number in range(20_000)], pa.large_string())
    hashes = _item_counts._hash(items)
    assert np.bincount((hashes & np.uint64(63)).astype(np.int64), minlength=64).max() < 2 * 20_000 / 64
    order = np.random.default_rng(0).permutation(20_000)
    assert (_item_counts._hash(items.take(pa.array(order))) == hashes[order]).all()
    assert (_item_counts._hash(items.slice(5, 10)) == hashes[5:15]).all()
    assert len(np.unique(_item_counts._hash(pa.array(["", "a", "ab", "ba"], pa.large_string())))) == 4
