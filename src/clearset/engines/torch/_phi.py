"""phi: the scores of tokens, and their means over sets.

The formulas are differentiable in tables, fractions and corrections. The gradient through a clamped value is 0.
"""

import torch
from torch import Tensor

from clearset.engines.torch._interpolate import interpolate_lattice
from clearset.engines.torch._tokens import CrossedTokens, TokenPositions
from clearset.functions import Layout


def phi_scores(tokens: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout) -> Tensor:
    """Return the ``(T, K)`` scores of tokens: the mean of lattices of calibrated values."""
    # `calibration (K, S)` holds the value of every slot, which is clamped to [0, 1]; `vertices (K, P)` the lattices'
    # values in the order of `layout`.
    calibrated = _calibrate(calibration, tokens.slots, tokens.fractions)
    lattices = [
        interpolate_lattice(
            calibrated[:, :, list(subset)],
            vertices[:, layout.vertex_offsets[e] : layout.vertex_offsets[e + 1]],
            [layout.sizes[feature] for feature in subset],
        )
        for e, subset in enumerate(layout.subsets)
    ]
    return torch.stack(lattices).mean(dim=0)


def crossed_scores(tokens: CrossedTokens, calibration: Tensor, vertices: Tensor, corrections: Tensor | None) -> Tensor:
    """Return the ``(T, C, K)`` scores of tokens for each of C classes, by a lattice of size 2 in each of D features."""
    # Only the first feature differs between the classes, so that for a token and a score the lattice folds to a line
    # over that feature's calibrated value. Columns 0 to V - 1 of `calibration (K, S)` are the first feature's
    # keypoints, column V is its "missing"; `vertices (K, 2 ** D)` are in C order. `corrections (M, C)` are added to the
    # values of the tokens that are corrected.
    calibrated = _calibrate(calibration, tokens.slots, tokens.fractions)
    sizes = (2,) * len(tokens.slots)
    low, high = (interpolate_lattice(calibrated, half, sizes) for half in vertices.chunk(2, dim=1))
    crossed = _calibrate_values(tokens, calibration, corrections).clamp(0.0, 1.0)
    return low[:, None] + (high - low)[:, None] * crossed


def set_means(scores: Tensor, offsets: Tensor) -> Tensor:
    """Take the mean of the scores (T, ...) over each set: (B, ...)."""
    sizes = offsets.diff()
    set_of_token = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
    # Sums in double: in single precision a set of millions of tokens would lose most digits of its mean.
    sums = scores.new_zeros((len(sizes), *scores.shape[1:]), dtype=torch.float64)
    sums = sums.index_add(0, set_of_token, scores.double())
    return (sums / sizes.reshape(-1, *[1] * (scores.ndim - 1))).to(scores.dtype)


def _calibrate(calibration: Tensor, slots: Tensor, fractions: Tensor) -> Tensor:
    """Read the calibration (K, S) at slots and fractions (D, T): (T, K, D)."""
    table = torch.cat([calibration, calibration[:, -1:]], dim=1)
    at = slots.T.long()
    below, above = table[:, at], table[:, at + 1]
    return (below + fractions.T * (above - below)).transpose(0, 1)


def _calibrate_values(tokens: CrossedTokens, calibration: Tensor, corrections: Tensor | None) -> Tensor:
    """Read the first columns of the calibration at every class's value of every token: (T, C, K)."""
    rows, keypoints = tokens.rows.long(), tokens.keypoints.contiguous()
    known = rows >= 0
    used = tokens.values.new_zeros((len(rows), tokens.values.shape[1]))
    used[known] = tokens.values[rows[known]]
    if corrections is not None:
        corrected = (tokens.corrected >= 0).nonzero().squeeze(1)
        used = used.index_add(0, corrected, corrections[tokens.corrected[corrected].long()])
    used = used.clamp(keypoints[0], keypoints[-1])
    segments = torch.searchsorted(keypoints, used.detach(), right=True) - 1
    segments = segments.clamp(0, len(keypoints) - 2)
    fractions = (used - keypoints[segments]) / keypoints.diff()[segments]
    below, above = calibration[:, segments], calibration[:, segments + 1]
    missing = calibration[:, len(keypoints), None, None]
    return torch.where(known[:, None], below + fractions * (above - below), missing).permute(1, 2, 0)
