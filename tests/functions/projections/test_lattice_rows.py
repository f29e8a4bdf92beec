import numpy as np
import pytest

from clearset.functions.projections import ConstraintSet, edgeworth_rows, monotone_rows, trapezoid_rows


def project(values, sizes, directions, lower=-np.inf, upper=np.inf) -> np.ndarray:
    rows = monotone_rows(sizes, directions)
    return ConstraintSet({"monotone": rows}, lower, upper, values.shape[1]).project_exactly(values)


def test_rows_of_a_small_lattice() -> None:
    rows = monotone_rows((2, 3), (1, -1))
    values = np.array([[0.0, 1.0, 4.0, 10.0, 20.0, 50.0]])
    np.testing.assert_array_equal(rows.residuals(values), [[10.0, 19.0, 46.0, -1.0, -10.0, -3.0, -30.0]])


def test_a_feature_that_wants_to_fall_becomes_exactly_constant(engine: str) -> None:
    falling = np.random.default_rng(0).normal(size=(3, 8, 1)) - np.array([0.0, 5.0])
    result = project(falling.reshape(3, 16), (2, 2, 2, 2), (0, 0, 0, 1)).reshape(3, 8, 2)
    np.testing.assert_array_equal(result[..., 0], result[..., 1])


def test_is_monotone_to_the_last_bit(engine: str) -> None:
    values = np.random.default_rng(1).normal(size=(10, 27)) / 3
    result = project(values, (3, 3, 3), (1, -1, 1), -0.2, 0.3).reshape(10, 3, 3, 3)
    assert (np.diff(result, axis=1) >= 0).all()
    assert (np.diff(result, axis=2) <= 0).all()
    assert (np.diff(result, axis=3) >= 0).all()


@pytest.mark.parametrize(
    ("sizes", "directions", "message"),
    [((2, 2), (1,), r"for each of them"), ((2, 2), (1, 2), r"\+1, -1 or 0"), ((2, 1), (1, 0), "at least 2")],
)
def test_bad_lattices_are_refused(sizes: tuple[int, ...], directions: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        monotone_rows(sizes, directions)


def test_edgeworth_rows_by_hand() -> None:
    values = np.array([[0.0, 1.0, 5.0, 2.0, 4.0, 6.0]])
    # Slopes along feature 0 are 2, 3, 1 as feature 1 grows.
    np.testing.assert_array_equal(edgeworth_rows((2, 3), main=0, by=1).residuals(values), [[1.0, -2.0]])
    np.testing.assert_array_equal(edgeworth_rows((2, 3), 0, 1, direction=-1).residuals(values), [[-1.0, 2.0]])


def test_no_violation_of_edgeworth_trust_is_left_to_rounding(engine: str) -> None:
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


def test_only_the_ends_of_main_matter_to_trapezoid_trust() -> None:
    values = np.array([[1.0, 0.0], [7.0, -7.0], [2.0, 5.0]]).reshape(1, 6)
    np.testing.assert_array_equal(trapezoid_rows((3, 2), main=0, by=1).residuals(values), [[1.0, 3.0]])
    np.testing.assert_array_equal(trapezoid_rows((3, 2), 0, 1, direction=-1).residuals(values), [[-1.0, -3.0]])
