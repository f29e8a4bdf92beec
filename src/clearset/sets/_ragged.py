"""Index arithmetic of sets that stand one after the other in a flat array."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def offsets_from_sizes(sizes: npt.NDArray[np.integer]) -> IntArray:
    """Return (B+1,) offsets of sets with the given (B,) sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def gather(offsets: IntArray, sets: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return the indices of all tokens of the chosen sets, in their order, and the offsets they then have."""
    starts = offsets[sets]
    sizes = offsets[1:][sets] - starts
    chosen = offsets_from_sizes(sizes)
    tokens = np.repeat(starts - chosen[:-1], sizes)
    tokens += np.arange(chosen[-1])
    return tokens, chosen
