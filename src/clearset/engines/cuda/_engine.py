"""The engine for NVIDIA GPUs: set functions are applied and trained by kernels in CUDA C++."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._checked_contents import check_crossed_contents, check_slots
from clearset.engines._problem import Problem, ResumableTrainer, Schedule
from clearset.engines.cuda._general_phi import TORCH, GeneralPhi, GeneralTokens
from clearset.engines.cuda._rho import RhoKernels
from clearset.engines.cuda._structs import Batch, on_device
from clearset.engines.cuda._trainer import CudaTrainer
from clearset.engines.torch import TorchEngine
from clearset.functions import Rho, SetFunction
from clearset.sets import CrossedPositions, Positions

FloatArray = npt.NDArray[np.float64]

# Sets are copied to the device in pieces of about this many tokens, fewer where memory is short.
PIECE_TOKENS = 2**24


def is_available() -> bool:
    """Return whether torch sees a GPU that the kernels run on."""
    return torch.cuda.is_available() and torch.version.cuda is not None


class CudaEngine(TorchEngine):
    """Applies and trains set functions on torch's current GPU; results have the same bits in every run."""

    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, _threads: int) -> FloatArray:
        dtype, outputs = function.calibration.dtype, function.outputs
        if isinstance(sets, CrossedPositions):
            check_crossed_contents(sets, function.corrections, function.calibration.shape[1])
            outputs = sets.n_classes
        else:
            check_slots(sets.slots, function.calibration.shape[1])
        means = np.empty((len(sets), outputs, function.width), dtype)
        if not len(sets):
            return means
        device = torch.device("cuda", torch.cuda.current_device())
        phi = GeneralPhi(function.layout, len(function.calibration), function.calibration.shape[1], dtype, device)
        tables = on_device(np.concatenate([np.ravel(function.calibration), np.ravel(function.vertices)]), device)
        corrections = None if function.corrections is None else on_device(function.corrections, device)
        first, tokens_at_once = 0, PIECE_TOKENS
        while first < len(sets):
            last = _last_of_piece(sets.offsets, first, tokens_at_once)
            try:
                means[first:last] = _piece(phi, sets, first, last, tables, corrections, means.shape[1:])
            except torch.cuda.OutOfMemoryError:
                if last == first + 1:
                    raise
                tokens_at_once //= 4
                continue
            first = last
        return means

    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        # They are the means of sets of one token each.
        return self._means(function, replace(sets, offsets=np.arange(sets.n_tokens + 1)), threads)

    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        device, dtype = torch.device("cuda", torch.cuda.current_device()), rows.dtype
        kernels = RhoKernels(rho.outputs, rho.width, rho.output.shape[1], dtype, device)
        flat = [np.ravel(table) for table in (rho.calibrators, rho.vertices, rho.output)]
        tables, means = on_device(np.concatenate(flat), device), on_device(rows, device)
        results = torch.empty((len(rows), rho.outputs), dtype=TORCH[dtype], device=device)
        if len(rows):
            kernels.apply(kernels.struct(tables), means, rho.outputs, results)
        outputs: FloatArray = results.cpu().numpy()
        return outputs

    def trainer(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> ResumableTrainer[SetFunction]:
        """Return what trains a set function, epoch by epoch."""
        device = torch.device("cuda", torch.cuda.current_device())
        try:
            return CudaTrainer(problem, schedule, rng, device)
        except torch.cuda.OutOfMemoryError as error:
            raise MemoryError(
                f"The training sets do not fit into the memory of {torch.cuda.get_device_name(device)}, of which "
                f"{torch.cuda.mem_get_info(device)[0]:,} bytes are free. Train on fewer sets, or with device='cpu'."
            ) from error


def _last_of_piece(offsets: npt.NDArray[np.int64], first: int, tokens: int) -> int:
    last = int(np.searchsorted(offsets, offsets[first] + tokens, side="right")) - 1
    return min(max(last, first + 1), len(offsets) - 1)


def _piece(
    phi: GeneralPhi,
    sets: Positions | CrossedPositions,
    first: int,
    last: int,
    tables: Tensor,
    corrections: Tensor | None,
    shape: tuple[int, ...],
) -> Any:
    begin, stop = sets.offsets[first], sets.offsets[last]
    names = [name for name in ("slots", "fractions", "rows", "corrected") if hasattr(sets, name)]
    parts = {name: getattr(sets, name)[..., begin:stop] for name in names}
    piece = replace(sets, offsets=sets.offsets[first : last + 1] - begin, **parts)
    count = last - first
    means = torch.empty((count, *shape), dtype=tables.dtype, device=tables.device)
    batch = torch.tensor([0, count, 0, 0, 0, 0, count, count], device=tables.device)
    phi.average(GeneralTokens.of(piece, tables.device), Batch(batch, count), tables, means, corrections)
    return means.cpu().numpy()
