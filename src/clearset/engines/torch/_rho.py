"""rho: from the means of token scores to a set's output."""

from __future__ import annotations

import torch
from torch import Tensor

from clearset.engines.torch._dispatch import choose_kernel


def rho(
    means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor, *, kernel: str | None = None
) -> Tensor:
    """Calibrate the means of every set, fuse them in a lattice, and calibrate the result.

    C set functions stand side by side; each one has K means of its own. The keypoints of all calibrators are
    uniform on [-1, 1], and inputs outside are moved to the ends.

    Parameters
    ----------
    means : Tensor of shape (B, C * K)
        The means of the token scores, function after function.
    calibrators : Tensor of shape (C * K, V)
        Calibrated value of every keypoint, for each mean. Outside [0, 1] values are clamped.
    vertices : Tensor of shape (C, 2 ** K)
        Values of each function's lattice, of size 2 in every input, in C order.
    output : Tensor of shape (C, V)
        Output at every keypoint, for what each lattice gives.
    kernel : {"native", "reference"}, optional
        By default the fastest one that can take the tensors.

    Returns
    -------
    Tensor of shape (B, C)
        Differentiable in all four tensors. The gradient through a clamped value is 0.

    Examples
    --------
    The larger of two means, doubled:

    >>> line = torch.tensor([0.0, 1.0])
    >>> maximum = torch.tensor([[-1.0, 1.0, 1.0, 1.0]])
    >>> rho(torch.tensor([[1.0, -0.5], [-1.0, 0.5]]), line.repeat(2, 1), maximum, torch.tensor([[-2.0, 2.0]]))
    tensor([[2.],
            [1.]])
    """
    _check(means, calibrators, vertices, output)
    return choose_kernel(kernel, means.device).rho(means, calibrators, vertices, output)


def _check(means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor) -> None:
    dtype, device = means.dtype, means.device
    if not (dtype == calibrators.dtype == vertices.dtype == output.dtype) or not (
        dtype == torch.float32 or dtype == torch.float64
    ):
        dtypes = ", ".join(str(tensor.dtype) for tensor in (means, calibrators, vertices, output))
        raise TypeError(
            f"means, calibrators, vertices and output are {dtypes}; "
            "all four must be torch.float32 or all four torch.float64. Convert with .to(dtype)."
        )
    if not (device == calibrators.device == vertices.device == output.device):
        devices = {str(tensor.device) for tensor in (means, calibrators, vertices, output)}
        raise ValueError(f"Tensors are on {sorted(devices)}; move means and parameters to one device.")
    if not _shapes_fit(means.shape, calibrators.shape, vertices.shape, output.shape):
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (means, calibrators, vertices, output))
        raise ValueError(
            f"means, calibrators, vertices and output have the shapes {shapes}; with C functions of K means and "
            "V keypoints (at least 2) they must be (B, C * K), (C * K, V), (C, 2 ** K), (C, V)."
        )


def _shapes_fit(means: torch.Size, calibrators: torch.Size, vertices: torch.Size, output: torch.Size) -> bool:
    if len(means) != 2 or len(output) != 2 or output[0] < 1 or output[1] < 2:
        return False
    width = means[1] // output[0]
    return (
        width >= 1
        and means[1] == output[0] * width
        and calibrators == (means[1], output[1])
        and vertices == (output[0], 2**width)
    )
