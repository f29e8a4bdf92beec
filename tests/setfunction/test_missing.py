import numpy as np

from clearset.kernels import Layout
from clearset.setfunction import fill_missing, initial_set_function
from clearset.sets import Binning, Feature, SetData


def fitted(values):
    data = SetData(values, np.arange(len(values) + 1), ["x"])
    binning = Binning.fit(data, [Feature("x")], keypoints=4)
    model = initial_set_function(
        binning, Layout.full((2,)), np.zeros((1, 1)), width=2, rho_keypoints=3, rng=np.random.default_rng(0)
    )
    model.phi.calibration.data.uniform_()
    return binning, model, binning.positions(data, np.float64)


def test_never_missing_counts_as_average():
    values = np.array([0.0, 0.5, 1.0, 3.0, 3.5, 10.0])
    binning, model, positions = fitted(values)
    fill_missing(model, binning, positions)
    calibration = model.phi.calibration.detach().numpy()
    for row in calibration:
        assert np.isclose(row[-1], np.interp(values, binning.keypoints[0], row[:-1]).mean())


def test_what_was_learned_of_missing_values_stays():
    binning, model, positions = fitted(np.array([0.0, np.nan, 1.0, 2.0]))
    before = model.phi.calibration.detach().numpy().copy()
    fill_missing(model, binning, positions)
    np.testing.assert_array_equal(model.phi.calibration.detach().numpy(), before)


def test_a_feature_that_is_always_missing_is_left_alone():
    binning, model, positions = fitted(np.array([np.nan, np.nan]))
    fill_missing(model, binning, positions)
    assert np.isfinite(model.phi.calibration.detach().numpy()).all()
