import pytest
import torch

from clearset.kernels import Layout, _reference

from .conftest import Problem


@pytest.mark.parametrize("function", [_reference.phi_mean, _reference.phi_scores])
def test_gradcheck(function):
    layout = Layout(sizes=(2, 3, 2), subsets=((0, 1), (2, 1, 0)))
    problem = Problem.random(8, layout, n_outputs=2, set_sizes=[1, 3, 2])
    # Away from the borders of cells and clamps, where the derivative jumps.
    generator = torch.Generator().manual_seed(0)
    calibration = torch.rand(problem.calibration.shape, dtype=torch.float64, generator=generator)
    calibration = 0.05 + 0.4 * calibration

    def value(calibration, vertices):
        return function(problem.positions, calibration, vertices, layout)

    assert torch.autograd.gradcheck(value, (calibration.requires_grad_(), problem.vertices.requires_grad_()))
