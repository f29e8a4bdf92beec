import numpy as np
import pytest

from clearset.functions.projections import ConstraintSet, curvature_rows, monotone_rows, order_rows


def test_rows_vanish_on_lines_and_tell_convex_from_concave() -> None:
    keypoints = np.array([0.0, 1.0, 4.0, 4.5])
    rows = curvature_rows(keypoints, "convex")
    np.testing.assert_allclose(rows.residuals([3 * keypoints - 1]), 0.0, atol=1e-14)
    assert (rows.residuals([keypoints**2]) > 0).all()
    assert (curvature_rows(keypoints, "concave").residuals([np.sqrt(keypoints)]) > 0).all()
    assert np.abs(rows.coefficients).max() <= 1.0


def test_two_keypoints_have_no_curvature() -> None:
    assert len(curvature_rows([0.0, 1.0], "convex")) == 0


@pytest.mark.parametrize("curvature", ["convex", "concave"])
def test_no_violation_is_left_to_rounding(curvature: str, engine: str) -> None:
    keypoints = np.cumsum(np.random.default_rng(3).uniform(0.1, 1.0, 15))
    values = np.random.default_rng(4).normal(size=(10, 15))
    groups = {"curved": curvature_rows(keypoints, curvature), "rising": monotone_rows((15,), (1,))}  # type: ignore[arg-type]
    result = ConstraintSet(groups, -1.0, 1.0, 15).project_exactly(values)
    assert curvature_rows(keypoints, curvature).violation(result) == 0.0  # type: ignore[arg-type]
    assert (np.diff(result, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("keypoints", "curvature", "message"),
    [([0.0, 0.0, 1.0], "convex", "increasing"), ([0.0], "convex", "at least 2"), ([0.0, 1.0], "flat", "'flat'")],
)
def test_bad_curves_are_refused(keypoints: list[float], curvature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curvature_rows(keypoints, curvature)  # type: ignore[arg-type]


@pytest.mark.parametrize("curvature", ["convex", "concave"])
@pytest.mark.parametrize("monotonic", [0, 1, -1])
@pytest.mark.parametrize(
    "keypoints",
    [
        [0.0, 5e-324, 1e-310, 1.0],
        [1e-310, 2e-310, 3e-310, 5e-310],
        [-1.7e308, -1e300, 0.0, 1e300, 1.7e308],
        [-1.0, 0.0, 1e-20, 2e-20, 1.0],
        np.geomspace(1e-300, 1e300, 8).tolist(),
    ],
)
def test_any_keypoints_are_projected_or_refused(
    keypoints: list[float], monotonic: int, curvature: str, engine: str
) -> None:
    values = np.random.default_rng(0).normal(size=(5, len(keypoints)))
    try:
        groups = {
            "curved": curvature_rows(keypoints, curvature),  # type: ignore[arg-type]
            "monotone": monotone_rows((len(keypoints),), (monotonic,)),
        }
        result = ConstraintSet(groups, 0.0, 1.0, len(keypoints)).project_exactly(values)
    except ValueError as error:
        assert "leave out the closest" in str(error)  # noqa: PT017
        return
    assert ((result >= 0) & (result <= 1)).all()
    assert (monotonic * np.diff(result) >= 0).all()
    assert curvature_rows(keypoints, curvature).violation(result) == 0.0


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
