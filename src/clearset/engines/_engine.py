"""The contract of engines, and the choice of one."""

import ctypes
import sys
from abc import ABC, abstractmethod
from functools import cache
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from clearset.engines._inputs import check_means, check_sets
from clearset.engines._joint_problem import JointProblem, JointTrainer
from clearset.engines._problem import Problem, ResumableTrainer, Schedule, TrainingSets
from clearset.functions import Loss, Rho, SetFunction
from clearset.sets import Binning, CrossedPositions, Positions, SetData

FloatArray = npt.NDArray[np.float64]


class Engine(ABC):
    """What applies a set function to sets.

    B sets of T tokens become ``C`` outputs of width ``K``: with `Positions`, C is the number of the set function's
    outputs; with `CrossedPositions` it is the number of classes, and one function serves all of them.
    """

    def means(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int = 1) -> FloatArray:
        """Return the mean over each set's tokens of phi, ``(B, C, K)``."""
        check_sets(function, sets, threads)
        return self._means(function, sets, threads)

    def scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int = 1) -> FloatArray:
        """Return phi of every token, ``(T, C, K)``."""
        check_sets(function, sets, threads)
        return self._scores(function, sets, threads)

    def rho(self, rho: Rho, means: FloatArray) -> FloatArray:
        """Return the outputs, ``(N, C)``, that belong to mean scores, ``(N, C, K)``."""
        check_means(rho, means)
        rows = np.ascontiguousarray(means).reshape(-1, rho.outputs * rho.width)
        return self._rho(rho, rows).reshape(means.shape[:2])

    def outputs(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int = 1) -> FloatArray:
        """Return the outputs of every set, ``(B, C)``; sets smaller than supported are shrunk to the base."""
        means = self.means(function, sets, threads)
        if function.support is not None:
            means = function.support.shrunk(means, np.diff(sets.offsets))
        return self.rho(function.rho, means)

    def outputs_of_sets(self, function: SetFunction, binning: Binning, sets: SetData, threads: int = 1) -> FloatArray:
        """Return the outputs of sets whose tokens are still to be placed between keypoints, ``(B, C)``."""
        pieces = [self.outputs(function, binning.positions(piece, np.float64), threads) for piece in sets.pieces()]
        return np.concatenate(pieces) if pieces else np.empty((0, function.outputs))

    @abstractmethod
    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray: ...

    @abstractmethod
    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray: ...

    @abstractmethod
    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        """Return the outputs ``(N, C)`` of rho's own C functions, for rows of ``C * K`` means."""

    @abstractmethod
    def losses(self, loss: Loss, outputs: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of every set, ``(B,)``, of outputs ``(B, C)``."""

    @abstractmethod
    def trainer(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> ResumableTrainer[SetFunction]:
        """Return what trains a set function, epoch by epoch."""

    @abstractmethod
    def output_line(
        self, function: SetFunction, data: TrainingSets, sets: npt.NDArray[np.int64], loss: Loss, threads: int = 1
    ) -> tuple[float, float]:
        """Return slope and shift of the outputs of some of the labelled sets with the least loss."""

    @abstractmethod
    def joint_trainer(self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator) -> JointTrainer:
        """Return what trains several set functions together, epoch by epoch."""


# What each engine needs, the fastest first; the last one is only used where it is asked for.
_NEEDS = {"native": "clearset._native", "torch": "torch", "cuda": "torch"}


def available_engines() -> tuple[str, ...]:
    """Return the names of the engines that can be used here, the default first.

    Returns
    -------
    tuple of str
        The names, among ``"native"``, ``"torch"`` and ``"cuda"``.

    Examples
    --------
    >>> "native" in available_engines() or "torch" in available_engines()
    True
    """
    return tuple(name for name, module in _NEEDS.items() if _is_there(module) and (name != "cuda" or _has_gpu()))


def _has_gpu() -> bool:
    # Without the driver torch need not be asked, which would take seconds.
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    from clearset.engines.cuda import is_available

    return is_available()


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # somebody blocks it
        return False


@cache
def engine(name: str | None = None) -> Engine:
    """Return an engine.

    Parameters
    ----------
    name : {"native", "torch", "cuda"}, optional
        Which; by default the fastest on the CPU that is installed. ``"cuda"`` needs an NVIDIA GPU.

    Returns
    -------
    Engine
        The engine; for one name always the same object.
    """
    # Torch is not even looked for where it is not needed.
    available = ("native",) if name in (None, "native") and _is_there(_NEEDS["native"]) else available_engines()
    if not available:
        raise ImportError(
            "clearset has nothing to calculate with: its compiled module is missing, and so is torch. Install a "
            "wheel of clearset or a C++ compiler, or torch: pip install torch."
        )
    name = available[0] if name is None else name
    if name == "cuda" and name not in available:
        raise ImportError(
            "device='cuda' needs an NVIDIA GPU and torch that sees it (torch.cuda.is_available()); here it does not. "
            "Install torch with CUDA, or use device='cpu'."
        )
    if name not in available:
        raise ImportError(f"engine {name!r} is not installed; there is {', '.join(available)}.")
    if name == "native":
        from clearset.engines._native import NativeEngine

        return NativeEngine()
    if name == "cuda":
        from clearset.engines.cuda import CudaEngine

        return CudaEngine()
    from clearset.engines.torch import TorchEngine

    return TorchEngine()


def engine_on(device: str) -> Engine:
    """Return the engine that predicts on a device.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        The device. Where there is no GPU, what was trained on one is applied on the CPU.

    Returns
    -------
    Engine
        The engine.
    """
    return engine("cuda" if device == "cuda" and "cuda" in available_engines() else None)
