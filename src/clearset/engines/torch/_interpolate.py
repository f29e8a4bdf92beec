"""Interpolation in tables: the two formulas that every layer is made of."""

from collections.abc import Sequence

import torch
from torch import Tensor


def interpolate_lines(inputs: Tensor, table: Tensor) -> Tensor:
    """Read N piecewise-linear functions, ``table (N, V)``, at ``inputs (B, N)``.

    Keypoints are uniform on [-1, 1]; inputs outside are moved to the ends.

    Examples
    --------
    >>> interpolate_lines(torch.tensor([[0.5], [7.0]]), torch.tensor([[0.0, 1.0, 3.0]]))
    tensor([[2.],
            [3.]])
    """
    n_segments = table.shape[1] - 1
    place = (inputs.clamp(-1.0, 1.0) + 1.0) * (n_segments / 2)
    segment = place.detach().long().clamp(0, n_segments - 1)
    left, right = table.gather(1, segment.T).T, table.gather(1, segment.T + 1).T
    return left + (place - segment) * (right - left)


def interpolate_lattice(inputs: Tensor, vertices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Interpolate ``inputs (B, N, D)`` multilinearly in N lattices, ``vertices (N, P)`` in C order over D `sizes`.

    An input c in [0, 1] stands at ``c * (L - 1)`` along a dimension of L vertices; inputs outside are moved to the
    border. The cell is folded one dimension at a time, each fold a line between two halves.

    Examples
    --------
    >>> product = torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    >>> interpolate_lattice(torch.tensor([[[0.5, 0.4]]]), product, (2, 2))
    tensor([[0.2000]])
    """
    n_inputs, n_lattices, _ = inputs.shape
    values, n_left = vertices.unsqueeze(0), vertices.shape[1]
    for d, size in enumerate(sizes):
        n_left //= size
        place = inputs[:, :, d].clamp(0.0, 1.0) * (size - 1)
        values = values.reshape(len(values), n_lattices, size, n_left)
        if size == 2:
            fraction, low, high = place.unsqueeze(-1), values[:, :, 0], values[:, :, 1]
        else:
            cell = place.detach().to(torch.int64).clamp_(0, size - 2)
            fraction = (place - cell).unsqueeze(-1)
            index = cell[:, :, None, None].expand(-1, -1, 1, n_left)
            values = values.expand(n_inputs, -1, -1, -1)
            low, high = values.gather(2, index).squeeze(2), values.gather(2, index + 1).squeeze(2)
        values = low + fraction * (high - low)
    return values.expand(n_inputs, -1, 1).reshape(n_inputs, n_lattices)
