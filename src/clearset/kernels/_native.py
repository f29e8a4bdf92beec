"""phi, crossed phi and rho in C++ (``native/phi.cpp``, ``crossed.cpp``, ``rho.cpp``), for tensors on the CPU.

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

from clearset.kernels._inputs import (
    CrossedInputs,
    CrossedTokens,
    TokenPositions,
    check_contents,
    check_crossed_contents,
    tokens_of_sets,
)
from clearset.kernels._layout import Layout

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")

_PHI_FORWARD = {torch.float32: _native.phi_forward_float32, torch.float64: _native.phi_forward_float64}
_PHI_BACKWARD = {torch.float32: _native.phi_backward_float32, torch.float64: _native.phi_backward_float64}
_CROSSED_FORWARD = {
    torch.float32: _native.crossed_forward_float32,
    torch.float64: _native.crossed_forward_float64,
}
_CROSSED_BACKWARD = {
    torch.float32: _native.crossed_backward_float32,
    torch.float64: _native.crossed_backward_float64,
}
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


def crossed_mean(inputs: CrossedInputs, threads: int) -> Tensor:
    """Give the mean scores of the chosen sets for every class, the same bits whatever the number of threads."""
    means: Tensor = _CrossedMean.apply(*inputs, threads)  # type: ignore[no-untyped-call]
    return means


def crossed_scores(inputs: CrossedInputs, threads: int) -> Tensor:
    """Give the scores of every token of the chosen sets for every class: the means of sets of one token each."""
    tokens = inputs.tokens
    chosen, _ = tokens_of_sets(tokens, inputs.sets)
    alone = tokens._replace(offsets=torch.arange(tokens.n_tokens + 1))
    return crossed_mean(inputs._replace(tokens=alone, sets=chosen), threads)


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
        try:
            _PHI_FORWARD[means.dtype](*arguments, *_addresses(*tensors, means))
        except ValueError:
            check_contents(positions, n_slots)  # which says what it is
            raise
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
    return _native.PhiLayout(layout.sizes, layout.subsets)


class _CrossedMean(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs."""

    @staticmethod
    def forward(
        ctx: Any,
        tokens: CrossedTokens,
        sets: Tensor,
        values: Tensor,
        corrections: Tensor | None,
        keypoints: Tensor,
        calibration: Tensor,
        vertices: Tensor,
        layout: Layout,
        threads: int,
    ) -> Tensor:
        table = values.new_empty((0, values.shape[1])) if corrections is None else corrections
        inputs = (*tokens, sets, values, table, keypoints, calibration, vertices)
        tensors = [tensor.contiguous() for tensor in inputs]
        ctx.sizes = _native.CrossedSizes(
            tokens.n_tokens,
            tokens.n_sets,
            len(sets),
            len(values),
            -1 if corrections is None else len(corrections),
            values.shape[1],
            *calibration.shape,
            len(keypoints),
            layout.n_features - 1,
        )
        ctx.threads = threads
        means = calibration.new_empty((len(sets), values.shape[1], len(calibration)))
        addresses = _native.CrossedInputs(*_addresses(*tensors))
        try:
            _CROSSED_FORWARD[means.dtype](threads, ctx.sizes, addresses, means.data_ptr())
        except ValueError:
            chosen, _ = tokens_of_sets(tokens, sets)  # these say what it is
            check_crossed_contents(tokens, chosen, values, corrections, calibration.shape[1])
            raise
        ctx.save_for_backward(*tensors)
        ctx.refines = corrections is not None
        return means

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_means: Tensor) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors
        grad_means = grad_means.contiguous()
        gradients = [torch.empty_like(tensors[i]) for i in (9, 10, 7)]
        _CROSSED_BACKWARD[grad_means.dtype](
            ctx.threads,
            ctx.sizes,
            _native.CrossedInputs(*_addresses(*tensors)),
            *_addresses(grad_means, *gradients),
        )
        by_corrections = gradients[2] if ctx.refines else None
        return None, None, None, by_corrections, None, gradients[0], gradients[1], None, None


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
