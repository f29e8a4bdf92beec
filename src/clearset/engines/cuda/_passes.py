"""Forward and backward over the sets of a batch: by the quick kernels, or by those for anything."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._problem import Problem, TrainingSets
from clearset.engines.cuda._general_phi import TORCH, GeneralPhi
from clearset.engines.cuda._module import Module
from clearset.engines.cuda._quick_phi import QuickPhi
from clearset.engines.cuda._rho import LOSSES, THREADS, Results, RhoKernels
from clearset.engines.cuda._structs import PACE, Batch, LabelsStruct, SizesStruct, SumsStruct, on_device, pointer
from clearset.functions import Loss

# Copies of the sums of general gradients: a warp adds to one of them, so that few wait for each other.
COPIES = 16


@dataclass(frozen=True, eq=False)
class DeviceSets:
    """Labelled sets on a device."""

    tokens: Any  # PackedTokens or GeneralTokens
    targets: Tensor
    weights: Tensor
    offsets: npt.NDArray[np.int64]  # of the tokens, on the host

    @classmethod
    def of(
        cls, tokens: Any, data: TrainingSets, chosen: npt.NDArray[np.int64] | None, device: torch.device
    ) -> "DeviceSets":
        """Take some of the labels, which belong to the tokens' sets, in that order."""
        labels = (data.targets, data.weights)
        targets, weights = (np.asarray(array if chosen is None else array[chosen], np.float64) for array in labels)
        offsets = tokens.offsets.cpu().numpy()
        return cls(tokens, on_device(targets, device), on_device(weights, device), offsets)

    def labels(self, loss: Loss, order: Tensor | None) -> Any:
        """Return what kernels take."""
        parts = (pointer(tensor) for tensor in (self.targets, self.weights, order, self.tokens.offsets))
        return LabelsStruct(*parts, LOSSES.index(loss.name), loss.quantile)


class Pass(Protocol):
    """Reads tables, and takes the loss of a batch and its gradient."""

    def n_sums(self, most_sets: int) -> int:
        """Return how many blocks have sums of the loss of so many sets."""

    def read(self, values: Tensor) -> None:
        """Read the five tables, laid end to end."""

    def learn(self, sets: DeviceSets, batch: Batch, sums: Tensor) -> None:
        """Find the losses of a batch, and the sums of blocks."""

    def gradients(self, sets: DeviceSets, batch: Batch, pace: Tensor) -> None:
        """Write the gradient of the last batch that was learned from."""


