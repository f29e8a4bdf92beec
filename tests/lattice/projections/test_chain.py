import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from clearset.lattice.projections import projection_chain, projection_chains


def test_hand_worked(engine: str) -> None:
    np.testing.assert_array_equal(projection_chain([[3.0, 1.0, 2.0, 10.0, 8.0]]), [[2.0, 2.0, 2.0, 9.0, 9.0]])


def test_equals_scipy_on_long_chains(engine: str) -> None:
    values = np.random.default_rng(1).normal(size=(5, 300))
    expected = [isotonic_regression(row).x for row in values]
    np.testing.assert_allclose(projection_chain(values), expected, atol=1e-12)


def test_in_order_is_returned_to_the_last_bit(engine: str) -> None:
    values = np.sort(np.random.default_rng(2).normal(size=(3, 50)).round(1) / 3, axis=1)
    np.testing.assert_array_equal(projection_chain(values), values)


def test_result_is_in_order_to_the_last_bit(engine: str) -> None:
    values = np.random.default_rng(3).normal(size=(20, 60)) * 1e3
    assert (np.diff(projection_chain(values, -900.0, 900.0), axis=1) >= 0).all()


def test_columns_outside_chains_are_only_clipped(engine: str) -> None:
    result = projection_chains([[5.0, 2.0, 1.0, -7.0]], [1], [3], lower=-3.0, upper=4.0)
    np.testing.assert_array_equal(result, [[4.0, 1.5, 1.5, -3.0]])


def test_directions_and_lengths_differ(engine: str) -> None:
    result = projection_chains([[1.0, 2.0, 0.0, 4.0, 2.0, 9.0]], [0, 2, 5], [2, 5, 6], directions=[-1, 1, 1])
    np.testing.assert_array_equal(result, [[1.5, 1.5, 0.0, 3.0, 3.0, 9.0]])


def test_no_chains(engine: str) -> None:
    np.testing.assert_array_equal(projection_chains([[2.0, 1.0]], [], [], upper=1.5), [[1.5, 1.0]])


@pytest.mark.parametrize(
    ("starts", "stops", "directions", "message"),
    [
        ([0, 1], [2, 4], None, "without overlap"),
        ([0], [5], None, "within the 4 columns"),
        ([-1], [2], None, "from column 0 on"),
        ([0, 2], [2], None, "one entry of each per chain"),
        ([0], [2], [0], r"\+1 \(never falls\)"),
    ],
)
def test_bad_chains_are_refused(
    starts: list[int], stops: list[int], directions: list[int] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        projection_chains(np.zeros((1, 4)), starts, stops, directions=directions)
