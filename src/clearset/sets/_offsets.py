"""Flat arrays: their types, and index arithmetic of sets that stand one after the other in them."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def offsets_from_sizes(sizes: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> IntArray:
    """Return (B+1,) offsets of sets with the given (B,) sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def runs(starts: npt.NDArray[np.integer], sizes: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return so many numbers from each start on, run after run, and the offsets of the runs among them."""
    offsets = offsets_from_sizes(sizes)
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1]), offsets


def runs_of_sets(offsets: IntArray, most_tokens: int) -> Iterator[tuple[int, int]]:
    """Cut sets into runs of about so many tokens, at least one set each, and yield where each begins and ends."""
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + most_tokens, side="right")) - 1
        stop = min(max(stop, start + 1), n)
        yield start, stop
        start = stop


def gather(offsets: IntArray, sets: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return the indices of all tokens of the chosen sets, in their order, and the offsets they then have."""
    return runs(offsets[sets], np.diff(offsets)[sets])
