"""phi and rho in plain torch: slow, on any device, and what the other kernels are compared with."""

from __future__ import annotations

import torch
from torch import Tensor

from clearset.kernels._inputs import TokenPositions, check_contents
from clearset.kernels._layout import Layout
from clearset.lattice import interpolate_lattice, interpolate_line


def supports(_device: torch.device) -> bool:
    """Tell whether tensors on this device can be taken."""
    return True


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, _threads: int = 1
) -> Tensor:
    """Give every token's own score, (T, K)."""
    check_contents(positions, calibration.shape[1])
    table = torch.cat([calibration, calibration[:, -1:]], dim=1)
    slots = positions.slots.T.long()
    below, above = table[:, slots], table[:, slots + 1]
    calibrated = (below + positions.fractions.T * (above - below)).transpose(0, 1)  # (T, K, D)
    lattices = [
        interpolate_lattice(
            calibrated[:, :, list(subset)],
            vertices[:, layout.vertex_offsets[e] : layout.vertex_offsets[e + 1]],
            [layout.sizes[feature] for feature in subset],
        )
        for e, subset in enumerate(layout.subsets)
    ]
    return torch.stack(lattices).mean(dim=0)


def phi_mean(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, _threads: int = 1
) -> Tensor:
    """Give the mean score of every set, (B, K)."""
    scores = phi_scores(positions, calibration, vertices, layout)
    sizes = positions.offsets.diff()
    set_of_token = torch.repeat_interleave(torch.arange(positions.n_sets, device=sizes.device), sizes)
    # Sums in double: in single precision a set of millions of tokens would lose most digits of its mean.
    sums = scores.new_zeros((positions.n_sets, scores.shape[1]), dtype=torch.float64)
    sums = sums.index_add(0, set_of_token, scores.double())
    return (sums / sizes[:, None]).to(scores.dtype)


def rho(means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor) -> Tensor:
    """Give the outputs of every set, (B, C)."""
    n_functions, width = len(output), len(calibrators) // len(output)
    calibrated = _calibrate(calibrators, means).reshape(len(means), n_functions, width)
    return _calibrate(output, interpolate_lattice(calibrated, vertices, (2,) * width))


def _calibrate(table: Tensor, inputs: Tensor) -> Tensor:
    """Read tables (N, V), with keypoints uniform on [-1, 1], at the inputs (B, N)."""
    n_segments = table.shape[1] - 1
    place = (inputs.clamp(-1.0, 1.0) + 1.0) * (n_segments / 2)
    segment = place.detach().long().clamp(0, n_segments - 1)
    return interpolate_line(table, segment, place - segment)
