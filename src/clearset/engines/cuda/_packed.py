"""Positions of tokens as the quick kernels read them: packed and resident in the memory of a device."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearset.engines.cuda._structs import PackedStruct, on_device
from clearset.sets import PackedSets

SLOT_BITS, FRACTION_BITS = 9, 23
# Tokens are read 32 at a time, and some of them behind the last one.
LANES, ROOM = 32, 256
# Of packed sets, so many tokens are copied at a time.
BLOCK_TOKENS = 2**24


@dataclass(frozen=True, eq=False)
class PackedTokens:
    """Tokens of whole sets on a device.

    Attributes
    ----------
    positions : Tensor of int32, shape (D, stride)
        9 bits of slot, counted from the first slot of the feature, and 23 bits of fraction.
    offsets : Tensor of int64, shape (B + 1,)
        Where the tokens of each set begin.
    starts : Tensor of int32
        A bit for each token: whether a set begins there.
    before : Tensor of int32
        How many sets begin before each 32 tokens.
    """

    positions: Tensor
    offsets: Tensor
    starts: Tensor
    before: Tensor

    @classmethod
    def of(cls, sets: PackedSets, repeated: int, device: torch.device) -> "PackedTokens":
        """Copy sets to a device, block by block; behind the last one the first ones stand once more."""
        n_tokens, n_again = sets.n_tokens, int(sets.offsets[repeated])
        offsets = on_device(np.concatenate([sets.offsets, n_tokens + sets.offsets[1 : repeated + 1]]), device)
        stride = -(-(n_tokens + n_again) // LANES) * LANES + ROOM
        positions = torch.zeros((sets.n_features, stride), dtype=torch.int32, device=device)
        for start, stop in sets.blocks(BLOCK_TOKENS):
            first, last = int(sets.offsets[start]), int(sets.offsets[stop])
            positions[:, first:last] = _feature_by_feature(sets.between(start, stop), device)
        positions[:, n_tokens : n_tokens + n_again] = positions[:, :n_again].clone()
        return cls.from_positions(positions, offsets)

    @classmethod
    def from_positions(cls, positions: Tensor, offsets: Tensor) -> "PackedTokens":
        """Find where sets begin; positions have room for whole runs of 32 tokens."""
        n_words = positions.shape[1] // LANES
        begins = torch.zeros(n_words * LANES, dtype=torch.bool, device=positions.device)
        begins[offsets[:-1]] = True
        counts = begins.view(-1, LANES).sum(1, dtype=torch.int32)
        before = torch.cumsum(counts, 0, dtype=torch.int32) - counts
        bits = torch.arange(LANES, device=positions.device, dtype=torch.int64)
        starts = torch.empty(n_words, dtype=torch.int32, device=positions.device)
        for piece in range(0, n_words, 2**20):
            words = begins[piece * LANES : (piece + 2**20) * LANES].view(-1, LANES).to(torch.int64)
            starts[piece : piece + 2**20] = (words << bits).sum(1).to(torch.int32)
        return cls(positions, offsets, starts, before)

    @property
    def pointers(self) -> Any:
        """What kernels take."""
        addresses = (tensor.data_ptr() for tensor in (self.offsets, self.starts, self.before))
        return PackedStruct(self.positions.data_ptr(), self.positions.shape[1], *addresses)


def _feature_by_feature(sets: PackedSets, device: torch.device) -> Tensor:
    """Return the positions of some packed sets, (D, T), with 9 bits of slot each."""
    sizes, offsets = on_device(np.diff(sets.offsets), device), on_device(sets.offsets, device)
    packed = on_device(np.asarray(sets.packed).view(np.int32), device)
    # Feature d of token i of a set stands d times the set's size behind feature 0.
    begins = torch.repeat_interleave((sets.n_features - 1) * offsets[:-1], sizes)
    places = begins + torch.arange(sets.n_tokens, device=device)
    apart = torch.repeat_interleave(sizes, sizes)
    rows = []
    for d, bits in enumerate(sets.bits.tolist()):
        position = packed[places + d * apart].to(torch.int64) & 0xFFFFFFFF
        slots, rest = position >> 32 - bits, position & (1 << 32 - bits) - 1
        rows.append((slots << FRACTION_BITS | rest >> SLOT_BITS - bits).to(torch.int32))
    return torch.stack(rows)
