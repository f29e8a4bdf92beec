"""Numbers of sets in another order are those that taking the sets one by one gives, in memory and in a file."""

import numpy as np
import pytest

from clearset.sets import ArrangedSets, ScratchArray, _arranged_sets, offsets_from_sizes


@pytest.mark.parametrize("dtype", [np.uint32, np.float64])
@pytest.mark.parametrize("max_memory", [0, float("inf")])
@pytest.mark.parametrize("n_chosen", [0, 1, 150, 200])
def test_numbers_follow_their_sets(
    dtype: type, max_memory: float, n_chosen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_arranged_sets, "_PART_BYTES", 300)
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 6, 200)
    offsets, chosen = offsets_from_sizes(sizes), rng.permutation(200)[:n_chosen]
    numbers = rng.integers(0, 1000, offsets[-1]).astype(dtype)
    arranged = ArrangedSets(sizes, chosen, 1, dtype, max_memory)
    for first in range(0, 200, 33):
        part = offsets[first : first + 34]
        arranged.add_numbers(first, part - part[0], numbers[part[0] : part[-1]])
    found = arranged.finished()
    expected = [numbers[offsets[each] : offsets[each + 1]] for each in chosen]
    assert isinstance(found, ScratchArray) == (max_memory == 0 and len(found) > 0)
    np.testing.assert_array_equal(np.asarray(found[:]), np.concatenate([np.empty(0, dtype), *expected]))
    np.testing.assert_array_equal(np.diff(arranged.offsets), sizes[chosen])
