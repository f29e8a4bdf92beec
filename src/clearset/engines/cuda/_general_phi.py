"""phi of any layout, of plain and of crossed tokens, in either precision (``kernels/phi_general.cu``)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearset.engines.cuda._module import Module
from clearset.engines.cuda._structs import (
    Batch,
    CrossedStruct,
    LatticesStruct,
    TablesStruct,
    TokensStruct,
    on_device,
    pointer,
)
from clearset.functions import Layout
from clearset.sets import CrossedPositions, Positions

THREADS = 128
# A warp takes a set; more blocks than fill a device do not help.
MOST_BLOCKS = 132 * 16
REAL = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
TORCH = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}


@dataclass(frozen=True, eq=False)
class GeneralTokens:
    """Positions of tokens on a device, as they are on the host."""

    arrays: dict[str, Tensor]
    n_sets: int

    @classmethod
    def of(cls, sets: Positions | CrossedPositions, device: torch.device) -> "GeneralTokens":
        """Copy sets to a device."""
        names = ["slots", "fractions", "offsets"]
        if isinstance(sets, CrossedPositions):
            names += ["rows", "corrected", "values", "keypoints"]
        return cls({name: on_device(getattr(sets, name), device) for name in names}, len(sets))

    @property
    def offsets(self) -> Tensor:
        """Where the tokens of each set begin."""
        return self.arrays["offsets"]

    @property
    def classes(self) -> int:
        """The number of classes of crossed tokens, else 0."""
        return self.arrays["values"].shape[1] if "values" in self.arrays else 0

    def structs(self, order: Tensor | None, corrections: Tensor | None) -> tuple[Any, Any]:
        """Return what kernels take."""
        get = self.arrays.get
        plain = (pointer(get("slots")), pointer(get("fractions")), pointer(get("offsets")), pointer(order))
        crossed = (pointer(get(name)) for name in ("rows", "corrected", "values", "keypoints"))
        n_keypoints = len(self.arrays["keypoints"]) if self.classes else 0
        return (
            TokensStruct(*plain, self.arrays["slots"].shape[1]),
            CrossedStruct(*crossed, pointer(corrections), self.classes, n_keypoints),
        )


class GeneralPhi:
    """The kernels for one layout and one precision."""

    def __init__(self, layout: Layout, rows: int, n_slots: int, dtype: np.dtype[Any], device: torch.device) -> None:
        depth = max(map(len, layout.subsets))
        self._module = Module("phi_general", device, REAL=REAL[np.dtype(dtype)], DEPTH=depth)
        starts = np.cumsum([0, *map(len, layout.subsets)])
        numbers = (starts, np.concatenate(layout.subsets), layout.vertex_offsets, layout.sizes)
        self._kept = [on_device(np.asarray(array, np.int32), device) for array in numbers]
        addresses = (tensor.data_ptr() for tensor in self._kept)
        self._lattices = LatticesStruct(len(layout.subsets), *addresses, layout.n_vertices)
        self._rows, self._n_slots, self._n_vertices = rows, n_slots, layout.n_vertices

    def average(
        self, tokens: GeneralTokens, batch: Batch, tables: Tensor, means: Tensor, corrections: Tensor | None
    ) -> None:
        """Write the means of the sets of a batch; the tables stand end to end, phi's first."""
        parts = tokens.structs(batch.order, corrections)
        arguments = (*parts, batch.tensor, self._lattices, self._tables(tables), means)
        self._module.launch("average", _blocks(batch.most_sets), THREADS, *arguments)

    def gradients(
        self,
        tokens: GeneralTokens,
        batch: Batch,
        tables: Tensor,
        by_means: Tensor,
        sums: Any,
        corrections: Tensor | None,
    ) -> None:
        """Add up the gradients by phi's tables and by corrections, into ``Sums`` of the kernel."""
        parts = tokens.structs(batch.order, corrections)
        arguments = (*parts, batch.tensor, self._lattices, self._tables(tables), by_means, sums)
        self._module.launch("gradients", _blocks(batch.most_sets), THREADS, *arguments)

    def _tables(self, tables: Tensor) -> Any:
        vertices = pointer(tables, self._rows * self._n_slots)
        return TablesStruct(pointer(tables), vertices, self._rows, self._n_slots)


def _blocks(sets: int) -> int:
    return min(max(1, -(-sets * 32 // THREADS)), MOST_BLOCKS)
