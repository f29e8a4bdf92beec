"""The engine in plain torch: slow, on any device, and what the others are compared with; and training by autograd."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._engine import Engine
from clearset.engines._joint_problem import JointProblem
from clearset.engines._problem import Problem, Schedule, Trainer, TrainingSets
from clearset.engines.torch._joint import JointTrainer
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._output_line import output_line
from clearset.engines.torch._phi import phi_mean, phi_scores
from clearset.engines.torch._rho import rho as apply_rho
from clearset.engines.torch._sets import CrossedTensors, token_positions
from clearset.engines.torch._threads import one_torch_thread
from clearset.engines.torch._trainer import TorchTrainer
from clearset.functions import Loss, Rho, SetFunction
from clearset.sets import CrossedPositions, Positions

FloatArray = npt.NDArray[np.float64]

# Sets are scored in pieces of about this many tokens, so that memory stays bounded.
PIECE_TOKENS = 1_000_000

_KERNEL = "reference"


class TorchEngine(Engine):
    """Applies set functions by plain torch operations; trains with the native kernels where these are installed."""

    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        if isinstance(sets, CrossedPositions):
            return _in_pieces(CrossedTensors(sets).means, function, sets, threads)
        return _apply(phi_mean, function, sets)

    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        if isinstance(sets, CrossedPositions):
            return _in_pieces(CrossedTensors(sets).scores, function, sets, threads)
        return _apply(phi_scores, function, sets)

    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        tensors = map(torch.from_numpy, (rows, rho.calibrators, rho.vertices, rho.output))
        with torch.no_grad(), one_torch_thread():
            return apply_rho(*tensors, kernel=_KERNEL).numpy()

    def trainer(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> Trainer[SetFunction]:
        """Return what trains a set function, epoch by epoch."""
        return TorchTrainer(problem, schedule, rng)

    def output_line(
        self,
        function: SetFunction,
        data: TrainingSets,
        sets: npt.NDArray[np.int64],
        loss: Loss,
        threads: int = 1,
    ) -> tuple[float, float]:
        """Return slope and shift of the outputs of some of the labelled sets with the least loss."""
        return output_line(function, data, sets, loss, threads)

    def joint_trainer(
        self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator
    ) -> JointTrainer:
        """Return what trains several set functions together, epoch by epoch."""
        return JointTrainer(problem, schedule, rng)


def _apply(phi: Callable[..., Tensor], function: SetFunction, sets: Positions) -> FloatArray:
    model = SetFunctionModule(function, function.calibration.dtype)
    tables = (model.phi.calibration, model.phi.vertices, model.phi.layout)
    with torch.no_grad(), one_torch_thread():
        rows = phi(token_positions(sets), *tables, kernel=_KERNEL).numpy()
    return rows.reshape(-1, function.outputs, function.width)


def _in_pieces(
    apply: Callable[..., Tensor], function: SetFunction, sets: CrossedPositions, threads: int
) -> FloatArray:
    model = SetFunctionModule(function, function.calibration.dtype)
    with torch.no_grad(), one_torch_thread():
        parts = [apply(model, piece, threads, kernel=_KERNEL).numpy() for piece in _pieces(sets.offsets)]
    return np.concatenate(parts)


def _pieces(offsets: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Cut sets into runs of about `PIECE_TOKENS` tokens, at least one set each."""
    start, n_sets = 0, len(offsets) - 1
    while start < n_sets:
        stop = int(np.searchsorted(offsets, offsets[start] + PIECE_TOKENS, side="right")) - 1
        stop = min(max(stop, start + 1), n_sets)
        yield np.arange(start, stop)
        start = stop
    if not n_sets:
        yield np.arange(0)