class _Tables:
    """Tables in the precision of the kernels, and what the sets of a batch leave on the way."""

    def __init__(self, problem: Problem, outputs: int, most_sets: int, gradient: Tensor, step: Module) -> None:
        function, device = problem.function, gradient.device
        self.function, self.loss, self.outputs = function, problem.loss, outputs
        self.gradient, self.step, dtype = gradient, step, problem.data.dtype
        starts = np.cumsum([0, *(table.size for table in function.tables.values())])
        self.sizes, self.rho_start, self.end = SizesStruct(*map(int, starts)), int(starts[2]), int(starts[-1])
        self.n_slots, self.rows = function.calibration.shape[1], len(function.calibration)
        self.tables = torch.empty(self.end, dtype=TORCH[dtype], device=device)
        self.rho = RhoKernels(function.outputs, function.width, function.rho_keypoints, dtype, device)
        shape = (most_sets, outputs, function.width)
        shapes = (shape, shape[:2], shape)
        self.results = Results(*(torch.empty(size, dtype=TORCH[dtype], device=device) for size in shapes))

    @property
    def rho_struct(self) -> Any:
        return self.rho.struct(self.tables, self.rho_start)

    def read(
        self,
        values: Tensor,
        lines: Tensor | None = None,
        places: Tensor | None = None,
        n_padded: int = 0,
        monomials: Tensor | None = None,
    ) -> None:
        arguments = (values, self.sizes, self.tables, lines, places, self.n_slots, n_padded, monomials)
        n_vertices = self.function.vertices.shape[1]
        self.step.launch("read_tables", -(-self.end // 256), 256, *arguments, n_vertices)


class QuickPass:
    """Packed tokens in single precision, in the order in which they stand."""

    def __init__(
        self, problem: Problem, slot_offsets: npt.NDArray[np.int64], most_sets: int, gradient: Tensor, step: Module
    ) -> None:
        self._common = _Tables(problem, problem.function.outputs, most_sets, gradient, step)
        self._phi = QuickPhi(slot_offsets.tolist(), self._common.rows, gradient.device)
        self._lines = torch.zeros((self._common.rows, self._phi.n_padded, 2), device=gradient.device)
        # Tensor cores take the vertices, other kernels the coefficients of polynomials.
        first = self._common.rows * self._common.n_slots
        self._lattice = self._common.tables[first : first + problem.function.vertices.size]
        if not self._phi.is_large:
            self._lattice = torch.empty_like(self._lattice)
        shape = (self._phi.n_blocks, self._common.rho.size)
        self._partial = torch.empty(shape, dtype=torch.float64, device=gradient.device)

    def n_sums(self, most_sets: int) -> int:  # noqa: ARG002
        """Return how many blocks have sums of the loss of so many sets."""
        return self._phi.n_blocks

    def read(self, values: Tensor) -> None:
        """Read the five tables, laid end to end."""
        phi = self._phi
        self._common.read(values, self._lines, phi.places, phi.n_padded, None if phi.is_large else self._lattice)

    def learn(self, sets: DeviceSets, batch: Batch, sums: Tensor) -> None:
        """Find the losses of a batch, and the sums of blocks."""
        common = self._common
        self._phi.average(sets.tokens, batch, self._lines, self._lattice, common.results.means)
        labels = sets.labels(common.loss, batch.order)
        common.rho.learn_in_columns(common.rho_struct, labels, batch, common.results, sums, self._partial)

    def gradients(self, sets: DeviceSets, batch: Batch, pace: Tensor) -> None:  # noqa: ARG002
        """Write the gradient of the last batch that was learned from."""
        common, phi = self._common, self._phi
        phi.gradients(sets.tokens, batch, self._lines, self._lattice, common.results.by_means)
        n_vertices = common.function.vertices.shape[1]
        sizes = (common.n_slots, phi.n_padded, n_vertices, phi.n_blocks)
        arguments = (common.sizes, phi.partial, self._partial, phi.places, *sizes, common.gradient)
        common.step.launch("summed_gradients", -(-common.end * 32 // 128), 128, *arguments)


class GeneralPass:
    """Tokens of any kind in either precision, in any order."""

    def __init__(self, problem: Problem, outputs: int, most_sets: int, gradient: Tensor, step: Module) -> None:
        self._common = common = _Tables(problem, outputs, most_sets, gradient, step)
        layout, device = problem.function.layout, gradient.device
        self._phi = GeneralPhi(layout, common.rows, common.n_slots, problem.data.dtype, device)
        self._sums = torch.zeros((COPIES, common.end), dtype=torch.int64, device=device)
        self.corrections: Tensor | None = None
        self.correction_sums: Tensor | None = None
        self.touched: Tensor | None = None

    def n_sums(self, most_sets: int) -> int:
        """Return how many blocks have sums of the loss of so many sets."""
        return -(-most_sets // THREADS)

    def read(self, values: Tensor) -> None:
        """Read the five tables, laid end to end."""
        self._common.read(values)

    def learn(self, sets: DeviceSets, batch: Batch, sums: Tensor) -> None:
        """Find the losses of a batch, and the sums of blocks."""
        common = self._common
        self._phi.average(sets.tokens, batch, common.tables, common.results.means, self.corrections)
        labels = sets.labels(common.loss, batch.order)
        common.rho.learn(common.rho_struct, labels, batch, common.results, sums)

    def gradients(self, sets: DeviceSets, batch: Batch, pace: Tensor) -> None:
        """Write the gradient of the last batch that was learned from."""
        common, scales = self._common, pace[PACE.index("calibration") :]
        rho_sums = self._sums[0, common.rho_start :]
        common.rho.exact_gradients(common.rho_struct, batch, common.results, scales[3:], rho_sums)
        sums = SumsStruct(
            *(pointer(self._sums), pointer(self._sums, common.rows * common.n_slots)),
            *(pointer(self.correction_sums), pointer(self.touched), pointer(scales)),
            *(pointer(pace[PACE.index("step") :]), common.end, COPIES),
        )
        by_means = common.results.by_means
        self._phi.gradients(sets.tokens, batch, common.tables, by_means, sums, self.corrections)
        blocks = -(-common.end // 256)
        common.step.launch("exact_gradients", blocks, 256, pace, common.sizes, self._sums, COPIES, common.gradient)
