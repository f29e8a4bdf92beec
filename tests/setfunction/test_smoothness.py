import itertools

import pytest
import torch

from clearset.setfunction import Smoothness


def penalty(model, binning):
    """Sum of squared bends, feature by feature, and of squared twists, pair by pair of lattice inputs."""
    tables = model.tables
    total = sum(tables[name].diff(n=2, dim=1).square().sum() for name in ("rho.calibrators", "rho.output"))
    for feature, keypoints in zip(binning.features, binning.keypoints, strict=True):
        if keypoints is not None:
            total = (
                total
                + tables["phi.calibration"][:, binning.slots_of(feature.name)].diff(n=2, dim=1).square().sum()
            )
    for name in ("phi.vertices", "rho.vertices"):
        table = tables[name]
        n_inputs = table.shape[1].bit_length() - 1
        cube = table.reshape(-1, *[2] * n_inputs)
        for one, other in itertools.combinations(range(1, n_inputs + 1), 2):
            twists = cube.diff(dim=one).diff(dim=other).square()
            total = total + twists.sum() / 2 ** (n_inputs - 2)
    return total


def test_adds_the_gradient_of_the_squared_bends(example):
    model = example.scrambled()
    expected = torch.autograd.grad(
        penalty(model, example.binning), list(model.tables.values()), allow_unused=True
    )
    for table in model.tables.values():
        table.grad = torch.ones_like(table)
    Smoothness(example.binning, example.layout, 20.0, 100.0, width=2, rho_keypoints=7).add_gradient(
        model, loss=0.5
    )
    for table, gradient in zip(model.tables.values(), expected, strict=True):
        wanted = torch.zeros_like(table) if gradient is None else 20.0 / 100.0 * 0.5 * gradient
        torch.testing.assert_close(table.grad - 1.0, wanted)


def test_follows_the_loss_slowly(example):
    model = example.scrambled()
    smoothness = Smoothness(example.binning, example.layout, 1.0, 1.0, width=2, rho_keypoints=7)
    sizes = []
    for loss in (1.0, 0.0, 0.0):
        for table in model.tables.values():
            table.grad = torch.zeros_like(table)
        smoothness.add_gradient(model, loss)
        sizes.append(float(model.tables["rho.output"].grad.norm()))
    assert sizes[1] / sizes[0] == pytest.approx(0.95)
    assert sizes[2] / sizes[0] == pytest.approx(0.95**2)
