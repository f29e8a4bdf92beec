"""phi in C++ (``native/phi.cpp``), for tensors on the CPU."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearset.kernels._inputs import TokenPositions, slot_error
from clearset.kernels._layout import Layout

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")


def supports(device: torch.device) -> bool:
    """Tell whether tensors on this device can be taken."""
    return device.type == "cpu"


def phi_mean(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Give the mean score of every set, (B, K), the same bits whatever the number of threads."""
    means: Tensor = _PhiMean.apply(*positions, calibration, vertices, layout, threads)  # type: ignore[no-untyped-call]
    return means


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Give every token's own score, (T, K): the means of sets of one token each."""
    alone = positions._replace(offsets=torch.arange(positions.n_tokens + 1))
    return phi_mean(alone, calibration, vertices, layout, threads)


class _PhiMean(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs: reading the lattices again is faster than memory."""

    @staticmethod
    def forward(
        ctx: Any,
        slots: Tensor,
        fractions: Tensor,
        offsets: Tensor,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
    ) -> Tensor:
        inputs = [
            tensor.detach().contiguous() for tensor in (slots, fractions, offsets, calibration, vertices)
        ]
        means = calibration.new_empty((offsets.shape[0] - 1, calibration.shape[0]))
        if not _native.phi_forward(_native_layout(layout), *inputs, threads, means):
            raise slot_error(calibration.shape[1])
        ctx.save_for_backward(*inputs)
        ctx.layout, ctx.threads = layout, threads
        return means

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_means: Tensor) -> tuple[Tensor | None, ...]:
        inputs = ctx.saved_tensors
        grad_calibration, grad_vertices = torch.empty_like(inputs[3]), torch.empty_like(inputs[4])
        _native.phi_backward(
            _native_layout(ctx.layout),
            *inputs,
            ctx.threads,
            grad_means.contiguous(),
            grad_calibration,
            grad_vertices,
        )
        return None, None, None, grad_calibration, grad_vertices, None, None


@lru_cache(maxsize=64)
def _native_layout(layout: Layout) -> Any:
    strides = [layout.strides(lattice) for lattice in range(len(layout.subsets))]
    return _native.PhiLayout(layout.sizes, layout.subsets, strides, layout.vertex_offsets)
