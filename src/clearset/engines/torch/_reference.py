"""phi, crossed phi and rho in plain torch: slow, on any device, and what the other kernels are compared with."""

from __future__ import annotations

import torch
from torch import Tensor

from clearset.engines._checked_contents import check_contents, check_crossed_contents, tokens_of_sets
from clearset.engines.torch._inputs import CrossedInputs, CrossedTokens, TokenPositions, crossed_positions
from clearset.engines.torch._interpolate import interpolate_lattice, interpolate_line
from clearset.functions import Layout


def supports(_device: torch.device) -> bool:
    """Return whether tensors on this device can be taken."""
    return True


def phi_scores(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, _threads: int = 1
) -> Tensor:
    """Return every token's own score, (T, K)."""
    check_contents(positions.slots.cpu().numpy(), positions.offsets.cpu().numpy(), calibration.shape[1])
    calibrated = _calibrate_slots(calibration, positions.slots, positions.fractions)
    lattices = [
        interpolate_lattice(
            calibrated[:, :, list(subset)],
            vertices[:, layout.vertex_offsets[e] : layout.vertex_offsets[e + 1]],
            [layout.sizes[feature] for feature in subset],
        )
        for e, subset in enumerate(layout.subsets)
    ]
    return torch.stack(lattices).mean(dim=0)


def phi_mean(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, _threads: int = 1
) -> Tensor:
    """Return the mean score of every set, (B, K)."""
    scores = phi_scores(positions, calibration, vertices, layout)
    return _means(scores, positions.offsets.diff())


def crossed_scores(inputs: CrossedInputs, _threads: int = 1) -> Tensor:
    """Return the scores of every token of the chosen sets for every class, (N, C, K)."""
    tokens, _, values, corrections, keypoints, calibration, vertices, layout = inputs
    chosen, _ = _checked_tokens(inputs)
    calibrated = _calibrate_slots(calibration, tokens.slots[:, chosen], tokens.fractions[:, chosen])
    half, n_outputs = layout.n_vertices // 2, len(vertices)
    low, high = vertices[:, :half], vertices[:, half:]
    if layout.n_features == 1:
        low, high = low.T.expand(len(chosen), n_outputs), high.T.expand(len(chosen), n_outputs)
    else:
        low = interpolate_lattice(calibrated, low, layout.sizes[1:])
        high = interpolate_lattice(calibrated, high, layout.sizes[1:])
    crossed = _calibrate_values(tokens, chosen, values, corrections, keypoints, calibration)
    return low[:, None] + (high - low)[:, None] * crossed.clamp(0.0, 1.0)


def crossed_mean(inputs: CrossedInputs, _threads: int = 1) -> Tensor:
    """Return the mean scores of the chosen sets for every class, (b, C, K)."""
    scores = crossed_scores(inputs)
    _, sizes = _checked_tokens(inputs)
    return _means(scores.flatten(1), sizes).reshape(len(sizes), *scores.shape[1:])


def _checked_tokens(inputs: CrossedInputs) -> tuple[Tensor, Tensor]:
    """Return the numbers of the tokens of the chosen sets, and the sets' sizes."""
    crossed, device = crossed_positions(inputs), inputs.sets.device
    chosen, sizes = tokens_of_sets(crossed, inputs.sets.cpu().numpy())
    corrections = None if inputs.corrections is None else inputs.corrections.detach().cpu().numpy()
    check_crossed_contents(crossed, chosen, corrections, inputs.calibration.shape[1])
    return torch.from_numpy(chosen).to(device), torch.from_numpy(sizes).to(device)


def rho(means: Tensor, calibrators: Tensor, vertices: Tensor, output: Tensor) -> Tensor:
    """Return the outputs of every set, (B, C)."""
    n_functions, width = len(output), len(calibrators) // len(output)
    calibrated = _calibrate(calibrators, means).reshape(len(means), n_functions, width)
    return _calibrate(output, interpolate_lattice(calibrated, vertices, (2,) * width))


def _calibrate_slots(calibration: Tensor, slots: Tensor, fractions: Tensor) -> Tensor:
    """Read the calibration (K, S) at slots and fractions (D, T): (T, K, D)."""
    table = torch.cat([calibration, calibration[:, -1:]], dim=1)
    at = slots.T.long()
    below, above = table[:, at], table[:, at + 1]
    return (below + fractions.T * (above - below)).transpose(0, 1)


def _calibrate_values(
    tokens: CrossedTokens,
    chosen: Tensor,
    values: Tensor,
    corrections: Tensor | None,
    keypoints: Tensor,
    calibration: Tensor,
) -> Tensor:
    """Read the first columns of the calibration at every class's value of the chosen tokens: (N, C, K)."""
    rows, refined = tokens.rows[chosen].long(), tokens.corrected[chosen].long()
    known = rows >= 0
    used = values.new_zeros((len(chosen), values.shape[1]))
    used[known] = values.detach()[rows[known]]
    if corrections is not None:
        corrected = (refined >= 0).nonzero().squeeze(1)
        used = used.index_add(0, corrected, corrections[refined[corrected]])
    used = used.clamp(keypoints[0], keypoints[-1])
    segments = torch.searchsorted(keypoints, used.detach(), right=True) - 1
    segments = segments.clamp(0, len(keypoints) - 2)
    fractions = (used - keypoints[segments]) / keypoints.diff()[segments]
    below, above = calibration[:, segments], calibration[:, segments + 1]
    missing = calibration[:, len(keypoints), None, None]
    return torch.where(known[:, None], below + fractions * (above - below), missing).permute(1, 2, 0)


def _means(scores: Tensor, sizes: Tensor) -> Tensor:
    """Take the mean of the scores (T, K) over sets of these sizes, one after the other: (B, K)."""
    set_of_token = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
    # Sums in double: in single precision a set of millions of tokens would lose most digits of its mean.
    sums = scores.new_zeros((len(sizes), scores.shape[1]), dtype=torch.float64)
    sums = sums.index_add(0, set_of_token, scores.double())
    return (sums / sizes[:, None]).to(scores.dtype)


def _calibrate(table: Tensor, inputs: Tensor) -> Tensor:
    """Read tables (N, V), with keypoints uniform on [-1, 1], at the inputs (B, N)."""
    n_segments = table.shape[1] - 1
    place = (inputs.clamp(-1.0, 1.0) + 1.0) * (n_segments / 2)
    segment = place.detach().long().clamp(0, n_segments - 1)
    return interpolate_line(table, segment, place - segment)
