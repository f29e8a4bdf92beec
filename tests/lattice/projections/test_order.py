import numpy as np
import pytest

from clearset.lattice.projections import order_rows, projection_order


def test_no_pairs() -> None:
    assert len(order_rows([])) == 0
    np.testing.assert_array_equal(projection_order([[2.0, 1.0]], [], upper=1.5), [[1.5, 1.0]])


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="'order' contradict"):
        projection_order([[1.0, 2.0, 3.0]], [(0, 1), (1, 2), (2, 0)])


def test_a_value_below_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="each column once"):
        order_rows([(1, 1)])
