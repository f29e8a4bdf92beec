"""Sets cut into batches for those who train on tensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.peers._data import NumericSets


class Batch(NamedTuple):
    """The tokens of some sets, the set of each token, and the labels."""

    values: npt.NDArray[np.float32]
    sets: npt.NDArray[np.int64]
    y: npt.NDArray[np.float32]


def cut(data: NumericSets, size: int) -> list[Batch]:
    """Cut the sets, in the order in which they stand: it is random already. The rest is a smaller batch."""
    values, y = data.values.astype(np.float32), data.y.astype(np.float32)
    batches = []
    for begin in range(0, len(y), size):
        end = min(begin + size, len(y))
        tokens = slice(data.offsets[begin], data.offsets[end])
        sets = np.repeat(np.arange(end - begin), np.diff(data.offsets[begin : end + 1]))
        batches.append(Batch(values[tokens], sets, y[begin:end]))
    return batches
