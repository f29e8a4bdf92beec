"""The native kernels as differentiable operations on tensors on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearset.engines import _native_calls as native
from clearset.engines._checked_contents import check_contents, tokens_of_sets
from clearset.engines.torch._inputs import CrossedInputs, TokenPositions, crossed_positions, plain_positions
from clearset.functions import Layout


def supports(device: torch.device) -> bool:
    """Return whether tensors on this device can be taken."""
    return device.type == "cpu"


def phi_mean(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Return the mean score of every set, (B, K), the same bits whatever the number of threads."""
    means: Tensor = _PhiMean.apply(positions, calibration, vertices, layout, threads)  # type: ignore[no-untyped-call]
    return means


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> Tensor:
    """Return every token's own score, (T, K): the means of sets of one token each."""
    check_contents(positions.slots.numpy(), positions.offsets.numpy(), calibration.shape[1])
    alone = positions._replace(offsets=torch.arange(positions.n_tokens + 1))
    return phi_mean(alone, calibration, vertices, layout, threads)


def crossed_mean(inputs: CrossedInputs, threads: int) -> Tensor:
    """Return the mean scores of the chosen sets for every class, the same bits whatever the number of threads."""
    means: Tensor = _CrossedMean.apply(  # type: ignore[no-untyped-call]
        inputs, inputs.corrections, inputs.calibration, inputs.vertices, threads
    )
    return means


def crossed_scores(inputs: CrossedInputs, threads: int) -> Tensor:
    """Return the scores of every token of the chosen sets for every class: the means of sets of one token each."""
    chosen, _ = tokens_of_sets(crossed_positions(inputs), inputs.sets.numpy())
    tokens = inputs.tokens._replace(offsets=torch.arange(inputs.tokens.n_tokens + 1))
    return crossed_mean(inputs._replace(tokens=tokens, sets=torch.from_numpy(chosen)), threads)


def rho(means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor) -> Tensor:
    """Return the outputs of every set, (B, C)."""
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
        ctx.positions, ctx.layout, ctx.threads = plain_positions(positions), layout, threads
        ctx.save_for_backward(calibration, vertices)
        tables = _arrays(calibration, vertices)
        return torch.from_numpy(native.phi_mean(ctx.positions, tables[0], tables[1], layout, threads))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_means: Tensor) -> tuple[Tensor | None, ...]:
        calibration, vertices, upstream = _arrays(*ctx.saved_tensors, grad_means)
        gradients = native.phi_gradients(
            ctx.positions, calibration, vertices, ctx.layout, ctx.threads, upstream
        )
        return None, *map(torch.from_numpy, gradients), None, None


class _CrossedMean(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: CrossedInputs,
        corrections: Tensor | None,
        calibration: Tensor,
        vertices: Tensor,
        threads: int,
    ) -> Tensor:
        ctx.crossed, ctx.sets, ctx.threads = crossed_positions(inputs), inputs.sets.numpy(), threads
        ctx.refines = corrections is not None
        ctx.save_for_backward(calibration, vertices, *(() if corrections is None else (corrections,)))
        tables = _arrays(calibration, vertices)
        amounts = None if corrections is None else _arrays(corrections)[0]
        means = native.crossed_mean(ctx.crossed, ctx.sets, amounts, tables[0], tables[1], threads)
        return torch.from_numpy(means)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_means: Tensor) -> tuple[Tensor | None, ...]:
        calibration, vertices, *corrections = _arrays(*ctx.saved_tensors)
        amounts = corrections[0] if corrections else None
        gradients = native.crossed_gradients(
            ctx.crossed, ctx.sets, amounts, calibration, vertices, ctx.threads, *_arrays(grad_means)
        )
        by_calibration, by_vertices, by_corrections = map(torch.from_numpy, gradients)
        return None, by_corrections if ctx.refines else None, by_calibration, by_vertices, None


class _Rho(torch.autograd.Function):
    """Keeps nothing for the way back but the inputs."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs)
        means, calibrators, vertices, output = _arrays(*inputs)
        return torch.from_numpy(native.rho(means, calibrators, vertices, output))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_outputs: Tensor) -> tuple[Tensor, ...]:
        means, calibrators, vertices, output, upstream = _arrays(*ctx.saved_tensors, grad_outputs)
        gradients = native.rho_gradients(means, calibrators, vertices, output, upstream)
        return tuple(map(torch.from_numpy, gradients))


def _arrays(*tensors: Tensor) -> list[np.ndarray]:
    return [tensor.detach().numpy() for tensor in tensors]
