"""phi: a token's scores, and their mean over each set."""

from __future__ import annotations

from torch import Tensor

from clearset.engines.torch._dispatch import choose_kernel
from clearset.engines.torch._inputs import TokenPositions, check_inputs
from clearset.functions import Layout


def phi_mean(
    positions: TokenPositions,
    calibration: Tensor,
    vertices: Tensor,
    layout: Layout,
    *,
    threads: int = 1,
    kernel: str | None = None,
) -> Tensor:
    """Calibrate every token, read the lattices of phi, and take the mean over each set.

    Parameters
    ----------
    positions : TokenPositions
        Where the tokens stand in the calibrators.
    calibration : Tensor of shape (K, S)
        Calibrated value of every slot, for each of the K outputs. Outside [0, 1] values are clamped.
    vertices : Tensor of shape (K, P)
        Lattice values in the order of `layout`.
    layout : Layout
        The lattices; a token's score is the mean over them.
    threads : int, default=1
        Threads of the native kernel. The result has the same bits for any number of them.
    kernel : {"native", "reference"}, optional
        By default the fastest one that can take the tensors.

    Returns
    -------
    Tensor of shape (B, K)
        Differentiable in `calibration` and `vertices`. The gradient through a clamped value is 0.

    Examples
    --------
    >>> import torch
    >>> positions = TokenPositions(
    ...     slots=torch.tensor([[0, 1, 2]], dtype=torch.int32),
    ...     fractions=torch.tensor([[0.5, 0.0, 0.0]]),
    ...     offsets=torch.tensor([0, 2, 3]),
    ... )
    >>> calibration = torch.tensor([[0.0, 1.0, 0.5]])
    >>> vertices = torch.tensor([[-1.0, 1.0]])
    >>> phi_mean(positions, calibration, vertices, Layout.full((2,)))
    tensor([[0.5000],
            [0.0000]])
    """
    check_inputs(positions, calibration, vertices, layout, threads)
    chosen = choose_kernel(kernel, calibration.device)
    return chosen.phi_mean(positions, calibration, vertices, layout, threads)


def phi_scores(
    positions: TokenPositions,
    calibration: Tensor,
    vertices: Tensor,
    layout: Layout,
    *,
    threads: int = 1,
    kernel: str | None = None,
) -> Tensor:
    """Calibrate every token and read the lattices of phi.

    Parameters and gradients are those of `phi_mean`.

    Returns
    -------
    Tensor of shape (T, K)
        Every token's own scores.

    Examples
    --------
    >>> import torch
    >>> positions = TokenPositions(
    ...     slots=torch.tensor([[0, 1, 2]], dtype=torch.int32),
    ...     fractions=torch.tensor([[0.5, 0.0, 0.0]]),
    ...     offsets=torch.tensor([0, 2, 3]),
    ... )
    >>> calibration = torch.tensor([[0.0, 1.0, 0.5]])
    >>> vertices = torch.tensor([[-1.0, 1.0]])
    >>> phi_scores(positions, calibration, vertices, Layout.full((2,)))
    tensor([[0.],
            [1.],
            [0.]])
    """
    check_inputs(positions, calibration, vertices, layout, threads)
    chosen = choose_kernel(kernel, calibration.device)
    return chosen.phi_scores(positions, calibration, vertices, layout, threads)
