from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import engine
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


def test_never_missing_counts_as_average():
    values = np.array([0.0, 0.5, 1.0, 3.0, 3.5, 10.0])
    binning, function, positions = fitted(values)
    fill_missing(function, binning, positions)
    for row in function.calibration:
        assert np.isclose(row[-1], np.interp(values, binning.keypoints[0], row[:-1]).mean())


def test_what_was_learned_of_missing_values_stays():
    binning, function, positions = fitted(np.array([0.0, np.nan, 1.0, 2.0]))
    before = function.calibration.copy()
    fill_missing(function, binning, positions)
    np.testing.assert_array_equal(function.calibration, before)


def test_a_feature_that_is_always_missing_is_left_alone():
    binning, function, positions = fitted(np.array([np.nan, np.nan]))
    before = function.calibration.copy()
    fill_missing(function, binning, positions)
    np.testing.assert_array_equal(function.calibration, before)


def nothing(example):
    """One set without tokens: everything missing."""
    missing = (example.binning.slot_offsets[2:] - 1).astype(np.int32)[:, None]
    return replace(
        example.positions,
        slots=missing,
        fractions=np.zeros(missing.shape),
        offsets=np.array([0, 1]),
        rows=np.array([-1], np.int32),
        corrected=np.array([-1], np.int32),
    )


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_a_set_without_tokens_is_the_prior_where_none_was_seen(share):
    example = CrossedExample.random(missing=0.0)
    function = example.function()
    of_value, of_size = (int(stop) - 1 for stop in example.binning.slot_offsets[[1, 3]])
    calibration = function.calibration.copy()
    size_slots = example.binning.slots_of("size")
    tokens = example.positions.slots[1] - size_slots.start + example.positions.fractions[1]
    # Other features that were never missing count as average.
    average = [np.interp(tokens, [0, 1], row[size_slots]).mean() for row in calibration]
    outputs = []
    for value in (0.0, 1.0):  # between these the missing value can bring the output
        function.calibration[:, of_value], function.calibration[:, of_size] = value, average
        outputs.append(float(engine().outputs(function, nothing(example))[0, 0]))
    prior = outputs[0] + share * (outputs[1] - outputs[0])
    assert outputs[0] < outputs[1]
    fill_missing_crossed(function, example.binning, example.positions, nothing(example), prior)
    assert float(engine().outputs(function, nothing(example))[0, 0]) == pytest.approx(prior, abs=1e-9)
    changed = [of_value, of_size]
    np.testing.assert_allclose(function.calibration[:, of_size], average)
    np.testing.assert_array_equal(
        np.delete(function.calibration, changed, axis=1), np.delete(calibration, changed, axis=1)
    )


def test_values_that_were_missing_keep_what_was_learned():
    example = CrossedExample.random(missing=0.3)
    function = example.function()
    before = function.calibration.copy()
    fill_missing_crossed(function, example.binning, example.positions, nothing(example), 0.0)
    of_size = int(example.binning.slot_offsets[3]) - 1  # never missing here
    np.testing.assert_array_equal(np.delete(function.calibration, of_size, axis=1), np.delete(before, of_size, axis=1))
