from dataclasses import dataclass

import numpy as np
import pytest
import torch

from clearset.engines.torch import TokenPositions, available_kernels, phi_mean
from clearset.functions import Layout


@dataclass
class Problem:
    """Inputs of phi and an upstream gradient."""

    positions: TokenPositions
    calibration: torch.Tensor
    vertices: torch.Tensor
    layout: Layout
    upstream: torch.Tensor

    @classmethod
    def random(cls, seed, layout, n_outputs, set_sizes, dtype=torch.float64, most_slots=5):
        """Draw one with what lies on borders: fractions 0 and 1, missing, values at 0 and 1 and beyond."""
        rng = np.random.default_rng(seed)
        n_slots = rng.integers(
            2, most_slots + 1, layout.n_features
        )  # the last one of each feature is "missing"
        first = np.concatenate([[0], np.cumsum(n_slots)])
        n_tokens = int(np.sum(set_sizes))
        shape = (layout.n_features, n_tokens)
        slots = rng.integers(0, n_slots[:, None], shape)
        fractions = rng.choice([0.0, 1.0, 0.25, np.nan], shape)
        fractions = np.where(np.isnan(fractions), rng.random(shape), fractions)
        fractions[slots >= n_slots[:, None] - 2] = 0.0
        # Eighths put values exactly on the borders of cells and of [0, 1]; the others lie anywhere.
        calibration = rng.integers(-1, 10, (n_outputs, first[-1])) / 8
        anywhere = rng.random(calibration.shape) < 0.7
        calibration = np.where(anywhere, rng.random(calibration.shape), calibration)
        offsets = np.concatenate([[0], np.cumsum(set_sizes)])
        positions = TokenPositions(
            slots=torch.from_numpy((slots + first[:-1, None]).astype(np.int32)),
            fractions=torch.from_numpy(fractions).to(dtype),
            offsets=torch.from_numpy(offsets.astype(np.int64)),
        )
        return cls(
            positions=positions,
            calibration=torch.from_numpy(calibration).to(dtype),
            vertices=torch.from_numpy(rng.uniform(-1, 1, (n_outputs, layout.n_vertices))).to(dtype),
            layout=layout,
            upstream=torch.from_numpy(rng.standard_normal((len(set_sizes), n_outputs))).to(dtype),
        )

    def solve(self, function=phi_mean, upstream=None, **options):
        """Return the value and the gradients by calibration and vertices."""
        calibration = self.calibration.clone().requires_grad_()
        vertices = self.vertices.clone().requires_grad_()
        value = function(self.positions, calibration, vertices, self.layout, **options)
        upstream = self.upstream if upstream is None else upstream
        return value.detach(), *torch.autograd.grad(value, (calibration, vertices), upstream)


@pytest.fixture(params=available_kernels())
def kernel(request):
    return request.param
