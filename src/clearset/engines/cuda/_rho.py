"""rho, losses and their gradients (``kernels/rho.cu``)."""

import ctypes
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from clearset.engines.cuda._general_phi import REAL
from clearset.engines.cuda._module import Module
from clearset.engines.cuda._packed import LANES
from clearset.engines.cuda._structs import Batch, RhoStruct, pointer

THREADS = 128
SUMS = 5
# Columns of gradients of up to this many parameters fit beside each other for eight warps.
MOST_COLUMNS, MOST_WARPS, SHARED_MEMORY = 200, 32, 210_000
LOSSES = ("squared_error", "absolute_error", "quantile", "poisson", "log_loss", "hinge", "binary_log_loss")


class Results(NamedTuple):
    """What the sets of a batch leave on the way."""

    means: Tensor  # (sets, outputs, width)
    by_outputs: Tensor  # gradients, (sets, outputs)
    by_means: Tensor  # gradients, as the means

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return int(self.by_outputs.shape[1])


class RhoKernels:
    """The kernels for one width and one precision.

    Parameters
    ----------
    functions, width, keypoints : int
        The sizes of the tables, which stand end to end.
    dtype : dtype
        The precision.
    device : torch.device
        Where to calculate.
    """

    def __init__(self, functions: int, width: int, keypoints: int, dtype: np.dtype[Any], device: torch.device) -> None:
        self._module = Module("rho", device, REAL=REAL[np.dtype(dtype)], WIDTH=width)
        self._functions, self._width, self._keypoints = functions, width, keypoints
        self.size = functions * (width * keypoints + 2**width + keypoints)

    def struct(self, tables: Tensor, start: int = 0) -> Any:
        """Return what kernels take; rho's tables begin at ``start``."""
        vertices = start + self._functions * self._width * self._keypoints
        output = vertices + self._functions * 2**self._width
        parts = (pointer(tables, place) for place in (start, vertices, output))
        return RhoStruct(*parts, self._functions, self._keypoints)

    def apply(self, rho: Any, means: Tensor, outputs: int, results: Tensor) -> None:
        """Write the outputs that belong to means."""
        count = results.numel() // outputs
        blocks = max(1, -(-results.numel() // THREADS))
        self._module.launch("apply_rho", blocks, THREADS, rho, means, ctypes.c_longlong(count), outputs, results)

    def learn(self, rho: Any, labels: Any, batch: Batch, results: Results, sums: Tensor) -> None:
        """Write gradients by outputs and by means, and the sums of each block."""
        arguments = (batch.tensor, results.outputs, 0, *results, sums)
        self._module.launch("learn", -(-batch.most_sets // THREADS), THREADS, rho, labels, *arguments)

    def learn_in_columns(
        self, rho: Any, labels: Any, batch: Batch, results: Results, sums: Tensor, partial: Tensor
    ) -> None:
        """Write the same, divided by set sizes, and what each block adds up of the gradients by rho's tables."""
        column = 4 * LANES * self.size
        warps = min(MOST_WARPS, SHARED_MEMORY // column)
        arguments = (batch.tensor, results.outputs, 1, *results, sums, self.size, partial)
        given = (len(partial), LANES * warps, rho, labels, *arguments)
        self._module.launch("learn_in_columns", *given, shared=warps * column)

    def exact_gradients(self, rho: Any, batch: Batch, results: Results, scales: Tensor, sums: Tensor) -> None:
        """Add gradients by rho's tables as whole numbers."""
        blocks = min(-(-batch.most_sets // THREADS), 1024)
        arguments = (rho, batch.tensor, results.outputs, results.means, results.by_outputs, scales, sums)
        self._module.launch("rho_gradients", blocks, THREADS, *arguments)
