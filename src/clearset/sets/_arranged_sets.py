"""Numbers of sets that come in pieces and are to stand in another order, in memory or in a scratch file."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ._offsets import IntArray, gather, offsets_from_sizes, runs
from ._scratch import ScratchArray, scratch_array

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

# Parts of a scratch file that are put in order take at least so many bytes of memory, twice.
_PART_BYTES = 1 << 23

Write = Callable[[IntArray, npt.NDArray[Any]], None]


class ArrangedSets:
    """Puts numbers of each set's tokens to the set's place.

    What does not fit into memory goes to a scratch file: sets are written to their part of the file in the order they
    come in, and put in order part by part at the end, so that nothing is read or written here and there.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        The number of tokens of every set that may come.
    chosen : ndarray of shape (B,)
        Which of the sets are kept, in the order in which they are to stand.
    width : int
        Numbers of a token; those of a set stand together.
    dtype : dtype
        Their type.
    max_memory : int
        Bytes that they may take in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import ArrangedSets
    >>> arranged = ArrangedSets(np.array([2, 1]), np.array([1, 0]), 1, np.int32, 10**9)
    >>> arranged.add_numbers(0, np.array([0, 2, 3]), np.array([7, 8, 9], np.int32))
    >>> arranged.finished(), arranged.offsets
    (array([9, 7, 8], dtype=int32), array([0, 1, 3]))
    """

    def __init__(
        self,
        sizes: npt.NDArray[np.integer],
        chosen: npt.NDArray[np.integer],
        width: int,
        dtype: npt.DTypeLike,
        max_memory: float,
    ) -> None:
        self._chosen, self._width = chosen, width
        self.offsets = offsets_from_sizes(sizes[chosen])
        # Numbers of sets in 32 bits are half as large, and enough for most data.
        small = np.int32 if len(sizes) <= np.iinfo(np.int32).max else np.int64
        self._places: npt.NDArray[Any] = np.full(len(sizes), -1, small)
        self._places[chosen] = np.arange(len(chosen), dtype=small)
        room = int(min(max_memory, np.iinfo(np.int64).max))
        self._to = scratch_array(width * int(self.offsets[-1]), dtype, room)
        self._ends = self._parts(max(room // 4, _PART_BYTES), np.dtype(dtype).itemsize)
        self._written = self.offsets[self._ends[:-1]].copy()

    def add(self, first: int, offsets: IntArray, write: Write) -> None:
        """Take the sets that begin with number `first`, whose tokens begin at `offsets`.

        ``write(begins, to)`` is called to write them into an array, each from its place in `begins` on (counted in
        tokens); sets that begin at -1 are left out.
        """
        places = self._places[first : first + len(offsets) - 1]
        if isinstance(self._to, np.ndarray):
            write(np.where(places < 0, -1, self.offsets[places]), self._to)
            return
        kept = np.flatnonzero(places >= 0)
        part_of = np.searchsorted(self._ends, places[kept], side="right") - 1
        by_part = np.argsort(part_of, kind="stable")  # within a part they stay in the order they come in
        kept, part_of = kept[by_part], part_of[by_part]
        starts = offsets_from_sizes(np.diff(offsets)[kept])
        begins = np.full(len(places), -1, np.int64)
        begins[kept] = starts[:-1]
        width = self._width
        numbers = np.empty(width * int(starts[-1]), self._to.dtype)
        write(begins, numbers)
        cuts = starts[np.searchsorted(part_of, np.arange(len(self._ends)))]
        for part in np.flatnonzero(np.diff(cuts)).tolist():
            low, high = int(cuts[part]), int(cuts[part + 1])
            start = int(self._written[part])
            self._to[width * start : width * (start + high - low)] = numbers[width * low : width * high]
            self._written[part] += high - low

    def add_numbers(self, first: int, offsets: IntArray, numbers: npt.NDArray[Any]) -> None:
        """Take the sets that begin with number `first`, of one number a token."""

        def write(begins: IntArray, to: npt.NDArray[Any]) -> None:
            kept = np.flatnonzero(begins >= 0)
            tokens, starts = gather(offsets, kept)
            to[runs(begins[kept], np.diff(starts))[0]] = numbers[tokens]

        self.add(first, offsets, write)

    def finished(self) -> "npt.NDArray[Any] | ScratchArray":
        """Return the numbers of all sets in order, all of which must have come."""
        if not isinstance(self._to, np.ndarray):
            for first, last in zip(self._ends[:-1].tolist(), self._ends[1:].tolist(), strict=True):
                self._put_in_order(first, last)
        del self._places
        return self._to

    def _parts(self, most_bytes: int, item_bytes: int) -> IntArray:
        """Cut the places into runs of about so many bytes."""
        if isinstance(self._to, np.ndarray) or not len(self._chosen):
            return np.array([0, len(self._chosen)])
        tokens = max(most_bytes // (item_bytes * self._width), 1)
        cuts = np.searchsorted(self.offsets, np.arange(0, self.offsets[-1], tokens))
        return np.unique(np.append(cuts, len(self._chosen)))

    def _put_in_order(self, first: int, last: int) -> None:
        came = np.argsort(self._chosen[first:last])
        begin, width = int(self.offsets[first]), self._width
        region = slice(width * begin, width * int(self.offsets[last]))
        before = np.ascontiguousarray(self._to[region])
        sizes = np.diff(self.offsets[first : last + 1])
        starts, begins = offsets_from_sizes(sizes[came]), self.offsets[first:last][came] - begin
        if _native is not None and before.dtype == np.uint32:
            after = np.empty_like(before)
            _native.move_sets(before, starts, width, begins, after)
        else:
            ends = np.empty(len(came), np.int64)
            ends[came] = np.arange(len(came))
            after = before[gather(width * starts, ends)[0]]
        self._to[region] = after
