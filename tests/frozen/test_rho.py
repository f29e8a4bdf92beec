import numpy as np
import pytest
import torch

from clearset.frozen import FrozenRho
from clearset.kernels import rho


@pytest.mark.parametrize("width", [1, 2, 3])
def test_equals_the_kernel(width):
    rng = np.random.default_rng(width)
    calibrators = np.sort(rng.uniform(-0.2, 1.2, size=(width, 7)), axis=1)
    vertices = rng.uniform(-1.3, 1.3, size=2**width)
    output = np.sort(rng.normal(size=7))
    means = np.concatenate([rng.uniform(-1.2, 1.2, size=(500, width)), [[-1.0] * width, [1.0] * width]])
    tensors = (means, calibrators, vertices[None], output[None])
    expected = rho(*map(torch.from_numpy, tensors), kernel="reference").numpy()[:, 0]
    np.testing.assert_allclose(FrozenRho(calibrators, vertices, output)(means), expected, atol=1e-14)
