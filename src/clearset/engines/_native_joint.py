"""Set functions applied one after the other and trained together, by the native kernels and their gradients."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from clearset.engines import _native_calls as native
from clearset.engines._joint_problem import JOINT_WARM_UP, Estimate, JointPart, JointProblem
from clearset.engines._problem import RECENCY, Schedule
from clearset.engines._state import State, copy_state, put_back
from clearset.functions import SetFunction
from clearset.sets import Binning

FloatArray = npt.NDArray[np.float64]
Sets = npt.NDArray[np.int64]
Gradients = dict[str, FloatArray]


class NativeJointTrainer:
    """The iterate, its running average, and the state of the optimiser."""

    validates = True

    def __init__(self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator) -> None:
        self._problem, self._schedule, self._rng = problem, schedule, rng
        self._iterate = [part.function.copy() for part in problem.parts]
        self._average = [function.copy() for function in self._iterate]
        self._moments = [_Moments(function) for function in self._iterate]
        self._n_steps, self._step = schedule.steps(len(problem.training)), 0

    def epoch(self) -> float:
        """Go through the training data once, in random order, and return the mean loss on the way."""
        order, total = self._rng.permutation(self._problem.training), 0.0
        for start in range(0, len(order), self._schedule.batch_size):
            sets = order[start : start + self._schedule.batch_size]
            total += len(sets) * self._train_on(sets)
        return total / len(order)

    def validation_loss(self) -> float:
        """Return the loss of the running average on validation data."""
        return self.loss_of(self._average)

    def loss_of(self, functions: Sequence[SetFunction]) -> float:
        """Return the loss of other set functions, in the unit of training, on validation data."""
        return _Pass(self._problem, functions, self._problem.validation, self._schedule.threads).loss

    def kept(self) -> list[SetFunction]:
        """Return a copy of the running average."""
        return [function.copy() for function in self._average]

    def state(self) -> State:
        """Return a copy of what steps have changed."""
        return copy_state(self._live())

    def resume(self, state: State) -> None:
        """Go on from a state of the same problem."""
        put_back(live := self._live(), state)
        self._step = int(live["step"][0])

    def _live(self) -> State:
        live: State = {"step": np.array([self._step])}
        parts = zip(self._problem.parts, self._iterate, self._average, self._moments, strict=True)
        for number, (part, function, average, moments) in enumerate(parts):
            named = {
                "level": part.smoothness.level,
                **{f"iterate.{name}": table for name, table in function.tables.items()},
                **{f"average.{name}": table for name, table in average.tables.items()},
                **moments.arrays,
                **part.shape.multipliers(function.tables),
            }
            live |= {f"{number}.{name}": array for name, array in named.items()}
        return live

    def _train_on(self, sets: Sets) -> float:
        progress = self._step / self._n_steps
        rate = min(1.0, progress / JOINT_WARM_UP) * (1.0 + float(np.cos(np.pi * progress))) / 2.0
        self._step += 1
        applied = _Pass(self._problem, self._iterate, sets, self._schedule.threads)
        gradients = applied.gradients()
        share = (1.0 + RECENCY) / (self._step + RECENCY)
        for part, function, average, moments, gradient in zip(
            self._problem.parts, self._iterate, self._average, self._moments, gradients, strict=True
        ):
            strength, bends = part.smoothness.gradients(function.tables, applied.loss)
            for name, table in bends.items():
                gradient[name] = gradient[name] + strength * table
            moments.move(function.tables, gradient, self._schedule.learning_rate * rate, self._step)
            part.shape.project(function.tables)
            for kept, new in zip(average.tables.values(), function.tables.values(), strict=True):
                kept += share * (new - kept)
        return applied.loss


class _Moments:
    """Adam's running averages of gradients and of their squares."""

    def __init__(self, function: SetFunction) -> None:
        self._first = {name: np.zeros_like(table) for name, table in function.tables.items()}
        self._second = {name: np.zeros_like(table) for name, table in function.tables.items()}

    @property
    def arrays(self) -> Gradients:
        """Both of them for every table, by name."""
        first = {f"first.{name}": table for name, table in self._first.items()}
        return first | {f"second.{name}": table for name, table in self._second.items()}

    def move(self, tables: Gradients, gradients: Gradients, rate: float, step: int) -> None:
        """Take a step, counted from 1."""
        for name, gradient in gradients.items():
            first, second = self._first[name], self._second[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            spread = np.sqrt(second / (1.0 - 0.999**step)) + 1e-8
            tables[name] -= rate / (1.0 - 0.9**step) * first / spread


class _Estimated:
    """Estimates of a set function for some sets, on their way to the follow-on function and back."""

    def __init__(self, part: JointPart, function: SetFunction, estimate: Estimate, sets: Sets, threads: int) -> None:
        self._part, self._function, self._estimate = part, function, estimate
        phi = (estimate.positions, sets, function.corrections, function.calibration, function.vertices)
        self._phi = (*phi, threads)
        means = native.crossed_mean(*self._phi)
        self._rho = (
            means.reshape(-1, function.width),
            function.rho_calibrators,
            function.rho_vertices,
            function.rho_output,
        )
        self._shape = means.shape
        outputs = native.rho(*self._rho).reshape(means.shape[:2])
        self._outputs = outputs * part.scale + part.centre
        self.columns = estimate.link.estimates(self._outputs)

    def gradients(self, by_estimates: FloatArray) -> Gradients:
        """Return the gradients by the function's tables."""
        by_outputs = self._part.scale * self._through_link(by_estimates)
        by_means, *by_rho = native.rho_gradients(*self._rho, by_outputs.reshape(-1, 1))
        by_phi = native.crossed_gradients(*self._phi, by_means.reshape(self._shape))
        return dict(zip(self._function.tables, (*by_phi[:2], *by_rho), strict=True))

    def _through_link(self, upstream: FloatArray) -> FloatArray:
        link, estimates = self._estimate.link.name, self.columns
        if link == "exp":
            return upstream * estimates
        if link == "sigmoid":
            return upstream * estimates * (1.0 - estimates)
        if link in ("softmax", "shares"):
            centred = upstream - (upstream * estimates).sum(axis=1, keepdims=True)
            # A share is a sigmoid by the sum of all: its logarithm has the slope 1 - sigmoid.
            return np.asarray(centred * estimates * (1.0 if link == "softmax" else expit(-self._outputs)))
        return upstream


class _Pass:
    """All set functions applied to some sets, and their way back."""

    def __init__(self, problem: JointProblem, functions: Sequence[SetFunction], sets: Sets, threads: int) -> None:
        follow_on, *others = functions
        self._problem, self._follow_on = problem, follow_on
        self._estimated = [
            _Estimated(part, function, estimate, sets, threads)
            for part, function, estimate in zip(problem.parts[1:], others, problem.estimates, strict=True)
        ]
        positions = problem.positions.take(sets)
        slots, fractions = positions.slots, positions.fractions
        sizes = np.diff(positions.offsets)
        self._rates: list[FloatArray] = []  # of each estimate's fraction by its value
        for estimated, estimate in zip(self._estimated, problem.estimates, strict=True):
            for column, d in zip(estimated.columns.T, estimate.features, strict=True):
                slot, fraction, rate = _place(problem.binning, d, column)
                slots[d], fractions[d] = np.repeat(slot, sizes), np.repeat(fraction, sizes)
                self._rates.append(rate)
        self._positions = replace(positions, slots=slots, fractions=fractions)
        self._phi = (self._positions, follow_on.calibration, follow_on.vertices, follow_on.layout)
        means = native.phi_mean(*self._phi, 1)
        self._rho = (means, follow_on.rho_calibrators, follow_on.rho_vertices, follow_on.rho_output)
        weights = problem.weights[sets] / problem.weights[sets].sum()
        losses, slopes = native.losses(problem.loss, native.rho(*self._rho), problem.targets[sets])
        self.loss = float(weights @ losses)
        self._by_outputs = weights[:, None] * slopes

    def gradients(self) -> list[Gradients]:
        """Return the gradients by the tables of each function."""
        by_means, *by_rho = native.rho_gradients(*self._rho, self._by_outputs)
        *by_phi, by_fractions = native.phi_gradients_by_fractions(*self._phi, by_means)
        gradients = [dict(zip(self._follow_on.tables, (*by_phi, *by_rho), strict=True))]
        by_sets = np.add.reduceat(by_fractions, self._positions.offsets[:-1], axis=1)
        rates = iter(self._rates)
        for estimated, estimate in zip(self._estimated, self._problem.estimates, strict=True):
            columns = [by_sets[d] * next(rates) for d in estimate.features]
            gradients.append(estimated.gradients(np.stack(columns, axis=1)))
        return gradients


def _place(binning: Binning, d: int, values: FloatArray) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
    """Find slots and fractions of a feature's values, and the rate at which fractions go with values."""
    keypoints = np.asarray(binning.keypoints[d])
    inside = np.clip(values, keypoints[0], keypoints[-1])
    segments = np.searchsorted(keypoints[1:-1], inside, side="right")
    widths = np.diff(keypoints)[segments]
    slots = (segments + int(binning.slot_offsets[d])).astype(np.int32)
    return slots, (inside - keypoints[segments]) / widths, (inside == values) / widths
