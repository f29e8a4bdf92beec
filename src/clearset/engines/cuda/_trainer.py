"""Training on a device: a step is one graph of kernels, and an epoch its replays."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._epoch_order import EpochOrder
from clearset.engines._problem import LIGHT_TOUCH_SAMPLES, WARM_UP, Problem, Refinement, Schedule, TrainingSets
from clearset.engines._state import State
from clearset.engines.cuda._corrections import DeviceCorrections
from clearset.engines.cuda._general_phi import REAL, GeneralTokens
from clearset.engines.cuda._module import Module
from clearset.engines.cuda._packed import PackedTokens
from clearset.engines.cuda._passes import DeviceSets, GeneralPass, Pass, QuickPass
from clearset.engines.cuda._quick_phi import is_quick
from clearset.engines.cuda._rho import MOST_COLUMNS, SUMS
from clearset.engines.cuda._shapes import DeviceShapes
from clearset.engines.cuda._structs import PACE, Batch, ParametersStruct, on_device
from clearset.functions import SetFunction
from clearset.sets import CrossedBlocks, CrossedPositions, PackedSets

# Rows of up to this many columns are projected in shared memory.
IN_SHARED = 1500
# Sets that are validated at once.
VALIDATED = 2**18


class CudaTrainer:
    """One training: the iterate, its running average, and the state of the optimiser, all of it on a device.

    The running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as
    the iterates do, and it is steadier than any of them. The same seed gives the same bits.
    """

    def __init__(self, problem: Problem, schedule: Schedule, rng: np.random.Generator, device: torch.device) -> None:
        if problem.data.share is not None:
            raise ValueError("A GPU trains in one process; there are several. Use device='cpu', or one process.")
        self._problem, self._schedule, self._rng, self._device = problem, schedule, rng, device
        function, self._n_sets = problem.function, len(problem.data)
        self.validates = problem.validation is not None
        self._most_sets = min(schedule.batch_size, self._n_sets)
        self._module = Module("step", device, REAL=REAL[problem.data.dtype])
        self._shapes = DeviceShapes(function, problem.shape, problem.smoothness, device)
        self._set_parameters(_flat(function))
        self._set_data()
        self._set_pace()
        self._update(moves=False)
        self._penalty: list[Tensor] = []
        if schedule.constraints == "light_touch":
            self._touch_lightly()
        self._graph: torch.cuda.CUDAGraph | None = None

    # ---- what is on the device

    def _set_parameters(self, values: npt.NDArray[np.float64]) -> None:
        device, zeros = self._device, np.zeros_like(values)
        arrays = [
            values,
            zeros,
            values,
            zeros,
            zeros,
            np.zeros(max(1, self._shapes.n_duals)),
            np.zeros(4 * len(values)),
        ]
        self._parameters = [on_device(array.copy(), device) for array in arrays]
        self._values, self._gradient, self._average = self._parameters[:3]
        self._struct = ParametersStruct(*(tensor.data_ptr() for tensor in self._parameters))

    def _set_data(self) -> None:
        problem, device, n = self._problem, self._device, self._n_sets
        data, function = problem.data, problem.function
        slot_offsets = _slot_offsets(problem)
        self._corrections: DeviceCorrections | None = None
        self._order: Tensor | None = None
        self._pass: Pass
        outputs = function.outputs
        if isinstance(data.positions, CrossedPositions | CrossedBlocks):
            outputs = data.positions.n_classes
        rho_size = sum(table.size for name, table in function.tables.items() if name.startswith("rho"))
        self._is_quick = (
            isinstance(data.positions, PackedSets)
            and is_quick(function.layout, slot_offsets.tolist())
            and rho_size <= MOST_COLUMNS
        )
        most_sets = max(self._most_sets, min(VALIDATED, len(problem.validation or ())))
        if self._is_quick:
            # They stand in random order, so that an epoch can go round from any of them.
            self._sets = self._packed(data, self._most_sets)
            self._pass = QuickPass(problem, slot_offsets, most_sets, self._gradient, self._module)
        else:
            self._epoch_order = EpochOrder(n, self._rng)
            arranged = data.unpacked().arranged(self._epoch_order.arrangement)
            self._sets = self._general(arranged)
            self._order = torch.zeros(n, dtype=torch.int64, device=device)
            self._pass = GeneralPass(problem, outputs, most_sets, self._gradient, self._module)
            if function.corrections is not None:
                # Without refinement they are applied and stay as they are.
                refinement = self._schedule.refinement or Refinement(0.0, 0.0)
                self._corrections = DeviceCorrections(function.corrections, refinement, n, data.dtype, device)
                self._corrections.enter(self._pass)
        self._validation: DeviceSets | None = None
        if problem.validation is not None:
            held_out = problem.validation
            self._validation = self._packed(held_out, 0) if self._is_quick else self._general(held_out.unpacked())
        self._sums = torch.zeros((self._pass.n_sums(most_sets), SUMS), dtype=torch.float64, device=device)
        self._batch = Batch(torch.zeros(8, dtype=torch.int64, device=device), self._most_sets, self._order)

    def _packed(self, data: TrainingSets, repeated: int) -> DeviceSets:
        order = np.concatenate([np.arange(len(data)), np.arange(repeated)])
        return DeviceSets.of(PackedTokens.of(data.packed, repeated, self._device), data, order, self._device)

    def _general(self, data: TrainingSets) -> DeviceSets:
        positions = data.placed if data.chosen is None else data.placed.take(data.chosen)
        return DeviceSets.of(GeneralTokens.of(positions, self._device), data, None, self._device)

    def _set_pace(self) -> None:
        schedule, problem = self._schedule, self._problem
        n_steps = schedule.steps(self._n_sets)
        pace = dict.fromkeys(PACE, 0.0) | {
            "learning_rate": schedule.learning_rate,
            "n_steps": n_steps,
            "warm_up": max(1, min(WARM_UP, n_steps // 4)),
            "smoothness": problem.smoothness.strength,
            "at_first": problem.smoothness.at_first,
            "least_scatter": problem.smoothness.least_scatter,
            # Vertices lie in [-1, 1], so no score is steeper than this.
            "steepest": 2.0 * (max(problem.function.layout.sizes) - 1),
            "most_slope": 0.0 if self._corrections is None else self._steepest_value(),
            "adagrad": float(schedule.optimizer == "adagrad"),
            "light_touch": float(schedule.constraints == "light_touch"),
        }
        self._pace = torch.tensor(list(pace.values()), dtype=torch.float64, device=self._device)

    def _steepest_value(self) -> float:
        return 2.0 / float(self._sets.tokens.arrays["keypoints"].diff().min())

    def _touch_lightly(self) -> None:
        indices, coefficients = self._problem.shape.flat_rows(self._problem.function.tables)
        if not len(indices):
            return
        n_draws = LIGHT_TOUCH_SAMPLES * -(-self._n_sets // self._schedule.batch_size)
        zeros = np.zeros(len(indices))
        arrays = (indices, coefficients, zeros, zeros.copy(), np.zeros(n_draws))
        self._penalty = [on_device(array, self._device) for array in arrays]

    # ---- epochs

    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""
        with torch.cuda.device(self._device):
            self._begin_epoch()
            if self._graph is None:
                self._graph = self._captured()
            for _ in range(-(-self._n_sets // self._schedule.batch_size)):
                self._graph.replay()
            pace = dict(zip(PACE, self._pace.tolist(), strict=True))
        if pace["diverged"]:
            raise FloatingPointError(
                "Training has diverged: parameters are no longer finite. Use a smaller learning_rate."
            )
        return float(pace["total"]) / self._n_sets

    def validation_loss(self) -> float | None:
        """Return the loss of the running average on validation data, if there are any."""
        sets = self._validation
        if sets is None:
            return None
        with torch.cuda.device(self._device):
            self._pass.read(self._average)
            if self._corrections is not None:
                self._corrections.enter(self._pass, averaged_at=self._pace)
            total, count = 0.0, len(sets.targets)
            for first in range(0, count, VALIDATED):
                n_sets = min(VALIDATED, count - first)
                self._set_batch(sets, first, n_sets, n_sets)
                self._pass.learn(sets, Batch(self._batch.tensor, n_sets), self._sums)
                total += float(self._sums[: self._pass.n_sums(n_sets), 0].cpu().numpy().sum())
            if self._corrections is not None:
                self._corrections.enter(self._pass)
        return total / count

    def kept(self) -> SetFunction:
        """Return a copy of the running average."""
        function, flat, parts, start = self._problem.function, self._average.cpu().numpy(), {}, 0
        for name, table in function.tables.items():
            parts[name] = flat[start : start + table.size].reshape(table.shape)
            start += table.size
        kept = function.with_tables(parts)
        if self._corrections is None:
            return kept
        return replace(kept, corrections=self._corrections.kept(self._pace))

    def state(self) -> State:
        """Raise the error that says that there are no checkpoints of what is trained on a GPU."""
        raise ValueError("A training on a GPU cannot be kept in a checkpoint. Use device='cpu', or no checkpoint.")

    def resume(self, state: State) -> None:  # noqa: ARG002
        """Raise the error that says that there are no checkpoints of what is trained on a GPU."""
        self.state()

    def _begin_epoch(self) -> None:
        start = 0
        if self._order is None:
            start = int(self._rng.integers(self._n_sets))
        else:
            self._order.copy_(torch.from_numpy(self._epoch_order.draw()))
        if self._penalty:
            self._penalty[-1].copy_(torch.from_numpy(self._rng.random(len(self._penalty[-1]))))
        self._set_batch(self._sets, start, self._n_sets, self._schedule.batch_size)

    def _set_batch(self, sets: DeviceSets, start: int, count: int, batch_size: int) -> None:
        """Start an epoch: ``Batch`` of ``kernels/common.h``."""
        n_sets, first, last = min(batch_size, count), 0, 0
        if self._is_quick:
            first, last = map(int, sets.offsets[[start, start + n_sets]])
        self._batch.tensor.copy_(torch.tensor([start, n_sets, first, last, start, 0, batch_size, count]))

    def _captured(self) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self._device)
        with torch.cuda.stream(torch.cuda.Stream(self._device)):  # type: ignore[no-untyped-call]
            graph.capture_begin(capture_error_mode="thread_local")
            self._step()
            graph.capture_end()
        return graph

    def _step(self) -> None:
        batch, pace = self._batch, self._pace
        self._pass.read(self._values)
        self._pass.learn(self._sets, batch, self._sums)
        self._module.launch("set_pace", 1, 256, pace, batch.tensor, self._sums, self._pass.n_sums(batch.most_sets))
        self._pass.gradients(self._sets, batch, pace)
        if self._penalty:
            indices, coefficients, log_weights, chances, draws = self._penalty
            arguments = (indices, coefficients, len(indices), log_weights, chances, draws)
            given = (batch.tensor, self._values, self._gradient, *arguments)
            self._module.launch("touch_lightly", 1, LIGHT_TOUCH_SAMPLES, *given)
        if self._corrections is not None:
            self._corrections.move(pace)
        self._update(moves=True)

    def _update(self, *, moves: bool) -> None:
        widest = max(table.shape[1] for table in self._problem.function.tables.values())
        shared = 4 * 8 * min(widest, IN_SHARED)
        offsets = self._sets.tokens.offsets if self._is_quick else None
        arguments = (self._pace, self._batch.tensor, offsets, self._struct, self._shapes.struct, IN_SHARED, int(moves))
        self._module.launch("update", self._shapes.n_rows, 1024 if widest > 256 else 256, *arguments, shared=shared)


def _slot_offsets(problem: Problem) -> npt.NDArray[np.int64]:
    """Return where the slots of each feature begin, and how many there are."""
    blocks = [block for block in problem.shape.blocks if block.table == "phi.calibration"]
    return np.array([*(block.columns.start for block in blocks), problem.function.calibration.shape[1]])


def _flat(function: SetFunction) -> npt.NDArray[np.float64]:
    return np.concatenate([np.ravel(table) for table in function.tables.values()]).astype(np.float64)
