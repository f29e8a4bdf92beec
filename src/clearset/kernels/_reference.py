"""phi in plain torch: slow, on any device, and what the other kernels are compared with."""

from __future__ import annotations

import torch
from torch import Tensor

from clearset.kernels._inputs import TokenPositions, slot_error
from clearset.kernels._layout import Layout

# Only tokens of one piece have all corners of their cells in memory at once (when no gradient is asked for).
_PIECE = 2**16


def supports(_device: torch.device) -> bool:
    """Tell whether tensors on this device can be taken."""
    return True


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, _threads: int = 1
) -> Tensor:
    """Give every token's own score, (T, K)."""
    _check_slots(positions.slots, calibration.shape[1])
    pieces = [
        _piece_scores(slots, fractions, calibration, vertices, layout)
        for slots, fractions in zip(
            torch.split(positions.slots, _PIECE, dim=1),
            torch.split(positions.fractions, _PIECE, dim=1),
            strict=True,
        )
    ]
    return torch.cat(pieces, dim=1).T


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


def _check_slots(slots: Tensor, n_slots: int) -> None:
    if slots.numel() and (slots.min() < 0 or slots.max() >= n_slots):
        raise slot_error(n_slots)


def _piece_scores(
    slots: Tensor, fractions: Tensor, calibration: Tensor, vertices: Tensor, layout: Layout
) -> Tensor:
    # Shapes: calibrated (K, D, T), what _interpolate gives (K, T).
    table = torch.cat([calibration, calibration[:, -1:]], dim=1)
    below, above = table[:, slots.long()], table[:, slots.long() + 1]
    calibrated = (below + fractions * (above - below)).clamp(0.0, 1.0)
    lattices = [
        _interpolate(
            calibrated[:, list(subset)],
            vertices[:, layout.vertex_offsets[e] : layout.vertex_offsets[e + 1]],
            [layout.sizes[feature] for feature in subset],
            layout.strides(e),
        )
        for e, subset in enumerate(layout.subsets)
    ]
    return torch.stack(lattices).mean(dim=0)


def _interpolate(calibrated: Tensor, vertices: Tensor, sizes: list[int], strides: tuple[int, ...]) -> Tensor:
    """Read one lattice (K, vertices) at the calibrated values (K, features, T)."""
    last_vertex = torch.tensor(sizes, device=vertices.device)[:, None] - 1
    coordinates = calibrated * last_vertex
    # A coordinate on a vertex belongs to the cell above it, except on the last vertex, which has none above.
    cells = torch.minimum(coordinates.detach().long().clamp(min=0), last_vertex - 1)
    within = coordinates - cells

    corners = torch.zeros(1, dtype=torch.int64, device=vertices.device)
    for stride in strides:
        corners = (corners[:, None] + torch.tensor([0, stride], device=vertices.device)).flatten()
    lowest = (cells * torch.tensor(strides, device=vertices.device)[:, None]).sum(dim=1)
    outputs = torch.arange(vertices.shape[0], device=vertices.device)[:, None, None]
    values = vertices[outputs, lowest[:, :, None] + corners]
    for feature in reversed(range(len(sizes))):
        low, high = values[..., 0::2], values[..., 1::2]
        values = low + within[:, feature, :, None] * (high - low)
    return values[..., 0]
