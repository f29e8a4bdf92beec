"""Training in C++ (``native/trainer_bindings.cpp``): an epoch is one call."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines._epoch_order import EpochOrder
from clearset.engines._problem import LIGHT_TOUCH_SAMPLES, WARM_UP, Problem, Refinement, Schedule, TrainingSets
from clearset.functions import SetFunction, ShapeConstraints
from clearset.sets import CrossedPositions

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")


class NativeTrainer:
    """One training: the iterate, its running average, and the state of the optimiser, all of it in C++.

    The running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as
    the iterates do, and it is steadier than any of them. Results have the same bits for any number of threads.
    """

    def __init__(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> None:
        self._function, self._rng = problem.function, rng
        self._n_sets, self.validates = len(problem.data), problem.validation is not None
        self._order = EpochOrder(self._n_sets, rng)
        n_steps = schedule.steps(self._n_sets)
        self._draws = 0
        if schedule.constraints == "light_touch":
            self._draws = n_steps // schedule.epochs * LIGHT_TOUCH_SAMPLES
        self._trainer = _trainer(problem, schedule, n_steps)
        self._add_data(problem, schedule)
        self._add_smoothness(problem)
        self._add_constraints(problem.shape)
        self._trainer.begin()
        if self._draws:
            self._trainer.touch_lightly(*problem.shape.flat_rows(problem.function.tables))

    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""
        order = self._order.draw()
        draws = self._rng.random(self._draws) if self._draws else None
        return float(self._trainer.epoch(order, draws))

    def validation_loss(self) -> float | None:
        """Return the loss of the running average on validation data, if there are any."""
        return float(self._trainer.validation_loss()) if self.validates else None

    def kept(self) -> SetFunction:
        """Return a copy of the running average."""
        function, flat, parts, start = self._function, self._trainer.average(), {}, 0
        for name, table in function.tables.items():
            parts[name] = flat[start : start + table.size].reshape(table.shape)
            start += table.size
        return replace(function.with_tables(parts), corrections=self._trainer.average_corrections())

    def _add_data(self, problem: Problem, schedule: Schedule) -> None:
        if problem.function.corrections is not None:
            # Without refinement they are applied and stay as they are.
            refinement = schedule.refinement or Refinement(0.0, 0.0)
            pull = 2.0 * refinement.pull / self._n_sets
            self._trainer.correct(np.float64(problem.function.corrections), refinement.learning_rate, pull)
        self._add_sets(problem.data.arranged(self._order.arrangement), validates=False)
        if problem.validation is not None:
            self._add_sets(problem.validation, validates=True)

    def _add_sets(self, data: TrainingSets, *, validates: bool) -> None:
        positions = data.positions
        tokens = [positions.slots, positions.fractions, positions.offsets]
        add = self._trainer.plain
        if isinstance(positions, CrossedPositions):
            tokens += [positions.rows, positions.corrected, positions.values, positions.keypoints]
            add = self._trainer.crossed
        labels = [np.ascontiguousarray(array, np.float64) for array in (data.targets, data.weights)]
        add(validates, *map(np.ascontiguousarray, tokens), data.chosen, *labels)

    def _add_smoothness(self, problem: Problem) -> None:
        numbers = {name: number for number, name in enumerate(problem.function.tables)}
        self._trainer.smooth(problem.smoothness.strength)
        for name, squares in problem.smoothness.squares.items():
            parts = (squares.indptr.astype(np.int32), squares.indices.astype(np.int32), squares.data)
            self._trainer.add_squares(numbers[name], *parts)

    def _add_constraints(self, shape: ShapeConstraints) -> None:
        for number, table in enumerate(shape.tables):
            added = self._trainer.add_shape(
                number, table.chains.lower, table.chains.upper, table.chains.ranges, table.pinned_ranges
            )
            for block in table.others:
                for part, columns in block.constraints.parts:
                    rows = part.rows.normalised
                    if not len(rows.indices):
                        continue
                    own = np.flatnonzero(columns).astype(np.int32)
                    first, size = block.columns.start, block.constraints.size
                    self._trainer.add_half_spaces(added, first, size, rows.indices, rows.coefficients, own, part.boxed)


def _trainer(problem: Problem, schedule: Schedule, n_steps: int) -> Any:
    function, loss = problem.function, problem.loss
    warm_up = max(1, min(WARM_UP, n_steps // 4))
    pace = _native.Pace(
        schedule.learning_rate, n_steps, warm_up, schedule.batch_size, schedule.threads, schedule.optimizer == "adagrad"
    )
    make = getattr(_native, f"Trainer_{problem.data.dtype.name}")
    layout = _native.PhiLayout(function.layout.sizes, function.layout.subsets)
    sizes = (function.outputs, function.width, function.calibration.shape[1], function.rho_keypoints)
    return make(layout, *sizes, _flat(function), loss.name, loss.quantile, pace)


def _flat(function: SetFunction) -> npt.NDArray[np.float64]:
    return np.concatenate([np.ravel(table) for table in function.tables.values()]).astype(np.float64)
