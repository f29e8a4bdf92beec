"""Positions in 32 bits, in memory or in a scratch file."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arranged_sets import ArrangedSets
from ._binning import Binning
from ._offsets import IntArray, gather, runs_of_sets
from ._positions import Positions
from ._scratch import ScratchArray

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


@dataclass(frozen=True, eq=False, repr=False)
class PackedSets:
    """Slot and fraction of every token in every feature, each pair in 32 bits; every set has at least one token.

    A slot is counted from the first one of its feature and stands in the high bits. What is left for the fraction is as
    exact as single precision. Made by `SetPacker`.

    Parameters
    ----------
    packed : uint32 array or ScratchArray of length D * T
        For one set after the other ``(D, tokens of the set)``.
    offsets : (B+1,) int64 array
        Where the tokens of each set begin.
    first_slots : (D,) int32 array
        The first slot of each feature.
    bits : (D,) int32 array
        The bits that its slots take.
    """

    packed: npt.NDArray[np.uint32] | ScratchArray
    offsets: IntArray
    first_slots: npt.NDArray[np.int32]
    bits: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        where = "a scratch file" if isinstance(self.packed, ScratchArray) else "memory"
        return f"PackedSets({len(self)} sets, {self.n_tokens} tokens, {self.n_features} features, in {where})"

    @property
    def n_features(self) -> int:
        """Number of features, D."""
        return len(self.bits)

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return int(self.offsets[-1])

    def between(self, start: int, stop: int) -> "PackedSets":
        """Return a run of sets; of a scratch file, a part of it is mapped into memory."""
        offsets = self.offsets[start : stop + 1]
        packed = self.packed[self.n_features * int(offsets[0]) : self.n_features * int(offsets[-1])]
        return PackedSets(packed, offsets - offsets[0], self.first_slots, self.bits)

    def blocks(self, n_tokens: int) -> Iterator[tuple[int, int]]:
        """Cut the sets into runs of about so many tokens."""
        return runs_of_sets(self.offsets, n_tokens)

    def positions(self) -> Positions:
        """Return slots and fractions of all sets, in single precision."""
        shape = (self.n_features, self.n_tokens)
        slots, fractions = np.empty(shape, np.int32), np.empty(shape, np.float32)
        packed = np.ascontiguousarray(self.packed[:])
        if _native is not None:
            _native.unpack_sets(packed, self.offsets, self.first_slots, self.bits, slots, fractions)
        else:
            for d, place in enumerate(_places(self.offsets, self.n_features)):
                shift = np.uint32(32 - self.bits[d])
                slots[d] = self.first_slots[d] + (packed[place] >> shift).astype(np.int32)
                below = packed[place] & ((np.uint32(1) << shift) - np.uint32(1))
                fractions[d] = below.astype(np.float32) * np.float32(0.5 ** float(shift))
        return Positions(slots, fractions, self.offsets)


class SetPacker:
    """Packs sets that come in pieces, each to its place.

    What does not fit into memory goes to a scratch file; see `ArrangedSets`.

    Parameters
    ----------
    binning : Binning
        The features.
    sizes : ndarray of int64, shape (n,)
        The number of tokens of every set that may come, at least 1 each.
    chosen : ndarray of int64, shape (B,)
        Which of the sets are kept, in the order in which they are to stand.
    max_memory : int
        Bytes that packed sets may take in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import Binning, Feature, SetData, SetPacker
    >>> data = SetData([1.0, 2.0, 4.0], offsets=[0, 2, 3], feature_names=["stars"])
    >>> binning = Binning.fit(data, [Feature("stars")])
    >>> packer = SetPacker(binning, data.sizes, np.array([1, 0]), 10**9)
    >>> packer.add(0, binning.positions(data))
    >>> packer.packed().positions().slots
    array([[2, 0, 1]], dtype=int32)
    """

    def __init__(
        self, binning: Binning, sizes: npt.NDArray[np.integer], chosen: npt.NDArray[np.integer], max_memory: int
    ) -> None:
        slots = np.diff(binning.slot_offsets)
        self._first_slots = binning.slot_offsets[:-1].astype(np.int32)
        self._bits = np.array([max(1, int(count - 1).bit_length()) for count in slots], np.int32)
        self._sets = ArrangedSets(sizes, chosen, len(slots), np.uint32, max_memory)

    def add(self, first: int, positions: Positions) -> None:
        """Pack the sets that begin with number `first`, those of them that are kept."""
        coding = self._first_slots, self._bits
        self._sets.add(first, positions.offsets, lambda begins, to: _pack(positions, coding, begins, to))

    def packed(self) -> PackedSets:
        """Return the sets, all of which must have come."""
        return PackedSets(self._sets.finished(), self._sets.offsets, self._first_slots, self._bits)


def _pack(positions: Positions, coding: Any, begins: IntArray, packed: npt.NDArray[np.uint32]) -> None:
    slots, fractions = np.ascontiguousarray(positions.slots), np.ascontiguousarray(positions.fractions, np.float32)
    if _native is not None:
        _native.pack_sets(slots, fractions, positions.offsets, *coding, begins, packed)
        return
    tokens, offsets = gather(positions.offsets, np.flatnonzero(begins >= 0))
    starts = begins[begins >= 0]
    for d, place in enumerate(_places(offsets, len(slots), starts)):
        shift = np.uint32(32 - coding[1][d])
        most = (np.uint32(1) << shift) - np.uint32(1)
        scaled = fractions[d, tokens] * np.float32(2.0 ** float(shift))
        below = np.minimum(scaled.astype(np.uint64), most).astype(np.uint32)
        packed[place] = (slots[d, tokens] - coding[0][d]).astype(np.uint32) << shift | below


def _places(offsets: IntArray, n_features: int, begins: IntArray | None = None) -> Iterator[IntArray]:
    """Yield for each feature where the tokens of sets stand in packed form."""
    sizes = np.diff(offsets)
    begins = offsets[:-1] if begins is None else begins
    first = np.repeat(n_features * begins - offsets[:-1], sizes) + np.arange(offsets[-1])
    step = np.repeat(sizes, sizes)
    for d in range(n_features):
        yield first + d * step
