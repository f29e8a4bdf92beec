import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from clearset.functions.projections import Chains


def project(values, starts=None, stops=None, lower=-np.inf, upper=np.inf) -> np.ndarray:
    values = np.array(values, dtype=np.float64)
    starts, stops = ([0], [values.shape[1]]) if starts is None else (starts, stops)
    Chains(starts, stops, lower, upper).project(values)
    return values


def test_hand_worked(engine: str) -> None:
    np.testing.assert_array_equal(project([[3.0, 1.0, 2.0, 10.0, 8.0]]), [[2.0, 2.0, 2.0, 9.0, 9.0]])


def test_equals_scipy_on_long_chains(engine: str) -> None:
    values = np.random.default_rng(1).normal(size=(5, 300))
    expected = [isotonic_regression(row).x for row in values]
    np.testing.assert_allclose(project(values), expected, atol=1e-12)


def test_in_order_is_returned_to_the_last_bit(engine: str) -> None:
    values = np.sort(np.random.default_rng(2).normal(size=(3, 50)).round(1) / 3, axis=1)
    np.testing.assert_array_equal(project(values), values)


def test_result_is_in_order_to_the_last_bit(engine: str) -> None:
    values = np.random.default_rng(3).normal(size=(20, 60)) * 1e3
    assert (np.diff(project(values, lower=-900.0, upper=900.0), axis=1) >= 0).all()


def test_columns_outside_chains_are_only_clipped(engine: str) -> None:
    result = project([[5.0, 2.0, 1.0, -7.0]], [1], [3], lower=-3.0, upper=4.0)
    np.testing.assert_array_equal(result, [[4.0, 1.5, 1.5, -3.0]])


def test_lengths_differ(engine: str) -> None:
    result = project([[2.0, 1.0, 0.0, 4.0, 2.0, 9.0]], [0, 2, 5], [2, 5, 6])
    np.testing.assert_array_equal(result, [[1.5, 1.5, 0.0, 3.0, 3.0, 9.0]])


def test_no_chains(engine: str) -> None:
    np.testing.assert_array_equal(project([[2.0, 1.0]], [], [], upper=1.5), [[1.5, 1.0]])


@pytest.mark.parametrize(
    ("starts", "stops", "message"),
    [
        ([0, 1], [2, 4], "without overlap"),
        ([-1], [2], "from column 0 on"),
        ([0, 2], [2], "one entry of each per chain"),
    ],
)
def test_bad_chains_are_refused(starts: list[int], stops: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Chains(starts, stops)
