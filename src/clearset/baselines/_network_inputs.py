"""What networks take: one row for each example, or flat values with offsets; mini-batches are cut out of these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.sets import IntArray, gather

# Examples are scored in pieces of about this many values, so that memory stays bounded.
PIECE_VALUES = 1_000_000


class NetworkInput(Protocol):
    """Examples as a network takes them."""

    def batch(self, rows: IntArray) -> tuple[Tensor, ...]:
        """Return the network's arguments for some examples."""

    def pieces(self, rows: IntArray) -> Iterator[IntArray]:
        """Cut a selection of examples into pieces of bounded size."""


@dataclass(frozen=True, eq=False)
class DenseInput:
    """Examples of one row each."""

    values: npt.NDArray[Any]

    def batch(self, rows: IntArray) -> tuple[Tensor, ...]:
        """Return the rows of some examples."""
        return (torch.from_numpy(self.values[rows]),)

    def pieces(self, rows: IntArray) -> Iterator[IntArray]:
        """Cut a selection of examples into pieces of bounded size."""
        step = max(1, PIECE_VALUES // max(1, self.values.shape[1]))
        for start in range(0, len(rows), step):
            yield rows[start : start + step]


@dataclass(frozen=True, eq=False)
class RaggedInput:
    """Examples of any number of tokens: ``(T, F)`` values or ``(T,)`` codes one after the other, and offsets."""

    values: npt.NDArray[Any]
    offsets: IntArray

    def batch(self, rows: IntArray) -> tuple[Tensor, ...]:
        """Return the tokens of some examples, and their offsets."""
        tokens, offsets = gather(self.offsets, rows)
        values = torch.from_numpy(self.values).index_select(0, torch.from_numpy(tokens))
        return values, torch.from_numpy(offsets)

    def pieces(self, rows: IntArray) -> Iterator[IntArray]:
        """Cut a selection of examples into pieces of bounded size, at least one example each."""
        step = max(1, PIECE_VALUES // int(np.prod(self.values.shape[1:], initial=1)))
        ends = np.cumsum(self.offsets[rows + 1] - self.offsets[rows])
        start = 0
        while start < len(rows):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + step, side="right")))
            yield rows[start:stop]
            start = stop
