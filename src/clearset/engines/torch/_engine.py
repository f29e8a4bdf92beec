"""The engine in plain torch: slow, and what others are compared with."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._engine import Engine
from clearset.engines._joint_problem import JointProblem
from clearset.engines._problem import Problem, ResumableTrainer, Schedule, TrainingSets
from clearset.engines.torch import _module as modules
from clearset.engines.torch._joint import JointTrainer
from clearset.engines.torch._losses import loss_of, output_line
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._threads import torch_threads
from clearset.engines.torch._tokens import as_tensors
from clearset.engines.torch._trainer import TorchTrainer
from clearset.functions import Loss, Rho, SetFunction
from clearset.sets import CrossedPositions, Positions

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Sets are scored in pieces of about this many tokens, so that memory stays bounded.
PIECE_TOKENS = 1_000_000


class TorchEngine(Engine):
    """Applies and trains set functions by plain torch operations, on one thread however many are allowed."""

    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, _threads: int) -> FloatArray:
        return _in_pieces(_module_of(function).means, sets)

    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, _threads: int) -> FloatArray:
        return _in_pieces(_module_of(function).scores, sets)

    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        module = modules.Rho(*map(torch.from_numpy, (rho.calibrators, rho.vertices, rho.output)))
        with torch.no_grad(), torch_threads(1):
            outputs: Tensor = module(torch.from_numpy(rows))
        return outputs.numpy()

    def losses(self, loss: Loss, outputs: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of every set, ``(B,)``, of outputs ``(B, C)``."""
        values: FloatArray = loss_of(loss, torch.from_numpy(outputs), torch.from_numpy(targets)).numpy()
        return values

    def trainer(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> ResumableTrainer[SetFunction]:
        """Return what trains a set function, epoch by epoch."""
        return TorchTrainer(problem, schedule, rng)

    def output_line(
        self,
        function: SetFunction,
        data: TrainingSets,
        sets: IntArray,
        loss: Loss,
        threads: int = 1,  # noqa: ARG002
    ) -> tuple[float, float]:
        """Return slope and shift of the outputs of some of the labelled sets with the least loss."""
        return output_line(function, data.take(sets), loss)

    def joint_trainer(self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator) -> JointTrainer:
        """Return what trains several set functions together, epoch by epoch."""
        return JointTrainer(problem, schedule, rng)


def _module_of(function: SetFunction) -> SetFunctionModule:
    return SetFunctionModule(function, function.calibration.dtype)


def _in_pieces(apply: Callable[..., Tensor], sets: Positions | CrossedPositions) -> FloatArray:
    with torch.no_grad(), torch_threads(1):
        return np.concatenate([apply(as_tensors(sets.take(piece))).numpy() for piece in _pieces(sets.offsets)])


def _pieces(offsets: IntArray) -> Iterator[IntArray]:
    """Cut sets into runs of about `PIECE_TOKENS` tokens, at least one set each."""
    start, n_sets = 0, len(offsets) - 1
    while start < n_sets:
        stop = int(np.searchsorted(offsets, offsets[start] + PIECE_TOKENS, side="right")) - 1
        stop = min(max(stop, start + 1), n_sets)
        yield np.arange(start, stop)
        start = stop
    if not n_sets:
        yield np.arange(0)
