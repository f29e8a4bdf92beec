"""Interpolation in tables: the two formulas that every layer is made of."""

from collections.abc import Sequence

import torch
from torch import Tensor


def interpolate_line(table: Tensor, segment: Tensor, fraction: Tensor) -> Tensor:
    """Read piecewise-linear functions between their keypoints.

    Parameters
    ----------
    table : Tensor of shape (N, V)
        The values of N functions at their keypoints.
    segment : Tensor of int64, shape (B, N)
        The keypoint on the left of each input, at most V - 2.
    fraction : Tensor of shape (B, N)
        How far each input is on its way to the next keypoint, from 0 to 1.

    Returns
    -------
    Tensor of shape (B, N)

    Examples
    --------
    >>> table = torch.tensor([[0.0, 1.0, 3.0]])
    >>> interpolate_line(table, torch.tensor([[1]]), torch.tensor([[0.5]]))
    tensor([[2.]])
    """
    columns = segment.T
    left = table.gather(1, columns).T
    right = table.gather(1, columns + 1).T
    return left + fraction * (right - left)


def interpolate_lattice(inputs: Tensor, vertices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Interpolate multilinearly in the cell of each input.

    An input c in [0, 1] stands at ``c * (L - 1)`` along a dimension of L vertices; inputs outside are moved to the
    border. The cell is folded one dimension at a time, each fold a line between two halves.

    Parameters
    ----------
    inputs : Tensor of shape (B, N, D)
        B inputs for each of N lattices.
    vertices : Tensor of shape (N, P)
        The lattices' values, in C order over ``sizes``.
    sizes : sequence of int
        The D numbers of vertices, at least 2 each.

    Returns
    -------
    Tensor of shape (B, N)

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
    return values.reshape(n_inputs, n_lattices)
