import pytest
import torch

from clearset.lattice import CategoricalCalibrator, Lattice, MonotoneLinear, PiecewiseLinear


def test_a_lattice_checks_its_sizes():
    with pytest.raises(ValueError, match="at least 2 vertices"):
        Lattice((2, 1), torch.zeros(1, 2))
    with pytest.raises(ValueError, match="has 6 vertices"):
        Lattice((2, 3), torch.zeros(1, 5))


def test_lattices_can_be_trained_to_a_product():
    generator = torch.Generator().manual_seed(0)
    layer = Lattice((2, 2), torch.zeros(1, 4))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    inputs = torch.rand(200, 1, 2, generator=generator)
    for _ in range(300):
        optimizer.zero_grad()
        (layer(inputs)[:, 0] - inputs.prod(dim=-1)[:, 0]).square().mean().backward()
        optimizer.step()
    torch.testing.assert_close(
        layer.vertices.detach(), torch.tensor([[0.0, 0.0, 0.0, 1.0]]), atol=1e-2, rtol=0
    )


def test_linear_keeps_the_declared_signs_and_nothing_else():
    layer = MonotoneLinear(torch.tensor([[1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]]), directions=(1, -1, 0))
    layer.project()
    assert layer.weights.tolist() == [[1.0, -1.0, -1.0], [0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        MonotoneLinear(torch.zeros(1, 2), directions=(1, 2))


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (Lattice((2, 3), torch.zeros(4, 6)), "4 lattices of 2 x 3"),
        (PiecewiseLinear(torch.tensor([0.0, 1.0]), torch.zeros(3, 2)), "3 functions, 2 keypoints"),
        (CategoricalCalibrator(torch.zeros(1, 4)), "1 functions, 3 categories"),
        (MonotoneLinear(torch.zeros(2, 3), (0, 0, 0)), "3 inputs, 2 outputs"),
    ],
)
def test_layers_describe_themselves(layer, text):
    assert text in repr(layer)
