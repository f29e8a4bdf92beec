import numpy as np
import pytest

from clearset.functions.projections import HalfSpaces, curvature_rows, monotone_rows, order_rows


def test_residuals_and_violation() -> None:
    rows = HalfSpaces([[0, 1], [2, 0]], [[1.0, -2.0], [0.5, 1.0]])
    values = [[1.0, 2.0, 4.0], [4.0, 1.0, -9.0]]
    np.testing.assert_array_equal(rows.residuals(values), [[-3.0, 3.0], [2.0, -0.5]])
    assert rows.violation(values) == 3.0
    assert rows.violation([[4.0, 1.0, 0.0]]) == 0.0


def test_sum_of_different_widths() -> None:
    both = order_rows([(3, 0)]) + curvature_rows([0.0, 1.0, 2.0], "convex")
    np.testing.assert_array_equal(both.residuals([[1.0, 2.0, 4.0, 9.0]]), [[-8.0, 0.5]])
    assert len(both) == 2
    assert repr(both) == "HalfSpaces(2 rows of 3)"


def test_no_rows(engine: str) -> None:
    rows = monotone_rows((2, 2), (0, 0))
    assert rows.violation(np.ones((2, 4))) == 0.0
    np.testing.assert_array_equal(rows.project([[3.0, 1.0, -4.0, 0.0]], -1.0, 2.0), [[2.0, 1.0, -1.0, 0.0]])


def test_wide_rows_are_projected_too(engine: str) -> None:
    row = HalfSpaces([[0, 1, 2, 3, 4]], [[1.0, 1.0, 1.0, 1.0, 1.0]])
    np.testing.assert_allclose(row.project([[-1.0, -1.0, -1.0, -1.0, -6.0]]), [[1.0, 1.0, 1.0, 1.0, -4.0]])


@pytest.mark.parametrize(
    ("indices", "coefficients", "message"),
    [
        ([[0, 1]], [[1.0]], "Give both as"),
        ([[0, -1]], [[1.0, 1.0]], "indices >= 0"),
        ([[0, 1]], [[1.0, np.nan]], "finite coefficients"),
        ([[2, 2]], [[1.0, -1.0]], "each column once"),
        ([[0, 1]], [[0.0, 0.0]], "other than 0"),
    ],
)
def test_bad_rows_are_refused(indices: list[list[int]], coefficients: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HalfSpaces(indices, coefficients)  # type: ignore[arg-type]


def test_too_few_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="rows touch column 7"):
        order_rows([(0, 7)]).project(np.zeros((1, 7)))


def test_a_state_of_other_members_is_refused() -> None:
    rows = order_rows([(0, 1)])
    with pytest.raises(ValueError, match=r"\.state\(3\)"):
        rows.project(np.zeros((3, 2)), state=rows.state(2))
