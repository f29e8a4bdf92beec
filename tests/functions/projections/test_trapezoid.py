import numpy as np

from clearset.functions.projections import trapezoid_rows


def test_only_the_ends_of_main_matter() -> None:
    values = np.array([[1.0, 0.0], [7.0, -7.0], [2.0, 5.0]]).reshape(1, 6)
    np.testing.assert_array_equal(trapezoid_rows((3, 2), main=0, by=1).residuals(values), [[1.0, 3.0]])
    np.testing.assert_array_equal(
        trapezoid_rows((3, 2), 0, 1, direction=-1).residuals(values), [[-1.0, -3.0]]
    )
