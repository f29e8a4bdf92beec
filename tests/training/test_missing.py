import numpy as np

from clearset.engines import TrainingSets
from clearset.functions import Layout
from clearset.sets import Binning, Feature, SetData
from clearset.training import fill_missing, fill_missing_crossed, initial_set_function

from ..engines.crossed_example import CrossedExample


def fitted(values):
    data = SetData(values, np.arange(len(values) + 1), ["x"])
    binning = Binning.fit(data, [Feature("x")], keypoints=4)
    rng, sizes = np.random.default_rng(0), {"width": 2, "rho_keypoints": 3}
    function = initial_set_function(binning, Layout.full((2,)), np.zeros((1, 1)), **sizes, rng=rng)
    function.calibration[:] = rng.uniform(size=function.calibration.shape)
    return binning, function, binning.positions(data, np.float64)


def labelled(positions):
    return TrainingSets(positions, np.zeros(len(positions)), np.ones(len(positions)))


def test_never_missing_counts_as_average():
    values = np.array([0.0, 0.5, 1.0, 3.0, 3.5, 10.0])
    binning, function, positions = fitted(values)
    fill_missing(function, binning, labelled(positions))
    for row in function.calibration:
        assert np.isclose(row[-1], np.interp(values, binning.keypoints[0], row[:-1]).mean())


def test_what_was_learned_of_missing_values_stays():
    binning, function, positions = fitted(np.array([0.0, np.nan, 1.0, 2.0]))
    before = function.calibration.copy()
    fill_missing(function, binning, labelled(positions))
    np.testing.assert_array_equal(function.calibration, before)


def test_a_feature_that_is_always_missing_is_left_alone():
    binning, function, positions = fitted(np.array([np.nan, np.nan]))
    before = function.calibration.copy()
    fill_missing(function, binning, labelled(positions))
    np.testing.assert_array_equal(function.calibration, before)


def test_features_that_were_never_missing_count_as_average():
    example = CrossedExample.random(missing=0.0)
    function = example.function()
    of_size = int(example.binning.slot_offsets[3]) - 1
    calibration = function.calibration.copy()
    size_slots = example.binning.slots_of("size")
    tokens = example.positions.slots[1] - size_slots.start + example.positions.fractions[1]
    average = [np.interp(tokens, [0, 1], row[size_slots]).mean() for row in calibration]
    fill_missing_crossed(function, example.binning, example.positions)
    np.testing.assert_allclose(function.calibration[:, of_size], average)
    np.testing.assert_array_equal(
        np.delete(function.calibration, of_size, axis=1), np.delete(calibration, of_size, axis=1)
    )
