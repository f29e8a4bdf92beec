"""The linear embedding layer of deep lattice networks, monotone where its weights keep their sign."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class MonotoneLinear(nn.Module):
    """A linear layer that rises (+1) or falls (-1) in the inputs declared so.

    Call `project` after every optimiser step: it is the exact projection onto the sign constraints.

    Parameters
    ----------
    weights
        ``(N, D)`` initial weights.
    directions
        For each of the D inputs 1 (increasing), -1 (decreasing) or 0 (free).

    Examples
    --------
    >>> layer = MonotoneLinear(torch.tensor([[0.5, -0.5]]), directions=(1, 1))
    >>> layer.project()
    >>> layer(torch.tensor([[2.0, 3.0]])).detach()
    tensor([[1.]])
    """

    directions: Tensor

    def __init__(self, weights: Tensor, directions: Sequence[int]) -> None:
        super().__init__()
        if weights.ndim != 2 or weights.shape[1] != len(directions) or not set(directions) <= {-1, 0, 1}:
            raise ValueError(
                f"directions must hold -1, 0 or 1 for each of the {weights.shape[-1]} inputs; received "
                f"{tuple(directions)}."
            )
        self.weights = nn.Parameter(weights)
        self.bias = nn.Parameter(torch.zeros(len(weights), dtype=weights.dtype))
        self.register_buffer("directions", torch.tensor(directions, dtype=weights.dtype))

    def forward(self, inputs: Tensor) -> Tensor:
        """Map ``(B, D)`` inputs to ``(B, N)`` outputs."""
        return inputs @ self.weights.T + self.bias

    @torch.no_grad()
    def project(self) -> None:
        """Set weights of the wrong sign to zero."""
        self.weights[self.weights * self.directions < 0] = 0.0

    def extra_repr(self) -> str:
        """Describe the layer in a model's print-out."""
        return f"{self.weights.shape[1]} inputs, {self.weights.shape[0]} outputs"
