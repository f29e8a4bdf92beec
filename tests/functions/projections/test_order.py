import numpy as np
import pytest

from clearset.functions.projections import ConstraintSet, order_rows


def test_no_pairs() -> None:
    assert len(order_rows([])) == 0
    free = ConstraintSet({"order": order_rows([])}, -np.inf, 1.5, 2)
    np.testing.assert_array_equal(free.project_exactly([[2.0, 1.0]]), [[1.5, 1.0]])


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="'order' contradict"):
        ConstraintSet({"order": order_rows([(0, 1), (1, 2), (2, 0)])}, 0.0, 1.0, 3)


def test_a_value_below_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="each column once"):
        order_rows([(1, 1)])
