"""The engine in C++: set functions are applied and trained without torch."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from clearset.engines import _native_calls as native
from clearset.engines._engine import Engine
from clearset.engines._joint_problem import JointProblem, JointTrainer
from clearset.engines._native_joint import NativeJointTrainer
from clearset.engines._native_trainer import NativeTrainer
from clearset.engines._problem import FLATTEST, STEEPEST, Problem, ResumableTrainer, Schedule, TrainingSets
from clearset.functions import Loss, Rho, SetFunction
from clearset.sets import Binning, CrossedPositions, Positions, SetData

FloatArray = npt.NDArray[np.float64]


class NativeEngine(Engine):
    """Applies and trains set functions in C++; results have the same bits for any number of threads."""

    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        calibration, vertices = function.calibration, function.vertices
        if isinstance(sets, CrossedPositions):
            chosen = np.arange(len(sets))
            return native.crossed_mean(sets, chosen, function.corrections, calibration, vertices, threads)
        means = native.phi_mean(sets, calibration, vertices, function.layout, threads)
        return means.reshape(len(means), function.outputs, function.width)

    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        # They are the means of sets of one token each.
        return self._means(function, replace(sets, offsets=np.arange(sets.n_tokens + 1)), threads)

    def outputs_of_sets(self, function: SetFunction, binning: Binning, sets: SetData, threads: int = 1) -> FloatArray:
        """Return the outputs of sets whose tokens are still to be placed between keypoints, ``(B, C)``."""
        means = native.means_of_values(
            binning.columns(sets),
            sets.offsets,
            np.ascontiguousarray(function.calibration, np.float64),
            np.ascontiguousarray(function.vertices, np.float64),
            function.layout,
            threads,
        )
        if function.support is not None:
            shape = (len(means), function.outputs, function.width)
            means = function.support.shrunk(means.reshape(shape), sets.sizes).reshape(len(means), -1)
        return self._rho(function.rho, means)

    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        return native.rho(rows, rho.calibrators, rho.vertices, rho.output)

    def losses(self, loss: Loss, outputs: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of every set, ``(B,)``, of outputs ``(B, C)``."""
        return native.losses(loss, outputs, targets)[0]

    def trainer(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> ResumableTrainer[SetFunction]:
        """Return what trains a set function, epoch by epoch."""
        return NativeTrainer(problem, schedule, rng)

    def output_line(
        self, function: SetFunction, data: TrainingSets, sets: npt.NDArray[np.int64], loss: Loss, threads: int = 1
    ) -> tuple[float, float]:
        """Return slope and shift of the outputs of some of the labelled sets with the least loss."""
        taken = data.take(sets)
        means = self.means(function.astype(data.dtype), taken.placed, threads)
        outputs, targets, weights = (
            self.rho(function.rho, means.astype(np.float64)),
            taken.targets,
            taken.weights / len(sets),
        )

        def objective(line: FloatArray) -> tuple[float, FloatArray]:
            slope = np.exp(line[0])
            losses, slopes = native.losses(loss, slope * outputs + line[1], targets)
            slopes = weights[:, None] * slopes
            gradient = np.array([slope * (slopes * outputs).sum(), slopes.sum()])
            return float(weights @ losses + 1e-3 * line @ line), gradient + 2e-3 * line

        # The search may try slopes of which losses are infinite, and turns back then.
        with np.errstate(over="ignore", invalid="ignore"):
            line = minimize(objective, np.zeros(2), jac=True, method="BFGS").x
        if not np.isfinite(line).all():
            return 1.0, 0.0
        return float(np.exp(np.clip(line[0], FLATTEST, STEEPEST))), float(line[1])

    def joint_trainer(self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator) -> JointTrainer:
        """Return what trains several set functions together, epoch by epoch."""
        return NativeJointTrainer(problem, schedule, rng)
