"""phi and rho in C++ (``native/phi.cpp``, ``native/rho.cpp``), for tensors on the CPU.

Tensors are handed over as addresses: types and shapes have been checked, and every tensor is held here for as long as
the call takes.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearset.kernels._inputs import TokenPositions, check_contents
from clearset.kernels._layout import Layout
from clearset.kernels._reference import crossed_mean, crossed_scores

__all__ = ["crossed_mean", "crossed_scores", "phi_mean", "phi_scores", "rho", "supports"]

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")

_PHI_FORWARD = {torch.float32: _native.phi_forward_float32, torch.float64: _native.phi_forward_float64}
_PHI_BACKWARD = {torch.float32: _native.phi_backward_float32, torch.float64: _native.phi_backward_float64}
_RHO_FORWARD = {torch.float32: _native.rho_forward_float32, torch.float64: _native.rho_forward_float64}
_RHO_BACKWARD = {torch.float32: _native.rho_backward_float32, torch.float64: _native.rho_backward_float64}


def supports(device: torch.device) -> bool:
    """Tell whether tensors on this device can be taken."""
    return device.type == "cpu"


def phi_mean(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Give the mean score of every set, (B, K), the same bits whatever the number of threads."""
    means: Tensor = _PhiMean.apply(positions, calibration, vertices, layout, threads)  # type: ignore[no-untyped-call]
    return means


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Give every token's own score, (T, K): the means of sets of one token each."""
    check_contents(positions, calibration.shape[1])
    alone = positions._replace(offsets=torch.arange(positions.n_tokens + 1))
    return phi_mean(alone, calibration, vertices, layout, threads)


def rho(means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor) -> Tensor:
    """Give the outputs of every set, (B, C)."""
    outputs: Tensor = _Rho.apply(means, calibrators, vertices, output)  # type: ignore[no-untyped-call]
    return outputs


class _PhiMean(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs: reading the lattices again is faster than memory."""

    @staticmethod
    def forward(
        ctx: Any,
        positions: TokenPositions,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
    ) -> Tensor:
        tensors = [tensor.contiguous() for tensor in (*positions, calibration, vertices)]
        n_outputs, n_slots = calibration.shape
        sizes = (positions.n_tokens, positions.n_sets, n_outputs, n_slots)
        means = calibration.new_empty((positions.n_sets, n_outputs))
        arguments = (_native_layout(layout), threads, *sizes)
        if not _PHI_FORWARD[means.dtype](*arguments, *_addresses(*tensors, means)):
            check_contents(positions, n_slots)
        ctx.save_for_backward(*tensors)
        ctx.arguments = arguments
        return means

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_means: Tensor) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors
        grad_means = grad_means.contiguous()
        grad_calibration, grad_vertices = torch.empty_like(tensors[3]), torch.empty_like(tensors[4])
        _PHI_BACKWARD[grad_means.dtype](
            *ctx.arguments, *_addresses(*tensors, grad_means, grad_calibration, grad_vertices)
        )
        return None, grad_calibration, grad_vertices, None, None


@lru_cache(maxsize=64)
def _native_layout(layout: Layout) -> Any:
    strides = [layout.strides(lattice) for lattice in range(len(layout.subsets))]
    return _native.PhiLayout(layout.sizes, layout.subsets, strides, layout.vertex_offsets)


class _Rho(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        inputs = tuple([tensor.contiguous() for tensor in inputs])
        (n_sets, n_means), (n_functions, n_keypoints) = inputs[0].shape, inputs[3].shape
        outputs = inputs[0].new_empty((n_sets, n_functions))
        arguments = (n_sets, n_functions, n_means // n_functions, n_keypoints)
        _RHO_FORWARD[outputs.dtype](*arguments, *_addresses(*inputs, outputs))
        ctx.save_for_backward(*inputs)
        ctx.arguments = arguments
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_outputs: Tensor) -> tuple[Tensor, ...]:
        inputs = ctx.saved_tensors
        grad_outputs = grad_outputs.contiguous()
        gradients = tuple([torch.empty_like(tensor) for tensor in inputs])
        _RHO_BACKWARD[grad_outputs.dtype](*ctx.arguments, *_addresses(*inputs, grad_outputs, *gradients))
        return gradients


def _addresses(*tensors: Tensor) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]
