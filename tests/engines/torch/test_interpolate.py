import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import RegularGridInterpolator
from torch.autograd import gradcheck

from clearset.engines.torch._interpolate import interpolate_lattice, interpolate_lines


@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_lattices_equal_scipys_interpolator(sizes, n_lattices, seed):
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(n_lattices, int(np.prod(sizes))))
    inputs = rng.uniform(size=(7, n_lattices, len(sizes)))
    inputs[0], inputs[1] = 0.0, 1.0
    ours = interpolate_lattice(torch.from_numpy(inputs), torch.from_numpy(vertices), sizes).numpy()
    axes = [np.linspace(0, 1, size) for size in sizes]
    for n in range(n_lattices):
        theirs = RegularGridInterpolator(axes, vertices[n].reshape(sizes))(inputs[:, n])
        np.testing.assert_allclose(ours[:, n], theirs, atol=1e-12)


def test_inputs_outside_are_moved_to_the_border():
    vertices = torch.tensor([[1.0, 2.0, 5.0]])
    outside = interpolate_lattice(torch.tensor([[[-3.0]], [[7.0]]]), vertices, (3,))
    assert outside.flatten().tolist() == [1.0, 5.0]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2), (4,)])
def test_gradients(sizes):
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(5, 2, len(sizes), generator=generator, dtype=torch.float64, requires_grad=True)
    vertices = torch.randn(2, int(np.prod(sizes)), generator=generator, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, v: interpolate_lattice(x, v, sizes), (inputs, vertices))


def test_lines_equal_numpys_interpolation_and_end_where_they_end():
    rng = np.random.default_rng(0)
    inputs, table = rng.uniform(-1.5, 1.5, (50, 3)), rng.normal(size=(3, 6))
    inputs[:6] = np.linspace(-1, 1, 6)[:, None]
    ours = interpolate_lines(torch.from_numpy(inputs), torch.from_numpy(table)).numpy()
    for n in range(3):
        theirs = np.interp(inputs[:, n], np.linspace(-1, 1, 6), table[n])
        np.testing.assert_allclose(ours[:, n], theirs, atol=1e-12)


def test_gradients_of_lines():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(5, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    table = torch.randn(2, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    assert gradcheck(interpolate_lines, (inputs, table))
