import numpy as np
import torch

from clearset.engines.torch import SetFunctionModule, as_tensors, loss_of
from clearset.functions import Layout, Loss
from clearset.training import initial_crossed_set_function, leanings

from ..engines.crossed_example import CrossedExample
from ..functions.example import Example, largest_violation


def test_starts_feasible_and_able_to_move():
    example = Example(width=4)
    for seed in range(20):
        function = example.initial(seed)
        assert largest_violation(example.shape, function) == 0.0
        labels = torch.from_numpy(np.random.default_rng(seed).normal(size=len(example.positions)))
        module = SetFunctionModule(function)
        loss_of(Loss("squared_error"), module(as_tensors(example.positions)), labels).mean().backward()
        for name, table in module.tables.items():
            # Every row has a gradient: no lattice or calibrator is dead from the start.
            assert (table.grad.abs().amax(dim=1) > 1e-6).all(), name


def test_lattices_differ_from_each_other():
    vertices = Example(width=3).initial().vertices
    distances = np.linalg.norm(vertices[:, None] - vertices, axis=2) + np.eye(3)
    assert distances.min() > 0.05


def test_numeric_calibrators_are_straight_lines():
    example = Example()
    keypoints = example.binning.keypoints[1]
    straight = (keypoints - keypoints[0]) / (keypoints[-1] - keypoints[0])
    calibration = example.initial().calibration[0, example.binning.slots_of("words")]
    np.testing.assert_allclose(calibration, straight)


def test_leanings_are_slopes_of_least_squares():
    example = Example()
    words, offsets = np.nan_to_num(example.data.values[:, 1], nan=0.0), example.data.offsets
    rising = np.add.reduceat(words, offsets[:-1]) / np.diff(offsets)
    targets = np.stack([rising, -rising, np.zeros(len(rising))], axis=1)
    weights = np.ones(len(rising))
    slopes = leanings(example.binning, example.positions, targets - targets.mean(axis=0), weights, 1e9)
    assert slopes.shape == (3, 4)
    np.testing.assert_allclose(slopes[:, 1], [1.0, -1.0, 0.0], atol=1e-9)
    # Where one feature goes with another, only that one has a slope which the labels go with.
    assert np.abs(slopes[0, [0, 2, 3]]).max() < 0.4


def test_leanings_count_weights_as_repetitions():
    example = Example()
    rng = np.random.default_rng(0)
    weights, labels = rng.integers(1, 4, 80).astype(float), rng.normal(size=80)
    repeated = np.repeat(np.arange(80), weights.astype(int))
    centred = labels - np.average(labels, weights=weights)
    n_sets = float(weights.sum())
    one = leanings(example.binning, example.positions, (weights * centred)[:, None], weights, n_sets)
    same = (example.positions.take(repeated), centred[repeated, None], np.ones(len(repeated)))
    other = leanings(example.binning, *same, n_sets)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_undeclared_features_start_as_they_lean_and_on_both_sides_of_a_wider_function():
    example = Example(width=3)
    for seed in range(5):
        function = example.initial(seed, np.array([[0.0, -1.0, 0.0, 0.0]]))
        lattices = function.vertices.reshape(3, 2, 2, 2, 2)
        slopes = (lattices[:, :, 1] - lattices[:, :, 0]).mean(axis=(1, 2, 3))
        assert np.sign(slopes).tolist() == [-1.0, 1.0, -1.0]


def test_crossed_functions_rise_with_the_value_and_hardly_move_with_the_rest():
    example = CrossedExample.random(width=3)
    rng = np.random.default_rng(0)
    function = initial_crossed_set_function(example.binning, Layout.full((2, 2, 2)), **example.sizes, rng=rng)
    assert largest_violation(example.shape, function) == 0.0
    lattices = function.vertices.reshape(3, 2, 2, 2)
    by_value, *others = (np.diff(lattices, axis=axis).mean(axis=(1, 2, 3)) for axis in (1, 2, 3))
    assert (by_value >= 0.6).all()
    assert np.abs(others).max() <= 0.1
