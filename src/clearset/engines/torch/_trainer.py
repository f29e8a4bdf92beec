"""Training by torch: mini-batches of whole sets, shape constraints kept at every step or by penalties."""

import copy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from clearset.engines._epoch_order import EpochOrder
from clearset.engines._problem import (
    LEAST_GRADIENT,
    LIGHT_TOUCH_SAMPLES,
    RECENCY,
    WARM_UP,
    Problem,
    Refinement,
    Schedule,
    TrainingSets,
)
from clearset.engines._state import State, copy_state, put_back
from clearset.engines.torch._light_touch import LightTouch
from clearset.engines.torch._losses import mean_loss
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._threads import torch_threads
from clearset.engines.torch._tokens import as_tensors
from clearset.functions import SetFunction
from clearset.sets import CrossedPositions


class TorchTrainer:
    """One training: the iterate, its running average, and the state of the optimiser.

    The running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as
    the iterates do, and it is steadier than any of them.
    """

    def __init__(self, problem: Problem, schedule: Schedule, rng: np.random.Generator) -> None:
        validation = None if problem.validation is None else problem.validation.unpacked()
        problem = replace(problem, data=problem.data.unpacked(), validation=validation)
        self._problem, self._schedule, self._rng = problem, schedule, rng
        self._order = EpochOrder(len(problem.data), rng)
        self._data = problem.data.arranged(self._order.arrangement)
        self._model = SetFunctionModule(problem.function, problem.data.dtype)
        problem.shape.project(self._model.arrays())
        self._average = copy.deepcopy(self._model)
        self._penalty: LightTouch | None = None
        self._keep = problem.shape.project
        if schedule.constraints == "light_touch":
            self._penalty = LightTouch(problem.shape, self._model)
            self._keep = problem.shape.project_bounds
        optimizer = torch.optim.Adagrad if schedule.optimizer == "adagrad" else torch.optim.Adam
        groups = [{"params": list(half.parameters())} for half in (self._model.phi, self._model.rho)]
        self._optimizer = optimizer(groups, lr=schedule.learning_rate, fused=True)
        self._refiner = _Refiner(self._model, schedule.refinement, len(problem.data))
        self._n_steps = schedule.steps(len(problem.data))
        self._warm_up = max(1, min(WARM_UP, self._n_steps // 4))
        self._step = 0

    @property
    def validates(self) -> bool:
        """Whether there are validation data."""
        return self._problem.validation is not None

    @torch_threads(1)
    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""
        total = 0.0
        order = self._order.draw()
        starts = range(0, len(order), self._schedule.batch_size)
        draws = self._rng.random((len(starts), LIGHT_TOUCH_SAMPLES)) if self._penalty else [None] * len(starts)
        for start, drawn in zip(starts, draws, strict=True):
            chosen = order[start : start + self._schedule.batch_size]
            total += len(chosen) * self._train_on(self._data.take(chosen), drawn)
        return total / len(order)

    @torch_threads(1)
    def validation_loss(self) -> float | None:
        """Return the loss of the running average on validation data, if there are any."""
        data = self._problem.validation
        if data is None:
            return None
        with torch.no_grad():
            return float(self._mean_loss(self._average, data.take(np.arange(len(data)))).item())

    def kept(self) -> SetFunction:
        """Return a copy of the running average."""
        return self._average.function()

    def state(self) -> State:
        """Return a copy of what steps have changed."""
        return copy_state(self._live()) | optimizer_state(self._optimizer)

    def resume(self, state: State) -> None:
        """Go on from a state of the same problem."""
        rest = resume_optimizer(self._optimizer, state)
        put_back(live := self._live(), rest)
        self._step = int(live["step"][0])

    def _live(self) -> State:
        live: State = {"step": np.array([self._step]), "level": self._problem.smoothness.level}
        for name, model in (("iterate", self._model), ("average", self._average)):
            live |= live_parameters(name, model)
        if self._penalty is not None:
            live["log_weights"] = self._penalty.log_weights.numpy()
        return live | self._refiner.live() | self._problem.shape.multipliers(self._model.arrays())

    def _mean_loss(self, model: SetFunctionModule, data: TrainingSets) -> Tensor:
        return mean_loss(self._problem.loss, model(as_tensors(data.placed)), data)

    def _train_on(self, batch: TrainingSets, draws: np.ndarray | None) -> float:
        model, optimizer = self._model, self._optimizer
        decay = self._schedule.decay(self._step / self._n_steps)
        rate = self._schedule.learning_rate * decay
        optimizer.param_groups[0]["lr"] = rate
        optimizer.param_groups[1]["lr"] = rate * min(1.0, self._step / self._warm_up)
        model.zero_grad()
        loss = self._mean_loss(model, batch)
        objective = loss
        if self._penalty is not None and draws is not None:
            objective = loss + self._penalty(model, draws)
        objective.backward()  # type: ignore[no-untyped-call]
        value = float(loss.item())
        progress = self._step / self._n_steps
        strength, gradients = self._problem.smoothness.gradients(model.arrays(), value, progress)
        add_gradients(model, strength, gradients)
        drop_rounding(model)
        optimizer.step()
        if isinstance(batch.positions, CrossedPositions):
            self._refiner.step(decay, batch.positions.corrected)
        self._keep(model.arrays())
        self._step += 1
        move_average(self._average, model, self._step)
        return value


def add_gradients(model: SetFunctionModule, strength: float, gradients: dict[str, np.ndarray]) -> None:
    """Add a multiple of gradients by the tables to those that the model has."""
    for name, gradient in gradients.items():
        grad = model.tables[name].grad
        if grad is not None:
            grad.add_(torch.from_numpy(gradient), alpha=strength)


def drop_rounding(model: SetFunctionModule) -> None:
    """Set to 0 what rounding leaves of gradients that are 0: optimisers divide by the size of gradients."""
    for tensor in model.tables.values():
        if tensor.grad is not None:
            tensor.grad[tensor.grad.abs() < LEAST_GRADIENT] = 0.0


def live_parameters(name: str, model: SetFunctionModule) -> State:
    """Return the parameters of a model by names that begin with the given one; they share its memory."""
    return {f"{name}.{part}": tensor.detach().numpy() for part, tensor in model.named_parameters()}


def optimizer_state(optimizer: torch.optim.Optimizer) -> State:
    """Return a copy of the state of an optimizer as arrays by name."""
    return {
        f"optimizer.{number}.{name}": np.array(tensor.numpy())
        for number, tensors in optimizer.state_dict()["state"].items()
        for name, tensor in tensors.items()
    }


def resume_optimizer(optimizer: torch.optim.Optimizer, state: State) -> State:
    """Have an optimizer go on from its part of a state, and return the rest of the state."""
    before = optimizer.state_dict()
    after: dict[int, dict[str, Tensor]] = {}
    for name, array in state.items():
        if name.startswith("optimizer."):
            _, number, part = name.split(".")
            after.setdefault(int(number), {})[part] = torch.from_numpy(np.array(array))
    optimizer.load_state_dict({**before, "state": after})
    return {name: array for name, array in state.items() if not name.startswith("optimizer.")}


@torch.no_grad()
def move_average(average: SetFunctionModule, model: SetFunctionModule, step: int) -> None:
    """Move a running average of parameters towards those of a step, counted from 1."""
    share = (1.0 + RECENCY) / (step + RECENCY)
    for kept, new in zip(average.parameters(), model.parameters(), strict=True):
        kept.lerp_(new, share)


class _Refiner:
    """The optimiser of corrections, where a set function has any.

    Most corrections get a gradient in few batches only; Adagrad keeps their steps large until then. A step moves the
    corrections of its own tokens, and those feel the pull of all steps since they were last moved.
    """

    def __init__(self, model: SetFunctionModule, refinement: Refinement | None, n_sets: int) -> None:
        self._corrections: nn.Parameter | None = None
        if model.corrections is not None and refinement is not None:
            self._corrections, self._rate = model.corrections, refinement.learning_rate
            self._pull = 2.0 * refinement.pull / n_sets
            self._squares = torch.zeros_like(model.corrections)
            self._moved = torch.zeros(len(model.corrections), 1, dtype=model.corrections.dtype)
            self._steps = np.zeros(1, np.int64)

    def live(self) -> State:
        """Return what steps change, but for the corrections themselves; the arrays share its memory."""
        if self._corrections is None:
            return {}
        squares, moved = self._squares.numpy(), self._moved.numpy()
        return {"corrections.step": self._steps, "corrections.squares": squares, "corrections.moved": moved}

    @torch.no_grad()
    def step(self, decay: float, corrected: np.ndarray) -> None:
        """Take a step for the corrections that a batch has; -1 stands for none."""
        if self._corrections is None or self._corrections.grad is None:
            return
        self._steps += 1
        step = int(self._steps[0])
        tokens = torch.from_numpy(np.unique(corrected[corrected >= 0])).long()
        values = self._corrections[tokens]
        slopes = self._corrections.grad[tokens] + self._pull * (step - self._moved[tokens]) * values
        self._squares[tokens] += slopes.square()
        self._corrections[tokens] = values - self._rate * decay * slopes / (self._squares[tokens].sqrt() + 1e-10)
        self._moved[tokens] = float(step)
