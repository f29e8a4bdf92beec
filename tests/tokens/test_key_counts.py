import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from clearset.tokens import TokenLimitError
from clearset.tokens._key_counts import KeyCounts, check_keys


@given(
    sizes=st.lists(st.integers(0, 30), max_size=6),
    seed=st.integers(0, 2**31),
    least=st.integers(1, 4),
    n_parts=st.sampled_from([0, 2]),
    most_bytes=st.sampled_from([10, 200, 10**6]),
    may_repeat=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_same_as_plain_python(
    sizes: list[int], seed: int, least: int, n_parts: int, most_bytes: int, may_repeat: bool
) -> None:
    rng = np.random.default_rng(seed)
    counts, known = KeyCounts(3, n_parts, most_bytes), {}
    for size in sizes:
        n_rows = 5
        channels = rng.integers(0, 3, n_rows).astype(np.int32)
        parts = rng.integers(-9, 9, (n_rows, n_parts)).astype(np.float64) if n_parts else None
        rows, keys = np.sort(rng.integers(0, n_rows, size)), rng.integers(0, 12, size)
        pairs = list(zip(keys.tolist(), rows.tolist(), strict=True))
        if not may_repeat:
            pairs = sorted(set(pairs), key=lambda pair: pair[1])
            keys, rows = (np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1))
        counts.add(keys, rows, channels, parts, may_repeat=may_repeat)
        for key, row in set(pairs):
            sums = known.setdefault(key, np.zeros((3, n_parts + 1)))
            sums[channels[row]] += [1, *(parts[row] if parts is not None else [])]
    expected = {key: sums for key, sums in known.items() if sums[:, 0].sum() >= least}
    found = counts.at_least(least)
    assert found.keys.tolist() == sorted(expected)
    for key, count, sums in zip(found.keys.tolist(), found.counts.tolist(), found.sums, strict=True):
        assert count == expected[key][:, 0].sum()
        assert (sums == (expected[key][:, 1:] if n_parts else expected[key][:, 0])).all()


def test_keys_beyond_64_bits_are_refused() -> None:
    check_keys(2**60, 7)
    with pytest.raises(TokenLimitError, match="more than can be numbered"):
        check_keys(2**60, 9)
