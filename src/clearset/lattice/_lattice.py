"""Lattices: interpolated look-up tables over several inputs."""

from collections.abc import Sequence
from math import prod

from torch import Tensor, nn

from clearset.lattice._interpolate import interpolate_lattice


class Lattice(nn.Module):
    """N lattices over D inputs in [0, 1].

    Parameters
    ----------
    sizes
        Vertices along each of the D inputs, at least 2.
    vertices
        ``(N, prod(sizes))`` initial values, in C order.

    Examples
    --------
    >>> import torch
    >>> maximum = Lattice((2, 2), torch.tensor([[0.0, 1.0, 1.0, 1.0]]))
    >>> maximum(torch.tensor([[[1.0, 0.5]], [[0.0, 0.5]]])).detach()
    tensor([[1.0000],
            [0.5000]])
    """

    def __init__(self, sizes: Sequence[int], vertices: Tensor) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        if not self.sizes or min(self.sizes) < 2:
            raise ValueError(
                f"A lattice needs at least 2 vertices along every input; received sizes {self.sizes}."
            )
        if vertices.ndim != 2 or vertices.shape[1] != prod(self.sizes):
            raise ValueError(
                f"A lattice of sizes {self.sizes} has {prod(self.sizes)} vertices; received shape "
                f"{tuple(vertices.shape)}."
            )
        self.vertices = nn.Parameter(vertices)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map ``(B, N, D)`` inputs to ``(B, N)`` outputs."""
        return interpolate_lattice(inputs, self.vertices, self.sizes)

    def extra_repr(self) -> str:
        """Describe the layer in a model's print-out."""
        return f"{self.vertices.shape[0]} lattices of {' x '.join(map(str, self.sizes))}"
