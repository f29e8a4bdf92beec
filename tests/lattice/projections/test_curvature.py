import numpy as np
import pytest

from clearset.lattice.projections import curvature_rows, projection_curvature


def test_rows_vanish_on_lines_and_tell_convex_from_concave() -> None:
    keypoints = np.array([0.0, 1.0, 4.0, 4.5])
    rows = curvature_rows(keypoints, "convex")
    np.testing.assert_allclose(rows.residuals([3 * keypoints - 1]), 0.0, atol=1e-14)
    assert (rows.residuals([keypoints**2]) > 0).all()
    assert (curvature_rows(keypoints, "concave").residuals([np.sqrt(keypoints)]) > 0).all()
    assert np.abs(rows.coefficients).max() <= 1.0


def test_two_keypoints_have_no_curvature() -> None:
    np.testing.assert_array_equal(projection_curvature([[2.0, 1.0]], [0.0, 1.0], "convex", 1), [[1.5, 1.5]])


@pytest.mark.parametrize("curvature", ["convex", "concave"])
def test_no_violation_is_left_to_rounding(curvature: str, engine: str) -> None:
    keypoints = np.cumsum(np.random.default_rng(3).uniform(0.1, 1.0, 15))
    values = np.random.default_rng(4).normal(size=(10, 15))
    result = projection_curvature(values, keypoints, curvature, 1, -1.0, 1.0)  # type: ignore[arg-type]
    assert curvature_rows(keypoints, curvature).violation(result) == 0.0  # type: ignore[arg-type]
    assert (np.diff(result, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("keypoints", "curvature", "message"),
    [
        ([0.0, 0.0, 1.0], "convex", "increasing"),
        ([0.0], "convex", "at least 2"),
        ([0.0, 1.0], "flat", "'flat'"),
    ],
)
def test_bad_curves_are_refused(keypoints: list[float], curvature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curvature_rows(keypoints, curvature)  # type: ignore[arg-type]
