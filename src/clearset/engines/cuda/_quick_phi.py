"""phi of one lattice of size 2 in up to ten features, in single precision, on packed tokens."""

import functools
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from clearset.engines.cuda._module import Module
from clearset.engines.cuda._packed import LANES, SLOT_BITS, PackedTokens
from clearset.engines.cuda._structs import Batch, on_device
from clearset.functions import Layout

MOST_FEATURES = 10
# From so many features on, lattices are multiplied by tensor cores.
LARGE = 7
MOST_WARPS = 12
# Sums of this many slots leave room for four warps on a processor.
MOST_SLOTS = 400


def is_quick(layout: Layout, slot_offsets: Sequence[int]) -> bool:
    """Return whether the kernels have room for a set function of this layout and these slots of features."""
    full = layout.subsets == (tuple(range(layout.n_features)),) and set(layout.sizes) == {2}
    slots = np.diff(slot_offsets)
    small = max(slots) < 2**SLOT_BITS and sum(slots) <= MOST_SLOTS
    return full and small and layout.n_features <= MOST_FEATURES


class QuickPhi:
    """The kernels for one number of features.

    Attributes
    ----------
    is_large : bool
        Whether tensor cores multiply lattices. They take vertices, other kernels the coefficients of polynomials.
    places : Tensor of int32, shape (S,)
        Where these kernels have each slot of the calibration.
    n_padded : int
        The number of slots that they have.
    partial : Tensor of float64, shape (rows, blocks, n_padded + vertices)
        The gradients by slots and by vertices that blocks have added up.
    """

    def __init__(self, slot_offsets: Sequence[int], rows: int, device: torch.device) -> None:
        self._n_features, self._rows = len(slot_offsets) - 1, rows
        self.is_large = self._n_features >= LARGE
        # Every feature has a slot more than in the tables.
        first = np.asarray(slot_offsets) + np.arange(len(slot_offsets))
        self.n_padded, slots = int(first[-1]), np.diff(slot_offsets)
        self.places = on_device(np.arange(slot_offsets[-1]) + np.repeat(np.arange(len(slots)), slots), device).int()
        self._blocks = torch.cuda.get_device_properties(device).multi_processor_count
        # Columns of sums for each warp; beside tensor cores those of one half of the features, and room for tokens and
        # for two copies of the vertices.
        n_rows, n_bytes, fixed = self.n_padded, 0, 8 * self.n_padded
        if self.is_large:
            middle = int(first[(self._n_features + 1) // 2])
            n_rows = max(middle, self.n_padded - middle)
            n_bytes, fixed = 4 * LANES * (2 * self._n_features + 1), fixed + 16 * 2**self._n_features
        n_bytes += 4 * LANES * n_rows
        self._rows_of_columns = (n_rows,) if self.is_large else ()
        self._warps = min(MOST_WARPS, (_shared_memory(device) - fixed) // n_bytes // 4 * 4)
        self._shared = self._warps * n_bytes + 8 * self.n_padded
        name = "phi_large" if self.is_large else "phi_small"
        self._module = Module(name, device, D=self._n_features, MOST_THREADS=LANES * self._warps)
        self._module.set_constant("FIRST_SLOTS", on_device(first.astype(np.int32), device))
        self.partial = torch.empty(
            (rows, self._blocks, self.n_padded + 2**self._n_features), dtype=torch.float64, device=device
        )

    @property
    def n_blocks(self) -> int:
        """How many blocks add up gradients."""
        return self._blocks

    def average(self, tokens: PackedTokens, batch: Batch, lines: Tensor, lattice: Tensor, means: Tensor) -> None:
        """Write the means of the sets of a batch, (sets, rows)."""
        for row in range(self._rows):
            given = self._lattice(lattice, row)
            arguments = (tokens.pointers, batch.tensor, lines, *given, self.n_padded, self._rows, row, means)
            self._module.launch("forward", -(-batch.most_sets // 256), 256, *arguments, shared=8 * self.n_padded)

    def gradients(self, tokens: PackedTokens, batch: Batch, lines: Tensor, lattice: Tensor, by_tokens: Tensor) -> None:
        """Write the gradients of a batch into `partial`, from those by the score of a token, ``(sets, rows)``."""
        for row in range(self._rows):
            given = self._lattice(lattice, row)
            sizes = (self.n_padded, *self._rows_of_columns, self._rows, row)
            arguments = (tokens.pointers, batch.tensor, lines, *given, *sizes, by_tokens)
            block = LANES * self._warps
            self._module.launch("backward", self._blocks, block, *arguments, self.partial[row], shared=self._shared)

    def _lattice(self, lattice: Tensor, row: int) -> tuple[Tensor, ...]:
        """Return the vertices of all rows, or put the polynomial of a row where the kernel of few features has it."""
        if self.is_large:
            return (lattice,)
        self._module.set_constant("MONOMIALS", lattice.view(self._rows, -1)[row])
        return ()


@functools.cache
def _shared_memory(device: torch.device) -> int:
    """Return the bytes that a block may have, less what the system needs of them."""
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "shared_memory_per_block_optin", 101_376))
