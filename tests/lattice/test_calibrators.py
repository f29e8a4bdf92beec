import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from clearset.lattice import CategoricalCalibrator, PiecewiseLinear

EVEN = [-1.0, -0.5, 0.0, 0.5, 1.0]
UNEVEN = [-1.0, 0.0, 0.1, 5.0]


@pytest.mark.parametrize("keypoints", [EVEN, UNEVEN])
def test_equals_numpys_interpolation(keypoints):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, len(keypoints)))
    inputs = np.concatenate(
        [rng.uniform(-2, 6, size=(50, 3)), np.repeat(np.array(keypoints)[:, None], 3, axis=1)]
    )
    layer = PiecewiseLinear(torch.tensor(keypoints, dtype=torch.float64), torch.from_numpy(values))
    ours = layer(torch.from_numpy(inputs)).detach().numpy()
    theirs = np.stack([np.interp(inputs[:, n], keypoints, values[n]) for n in range(3)], axis=1)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("keypoints", [EVEN, UNEVEN])
def test_missing_inputs_have_an_output_and_a_gradient_of_their_own(keypoints):
    places = torch.tensor(keypoints, dtype=torch.float64)
    layer = PiecewiseLinear(
        places, torch.zeros(1, len(places), dtype=torch.float64), torch.tensor([0.25], dtype=torch.float64)
    )
    outputs = layer(torch.tensor([[float("nan")], [0.3]], dtype=torch.float64))
    assert outputs.flatten().tolist() == [0.25, 0.0]
    outputs.sum().backward()
    assert layer.missing.grad.tolist() == [1.0]
    assert layer.values.grad.sum().item() == pytest.approx(1.0)


@pytest.mark.parametrize("keypoints", [EVEN, UNEVEN])
def test_gradients(keypoints):
    places = torch.tensor(keypoints, dtype=torch.float64)
    inputs = torch.linspace(-0.93, 0.97, 6, dtype=torch.float64).reshape(3, 2).requires_grad_()
    layer = PiecewiseLinear(places, torch.randn(2, len(places), dtype=torch.float64))

    def apply(x, values):
        return torch.func.functional_call(layer, {"values": values}, (x,))

    assert gradcheck(apply, (inputs, layer.values.detach().requires_grad_()))


@pytest.mark.parametrize("keypoints", [[1.0], [1.0, 1.0], [2.0, 1.0]])
def test_keypoints_must_increase(keypoints):
    with pytest.raises(ValueError, match="at least two increasing numbers"):
        PiecewiseLinear(torch.tensor(keypoints), torch.zeros(1, len(keypoints)))


def test_values_must_fit_the_keypoints():
    with pytest.raises(ValueError, match="one column for each of the 5 keypoints"):
        PiecewiseLinear(torch.tensor(EVEN), torch.zeros(1, 4))


def test_categories_are_looked_up_row_by_row():
    layer = CategoricalCalibrator(torch.tensor([[0.1, 0.2, 0.9], [0.3, 0.4, 0.8]]))
    outputs = layer(torch.tensor([[0, 1], [-1, -1], [1, 0]]))
    torch.testing.assert_close(outputs.detach(), torch.tensor([[0.1, 0.4], [0.9, 0.8], [0.2, 0.3]]))
    outputs[1].sum().backward()
    assert layer.values.grad.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
