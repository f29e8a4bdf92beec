import numpy as np

from clearset.lattice.projections import projection_bounds


def test_one_sided() -> None:
    np.testing.assert_array_equal(projection_bounds([[-2, 0, 2]], lower=-1), [[-1.0, 0.0, 2.0]])
    np.testing.assert_array_equal(projection_bounds([[-2, 0, 2]], upper=1), [[-2.0, 0.0, 1.0]])
