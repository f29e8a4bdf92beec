import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearset.sets import Positions


def example(sizes, dtype=np.float32):
    n_tokens = sum(sizes)
    slots = np.arange(3 * n_tokens, dtype=np.int32).reshape(3, n_tokens)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Positions(slots, (slots / 1000).astype(dtype), offsets)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.data())
def test_take_equals_joining_the_sets_one_by_one(sizes, draw):
    positions = example(sizes)
    chosen = draw.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=9))
    taken = positions.take(np.array(chosen))
    parts = [slice(positions.offsets[one], positions.offsets[one + 1]) for one in chosen]
    np.testing.assert_array_equal(taken.slots, np.hstack([positions.slots[:, part] for part in parts]))
    np.testing.assert_array_equal(taken.fractions, np.hstack([positions.fractions[:, part] for part in parts]))
    assert np.diff(taken.offsets).tolist() == [sizes[one] for one in chosen]
    assert (len(taken), taken.n_tokens) == (len(chosen), sum(sizes[one] for one in chosen))
    assert (taken.slots.dtype, taken.fractions.dtype, taken.offsets.dtype) == (np.int32, np.float32, np.int64)
