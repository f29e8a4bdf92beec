"""Which kernel does the work."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol

import torch
from torch import Tensor

from clearset.engines.torch import _reference
from clearset.engines.torch._inputs import CrossedInputs, TokenPositions
from clearset.functions import Layout


class Kernel(Protocol):
    """What a module of this package offers to be a kernel."""

    def supports(self, device: torch.device, /) -> bool:
        """Return whether tensors on this device can be taken."""

    def phi_mean(
        self,
        positions: TokenPositions,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
        /,
    ) -> Tensor:
        """Return the mean score of every set, (B, K)."""

    def phi_scores(
        self,
        positions: TokenPositions,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
        /,
    ) -> Tensor:
        """Return every token's own score, (T, K)."""

    def crossed_mean(self, inputs: CrossedInputs, threads: int, /) -> Tensor:
        """Return the mean scores of the chosen sets for every class, (b, C, K)."""

    def crossed_scores(self, inputs: CrossedInputs, threads: int, /) -> Tensor:
        """Return the scores of every token of the chosen sets for every class, (N, C, K)."""

    def rho(self, means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor, /) -> Tensor:
        """Return the outputs of every set, (B, C)."""


# The fastest first. Without the compiled module everything works, slower.
_KERNELS: dict[str, Kernel] = {}
if find_spec("clearset._native") is not None:
    from clearset.engines.torch import _autograd

    _KERNELS["native"] = _autograd
_KERNELS["reference"] = _reference


def available_kernels() -> tuple[str, ...]:
    """Return the names of the kernels that this installation has, the fastest first.

    Examples
    --------
    >>> available_kernels()[-1]
    'reference'
    """
    return tuple(_KERNELS)


def choose_kernel(name: str | None, device: torch.device) -> Kernel:
    """Return the kernel of this name, or the fastest one that can take tensors on the device."""
    if name is None:
        for kernel in _KERNELS.values():
            if kernel.supports(device):
                return kernel
    if name not in _KERNELS:
        raise ValueError(f"kernel {name!r} is not available; choose one of {available_kernels()}, or None.")
    if not _KERNELS[name].supports(device):
        raise ValueError(f"kernel {name!r} cannot take tensors on {device}; move them, or use kernel=None.")
    return _KERNELS[name]
