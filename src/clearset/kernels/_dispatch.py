"""Which kernel does the work."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol

import torch
from torch import Tensor

from clearset.kernels import _reference
from clearset.kernels._inputs import TokenPositions, check_inputs
from clearset.kernels._layout import Layout


class Kernel(Protocol):
    """What a module of this package offers to be a kernel."""

    def supports(self, device: torch.device, /) -> bool:
        """Tell whether tensors on this device can be taken."""

    def phi_mean(
        self,
        positions: TokenPositions,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
        /,
    ) -> Tensor:
        """Give the mean score of every set, (B, K)."""

    def phi_scores(
        self,
        positions: TokenPositions,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
        /,
    ) -> Tensor:
        """Give every token's own score, (T, K)."""


# The fastest first. Without the compiled module everything works, slower.
_KERNELS: dict[str, Kernel] = {}
if find_spec("clearset._native") is not None:
    from clearset.kernels import _native

    _KERNELS["native"] = _native
_KERNELS["reference"] = _reference


def available_kernels() -> tuple[str, ...]:
    """Name the kernels that this installation has, the fastest first.

    Examples
    --------
    >>> available_kernels()[-1]
    'reference'
    """
    return tuple(_KERNELS)


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
    check_inputs(positions, calibration, vertices, layout)
    chosen = _choose(kernel, calibration.device, threads)
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
    check_inputs(positions, calibration, vertices, layout)
    chosen = _choose(kernel, calibration.device, threads)
    return chosen.phi_scores(positions, calibration, vertices, layout, threads)


def _choose(name: str | None, device: torch.device, threads: int) -> Kernel:
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1.")
    if name is None:
        return next(kernel for kernel in _KERNELS.values() if kernel.supports(device))
    if name not in _KERNELS:
        raise ValueError(f"kernel {name!r} is not available; choose one of {available_kernels()}, or None.")
    if not _KERNELS[name].supports(device):
        raise ValueError(f"kernel {name!r} cannot take tensors on {device}; move them, or use kernel=None.")
    return _KERNELS[name]
