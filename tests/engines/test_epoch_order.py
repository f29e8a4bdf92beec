"""Every epoch goes through all sets once, in an order of its own."""

import numpy as np
import pytest

from clearset.engines import _epoch_order
from clearset.engines._epoch_order import EpochOrder


def test_few_sets_stay_where_they_are_and_are_drawn_one_by_one():
    order = EpochOrder(500, np.random.default_rng(0))
    assert order.arrangement is None
    np.testing.assert_array_equal(order.draw(), np.random.default_rng(0).permutation(500))


@pytest.mark.parametrize("n", [40, 41, 63, 64, 65])
def test_many_sets_are_drawn_in_runs(n, monkeypatch):
    monkeypatch.setattr(_epoch_order, "MANY", 40)
    monkeypatch.setattr(_epoch_order, "TOGETHER", 8)
    order = EpochOrder(n, np.random.default_rng(0))
    assert sorted(order.arrangement) == list(range(n))
    assert (np.diff(order.arrangement) != 1).any()
    first, second = order.draw(), order.draw()
    assert sorted(first) == sorted(second) == list(range(n))
    assert (first != second).any()
    breaks = np.flatnonzero(np.diff(first) != 1)
    assert len(breaks) <= -(-n // 8) - 1
