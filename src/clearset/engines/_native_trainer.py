"""Training in C++ (``native/trainer_bindings.cpp``): an epoch is one call."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines._epoch_order import BlockOrder, EpochOrder
from clearset.engines._problem import (
    BLOCK_TOKENS,
    CROSSED_BLOCK_TOKENS,
    LIGHT_TOUCH_SAMPLES,
    WARM_UP,
    Problem,
    Refinement,
    Schedule,
    TrainingSets,
)
from clearset.engines._state import State
from clearset.functions import SetFunction, ShapeConstraints
from clearset.sets import CrossedBlocks, CrossedPositions, PackedSets

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")


class NativeTrainer:
    """One training: the iterate, its running average, and the state of the optimiser, all of it in C++.

    The running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as
    the iterates do, and it is steadier than any of them. Results have the same bits for any number of threads.
    """

    def __init__(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> None:
        self._function, self._rng = problem.function, rng
        self._n_sets, self.validates = problem.data.total, problem.validation is not None
        self._draws = LIGHT_TOUCH_SAMPLES if schedule.constraints == "light_touch" else 0
        self._batch_size = schedule.batch_size
        self._trainer = _trainer(problem, schedule, schedule.steps(self._n_sets))
        self._add_data(problem, schedule)
        self._add_smoothness(problem)
        self._add_constraints(problem.shape)
        self._trainer.begin()
        if self._draws:
            self._trainer.touch_lightly(*problem.shape.flat_rows(problem.function.tables))

    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""
        if isinstance(self._order, EpochOrder):
            return self._steps(self._order.draw())
        total = 0.0
        for block in self._order.draw():
            start, stop = self._own(block.start, block.stop)
            if start < stop:
                self._use(self._data, start, stop, validates=False)
            total += len(block.order) * self._steps(block.order, block.start)
        return total / self._n_sets

    def _own(self, start: int, stop: int) -> tuple[int, int]:
        """Return which of this process's sets stand between two places among those of all processes."""
        share = self._data.share
        if share is None:
            return start, stop
        first, last = np.searchsorted(share.places, [start, stop])
        return int(first), int(last)

    def _steps(self, order: npt.NDArray[np.int64], first: int = 0) -> float:
        """Train on sets in an order of places, counted from the first; return their mean loss."""
        n_steps = -(-len(order) // self._batch_size)
        draws = self._rng.random(self._draws * n_steps) if self._draws else None
        share, lanes = self._data.share, self._data.lanes
        if lanes is None:
            return float(self._trainer.epoch(order, draws))
        steps = np.arange(len(order)) // self._batch_size
        totals, add_up = np.bincount(steps), None
        start = first
        if share is not None:
            start, stop = self._own(first, first + len(order))
            own = np.full(len(order), -1)
            own[share.places[start:stop] - first] = np.arange(stop - start)
            order, add_up = own[order], share.processes.add_up
            steps, order = steps[order >= 0], order[order >= 0]
        keys = steps * lanes.number + lanes.of_sets[start + order]
        ends = np.cumsum(np.bincount(keys, minlength=n_steps * lanes.number)).reshape(n_steps, lanes.number)
        if n_steps * lanes.number <= 1 << 16:
            keys = keys.astype(np.uint16)  # these are sorted in linear time
        order = order[np.argsort(keys, kind="stable")]
        return float(self._trainer.epoch(order, draws, ends, totals, add_up))

    def validation_loss(self) -> float | None:
        """Return the loss of the running average on validation data, if there are any."""
        if self._validation is None:
            return None
        total = self._sum_of_validation(self._validation) if len(self._validation) else 0.0
        if self._validation.share is not None:
            self._validation.share.processes.add_up(sums := np.array([total]))
            total = float(sums[0])
        return total / self._validation.total

    def _sum_of_validation(self, data: TrainingSets) -> float:
        if not isinstance(data.positions, PackedSets | CrossedBlocks):
            return len(data) * float(self._trainer.validation_loss())
        total = 0.0
        for start, stop in data.positions.blocks(_block_tokens(data)):
            self._use(data, start, stop, validates=True)
            total += (stop - start) * float(self._trainer.validation_loss())
        return total

    def kept(self) -> SetFunction:
        """Return a copy of the running average."""
        function, flat, parts, start = self._function, self._trainer.average(), {}, 0
        for name, table in function.tables.items():
            parts[name] = flat[start : start + table.size].reshape(table.shape)
            start += table.size
        return replace(function.with_tables(parts), corrections=self._trainer.average_corrections())

    def state(self) -> State:
        """Return a copy of what steps have changed."""
        state: State = self._trainer.state()
        return state

    def resume(self, state: State) -> None:
        """Go on from a state of the same problem."""
        self._trainer.resume(state)

    def _add_data(self, problem: Problem, schedule: Schedule) -> None:
        if problem.function.corrections is not None:
            # Without refinement they are applied and stay as they are.
            refinement = schedule.refinement or Refinement(0.0, 0.0)
            pull = 2.0 * refinement.pull / self._n_sets
            self._trainer.correct(np.float64(problem.function.corrections), refinement.learning_rate, pull)
        self._in_use: dict[bool, tuple[int, int]] = {}  # which block training and validation are at
        self._kept_blocks: dict[tuple[bool, int, int], TrainingSets] = {}
        self._bytes_kept = 0
        self._data, self._validation = problem.data, problem.validation
        self._order: EpochOrder | BlockOrder
        if isinstance(self._data.positions, PackedSets | CrossedBlocks):
            block = max(1, round(_block_tokens(self._data) / self._data.tokens_per_set))
            self._order = BlockOrder(self._n_sets, block, schedule.batch_size, self._rng)
            self._use(self._data, 0, min(len(self._data), self._order.block), validates=False)
        else:
            self._order = EpochOrder(self._n_sets, self._rng, arranges=self._data.lanes is None)
            self._add_sets(self._data.arranged(self._order.arrangement), validates=False)
        if (held_out := self._validation) and not isinstance(held_out.positions, PackedSets | CrossedBlocks):
            self._add_sets(held_out, validates=True)

    def _use(self, data: TrainingSets, start: int, stop: int, *, validates: bool) -> None:
        """Hand a block of sets to the trainer, unless it has it already."""
        if self._in_use.get(validates) == (start, stop):
            return
        if isinstance(data.positions, CrossedBlocks):
            self._add_sets(self._placed(data, start, stop, validates=validates), validates=validates)
            self._in_use[validates] = start, stop
            return
        block = data.between(start, stop)
        packed = block.packed
        coding = packed.first_slots, packed.bits
        self._trainer.packed(validates, packed.packed, packed.offsets, *coding, block.targets, block.weights)
        self._in_use[validates] = start, stop

    def _placed(self, data: TrainingSets, start: int, stop: int, *, validates: bool) -> TrainingSets:
        """Return a block of sets between keypoints, which is kept for the next epoch if there is room."""
        key = validates, start, stop
        if (kept := self._kept_blocks.get(key)) is not None:
            return kept
        block = data.between(start, stop)
        size = sum(array.nbytes for array in (block.placed.slots, block.placed.fractions, block.placed.offsets))
        size += 8 * len(block.placed.slots[0]) if len(block.placed.slots) else 0
        if isinstance(data.positions, CrossedBlocks) and self._bytes_kept + size <= data.positions.room:
            self._kept_blocks[key] = block
            self._bytes_kept += size
        return block

    def _add_sets(self, data: TrainingSets, *, validates: bool) -> None:
        positions = data.placed
        tokens = [positions.slots, positions.fractions, positions.offsets]
        add = self._trainer.plain
        if isinstance(positions, CrossedPositions):
            tokens += [positions.rows, positions.corrected, positions.values, positions.keypoints]
            add = self._trainer.crossed
        labels = [np.ascontiguousarray(array, np.float64) for array in (data.targets, data.weights)]
        add(validates, *map(np.ascontiguousarray, tokens), data.chosen, *labels)

    def _add_smoothness(self, problem: Problem) -> None:
        numbers = {name: number for number, name in enumerate(problem.function.tables)}
        smoothness = problem.smoothness
        self._trainer.smooth(smoothness.strength, smoothness.at_first, smoothness.least_scatter)
        for name, squares in smoothness.squares.items():
            parts = (squares.indptr.astype(np.int32), squares.indices.astype(np.int32), squares.data)
            self._trainer.add_squares(numbers[name], *parts)
        for name, lattices in smoothness.interactions.items():
            for lattice in lattices:
                sizes = np.array(lattice.sizes, np.int32)
                self._trainer.add_interactions(numbers[name], lattice.first, sizes, lattice.pairs, lattice.triples)

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


def _block_tokens(data: TrainingSets) -> int:
    return CROSSED_BLOCK_TOKENS if isinstance(data.positions, CrossedBlocks) else BLOCK_TOKENS


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
