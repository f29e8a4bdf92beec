import itertools

import numpy as np
import pytest

from .example import Example


def penalty(tables, binning):
    """Sum of squared bends, feature by feature, and of squared twists, pair by pair of lattice inputs."""
    total = sum((np.diff(tables[name], n=2, axis=1) ** 2).sum() for name in ("rho.calibrators", "rho.output"))
    for feature, keypoints in zip(binning.features, binning.keypoints, strict=True):
        if keypoints is not None:
            values = tables["phi.calibration"][:, binning.slots_of(feature.name)]
            total += (np.diff(values, n=2, axis=1) ** 2).sum()
    for name in ("phi.vertices", "rho.vertices"):
        n_inputs = tables[name].shape[1].bit_length() - 1
        cube = tables[name].reshape(-1, *[2] * n_inputs)
        for one, other in itertools.combinations(range(1, n_inputs + 1), 2):
            total += (np.diff(np.diff(cube, axis=one), axis=other) ** 2).sum() / 2 ** (n_inputs - 2)
    return total


def test_gradients_are_those_of_the_squared_bends_and_twists():
    example = Example()
    function = example.scrambled()
    tables = function.tables
    factor, gradients = example.smoothness(20.0, 100.0).gradients(tables, loss=0.5)
    rng = np.random.default_rng(1)
    ways = {name: rng.normal(size=table.shape) for name, table in tables.items()}
    for name, way in ways.items():
        # The penalty is quadratic, so that a central difference is exact.
        ends = [penalty({**tables, name: tables[name] + sign * way}, example.binning) for sign in (1.0, -1.0)]
        expected = 20.0 / 100.0 * 0.5 * (ends[0] - ends[1]) / 2
        ours = factor * (gradients[name] * way).sum() if name in gradients else 0.0
        assert ours == pytest.approx(expected), name


def test_linear_functions_have_no_penalty():
    example = Example()
    function = example.initial()
    slots = example.binning.slots_of("words")  # keypoints of calibrators are not evenly spaced
    function.calibration[:] = 0.5
    function.calibration[:, slots] = np.linspace(0.0, 1.0, slots.stop - slots.start)
    factor, gradients = example.smoothness(1.0).gradients(function.tables, loss=1.0)
    assert factor > 0
    assert all(np.abs(gradient).max() < 1e-6 for gradient in gradients.values())


def test_follows_the_loss_slowly():
    example = Example()
    tables, smoothness = example.scrambled().tables, example.smoothness(1.0)
    factors = [smoothness.gradients(tables, loss)[0] for loss in (1.0, 0.0, 0.0)]
    assert factors[1] / factors[0] == pytest.approx(0.95)
    assert factors[2] / factors[0] == pytest.approx(0.95**2)
