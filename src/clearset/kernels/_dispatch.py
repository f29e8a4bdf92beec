"""Which kernel does the work."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from torch import Tensor

from clearset.kernels import _reference
from clearset.kernels._inputs import TokenPositions, check_inputs
from clearset.kernels._layout import Layout

# Without the compiled module everything works, slower.
_native: ModuleType | None = None
if importlib.util.find_spec("clearset._native") is not None:
    from clearset.kernels import _native


def available_kernels() -> tuple[str, ...]:
    """Name the kernels that work on this machine, the fastest first.

    Examples
    --------
    >>> available_kernels()[-1]
    'reference'
    """
    return ("reference",) if _native is None else ("native", "reference")


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
    native = _choose(kernel, calibration, threads)
    if native is None:
        return _reference.phi_mean(positions, calibration, vertices, layout)
    means: Tensor = native.phi_mean(positions, calibration, vertices, layout, threads)
    return means


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
    native = _choose(kernel, calibration, threads)
    if native is None:
        return _reference.phi_scores(positions, calibration, vertices, layout)
    scores: Tensor = native.phi_scores(positions, calibration, vertices, layout, threads)
    return scores


def _choose(kernel: str | None, calibration: Tensor, threads: int) -> ModuleType | None:
    """Give the native kernel's module, or None for the reference."""
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1.")
    if kernel is not None and kernel not in available_kernels():
        raise ValueError(f"kernel {kernel!r} is not available; choose one of {available_kernels()}, or None.")
    on_cpu = calibration.device.type == "cpu"
    if kernel == "native" and not on_cpu:
        raise ValueError(f"kernel 'native' works on CPU tensors; received tensors on {calibration.device}.")
    return _native if on_cpu and kernel != "reference" else None
