"""Positions of tokens as the quick kernels read them: packed and resident in the memory of a device."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines.cuda._structs import PackedStruct
from clearset.sets import Positions

FRACTION_BITS = 23
MOST_SLOTS_OF_A_FEATURE = 2 ** (32 - FRACTION_BITS)
# Tokens are read 32 at a time, and some of them behind the last one.
LANES, ROOM = 32, 256


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
    def of(
        cls, sets: Positions, slot_offsets: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64], device: torch.device
    ) -> "PackedTokens":
        """Copy the chosen sets to a device, in that order, one feature after the other."""
        all_offsets, numbers = (torch.from_numpy(array).to(device) for array in (sets.offsets, chosen))
        sizes = all_offsets.diff()[numbers]
        offsets = torch.zeros(len(chosen) + 1, dtype=torch.int64, device=device)
        torch.cumsum(sizes, 0, out=offsets[1:])
        n_tokens = int(offsets[-1])
        places = torch.repeat_interleave(all_offsets[numbers] - offsets[:-1], sizes)
        places += torch.arange(n_tokens, device=device)
        stride = -(-n_tokens // LANES) * LANES + ROOM
        positions = torch.zeros((len(sets.slots), stride), dtype=torch.int32, device=device)
        for d, (slots, fractions) in enumerate(zip(sets.slots, sets.fractions, strict=True)):
            there, beside = (torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in (slots, fractions))
            positions[d, :n_tokens] = pack(there, beside, int(slot_offsets[d]))[places]
        del places
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


def pack(slots: Tensor, fractions: Tensor, first_slot: int) -> Tensor:
    """Pack slots of one feature and fractions in [0, 1] into 32 bits each."""
    whole = 1 << FRACTION_BITS
    # A fraction of one becomes the largest below.
    parts = (fractions * whole).to(torch.int32).clamp_(max=whole - 1)
    return (slots - first_slot << FRACTION_BITS) | parts
