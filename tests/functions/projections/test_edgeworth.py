import numpy as np
import pytest

from clearset.functions.projections import ConstraintSet, edgeworth_rows


def test_rows_by_hand() -> None:
    values = np.array([[0.0, 1.0, 5.0, 2.0, 4.0, 6.0]])
    # Slopes along feature 0 are 2, 3, 1 as feature 1 grows.
    np.testing.assert_array_equal(edgeworth_rows((2, 3), main=0, by=1).residuals(values), [[1.0, -2.0]])
    np.testing.assert_array_equal(edgeworth_rows((2, 3), 0, 1, direction=-1).residuals(values), [[-1.0, 2.0]])


def test_no_violation_is_left_to_rounding(engine: str) -> None:
    values = np.random.default_rng(0).normal(size=(6, 16)) / 7
    rows = edgeworth_rows((2, 2, 2, 2), 1, 3)
    result = ConstraintSet({"trust": rows}, -0.1, 0.1, 16).project_exactly(values)
    assert rows.violation(result) == 0.0
    assert np.abs(result).max() <= 0.1


@pytest.mark.parametrize(
    ("main", "by", "direction", "message"),
    [(0, 0, 1, "two different features"), (0, 2, 1, "from 0 to 1"), (0, 1, 0, r"Give \+1 or -1")],
)
def test_bad_trusts_are_refused(main: int, by: int, direction: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        edgeworth_rows((2, 2), main, by, direction)
