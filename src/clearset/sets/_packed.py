"""Positions in 32 bits, in memory or in a scratch file."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ._binning import Binning
from ._offsets import IntArray, gather, offsets_from_sizes
from ._positions import Positions
from ._scratch import ScratchArray, scratch_array

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

# Parts of a scratch file that are put in order take at least so many bytes of memory, twice.
_PART_BYTES = 1 << 23


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
        """Cut the sets into runs of about so many tokens, and yield where each begins and ends."""
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self.offsets, self.offsets[start] + n_tokens, side="right")) - 1
            stop = min(max(stop, start + 1), len(self))
            yield start, stop
            start = stop

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

    What does not fit into memory goes to a scratch file: sets are written to their part of the file in the order they
    come in, and put in order part by part at the end, so that nothing is read or written here and there.

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

    def __init__(self, binning: Binning, sizes: IntArray, chosen: IntArray, max_memory: int) -> None:
        self._chosen, self._sizes = chosen, sizes[chosen]
        self._offsets = offsets_from_sizes(self._sizes)
        self._places = np.full(len(sizes), -1, np.int64)
        self._places[chosen] = np.arange(len(chosen))
        slots = np.diff(binning.slot_offsets)
        self._first_slots = binning.slot_offsets[:-1].astype(np.int32)
        self._bits = np.array([max(1, int(count - 1).bit_length()) for count in slots], np.int32)
        self._to = scratch_array(len(slots) * int(self._offsets[-1]), np.uint32, max_memory)
        self._ends = self._parts(max(max_memory // 4, _PART_BYTES))
        self._written = self._offsets[self._ends[:-1]].copy()

    def add(self, first: int, positions: Positions) -> None:
        """Pack the sets that begin with number `first`, those of them that are kept."""
        places = self._places[first : first + len(positions)]
        if isinstance(self._to, np.ndarray):
            _pack(positions, self._coding, np.where(places < 0, -1, self._offsets[places]), self._to)
            return
        kept = np.flatnonzero(places >= 0)
        part_of = np.searchsorted(self._ends, places[kept], side="right") - 1
        by_part = np.argsort(part_of, kind="stable")  # within a part they stay in the order they come in
        kept, part_of = kept[by_part], part_of[by_part]
        starts = offsets_from_sizes(np.diff(positions.offsets)[kept])
        begins = np.full(len(positions), -1, np.int64)
        begins[kept] = starts[:-1]
        features = len(self._bits)
        packed = np.empty(features * int(starts[-1]), np.uint32)
        _pack(positions, self._coding, begins, packed)
        cuts = starts[np.searchsorted(part_of, np.arange(len(self._ends)))]
        for part in np.flatnonzero(np.diff(cuts)).tolist():
            low, high = int(cuts[part]), int(cuts[part + 1])
            start = int(self._written[part])
            self._to[features * start : features * (start + high - low)] = packed[features * low : features * high]
            self._written[part] += high - low

    def packed(self) -> PackedSets:
        """Return the sets, all of which must have come."""
        if not isinstance(self._to, np.ndarray):
            for first, last in zip(self._ends[:-1].tolist(), self._ends[1:].tolist(), strict=True):
                self._put_in_order(first, last)
        return PackedSets(self._to, self._offsets, self._first_slots, self._bits)

    @property
    def _coding(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        return self._first_slots, self._bits

    def _parts(self, most_bytes: int) -> IntArray:
        """Cut the places into runs of about so many bytes."""
        if isinstance(self._to, np.ndarray) or not len(self._chosen):
            return np.array([0, len(self._chosen)])
        tokens = max(most_bytes // (4 * len(self._bits)), 1)
        cuts = np.searchsorted(self._offsets, np.arange(0, self._offsets[-1], tokens))
        return np.unique(np.append(cuts, len(self._chosen)))

    def _put_in_order(self, first: int, last: int) -> None:
        came = np.argsort(self._chosen[first:last])
        begin, features = int(self._offsets[first]), len(self._bits)
        region = slice(features * begin, features * int(self._offsets[last]))
        before = np.ascontiguousarray(self._to[region])
        after = np.empty_like(before)
        starts, begins = offsets_from_sizes(self._sizes[first + came]), self._offsets[first + came] - begin
        if _native is not None:
            _native.move_sets(before, starts, features, begins, after)
        else:
            ends = np.empty(len(came), np.int64)
            ends[came] = np.arange(len(came))
            after = before[gather(features * starts, ends)[0]]
        self._to[region] = after


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
