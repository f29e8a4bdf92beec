"""Training: mini-batches of whole sets, shape constraints kept at every step or by penalties."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from clearset.kernels import TokenPositions
from clearset.setfunction._light_touch import LightTouch
from clearset.setfunction._losses import Loss
from clearset.setfunction._module import RefinedSetFunction, SetFunction
from clearset.setfunction._shape import ShapeConstraints
from clearset.setfunction._smoothness import Smoothness
from clearset.setfunction._threads import one_torch_thread
from clearset.sets import Positions

# Steps (or a quarter of all, if that is less) in which rho's rate rises to that of phi. Rho can only rise: were it as
# quick as phi, it would learn to be flat wherever phi is not yet right, and leave phi without a gradient to get right
# by.
WARM_UP = 500
# How strongly the averaged parameters favour late steps: the last 1 / (1 + RECENCY) of all steps so far make up most
# of the average, however long training has been.
RECENCY = 3.0


class TrainingData(Protocol):
    """What training goes through: labelled sets that know how a set function is applied to them."""

    @property
    def targets(self) -> np.ndarray:
        """``(B,)`` labels in the loss's scaled unit."""

    @property
    def weights(self) -> np.ndarray:
        """``(B,)`` weights of mean 1."""

    @property
    def dtype(self) -> torch.dtype:
        """What to calculate in."""

    def outputs(self, model: SetFunction, sets: np.ndarray | None, threads: int) -> Tensor:
        """Give the ``(b, C)`` outputs of some of the sets, or of all."""


@dataclass(frozen=True)
class TrainingSets:
    """Labelled sets, ready for training: positions, targets in the loss's scaled unit, weights of mean 1."""

    positions: Positions
    targets: np.ndarray
    weights: np.ndarray

    @property
    def dtype(self) -> torch.dtype:
        """What to calculate in."""
        return torch.from_numpy(self.positions.fractions[:, :0]).dtype

    def outputs(self, model: SetFunction, sets: np.ndarray | None, threads: int) -> Tensor:
        """Give the ``(b, C)`` outputs of some of the sets, or of all."""
        positions = self.positions if sets is None else self.positions.take(sets)
        outputs: Tensor = model(token_positions(positions), threads)
        return outputs


@dataclass(frozen=True)
class Refinement:
    """How the corrections of a `RefinedSetFunction` are learned.

    Attributes
    ----------
    learning_rate
        Of their own Adagrad, at the start.
    pull
        Towards 0: as many sets with a unit loss for each unit of squared correction.
    """

    learning_rate: float
    pull: float


@dataclass(frozen=True)
class Schedule:
    """How to train; the fields are the estimators' parameters of the same names.

    Without ``patience`` all epochs are run and the last one is kept, whatever validation data say. ``stop_after`` ends
    training after so many epochs of a schedule that is made for ``epochs``. Patience ends unless the validation loss
    falls by the share ``tolerance`` of itself.
    """

    optimizer: str
    constraints: str
    learning_rate: float
    epochs: int
    batch_size: int
    patience: int | None
    threads: int
    refinement: Refinement | None = None
    stop_after: int | None = None
    tolerance: float = 0.0


@dataclass
class Progress:
    """What training has reached: the best parameters so far, and the losses of every epoch."""

    best: SetFunction
    best_loss: float = float("inf")
    best_epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


@one_torch_thread()
def train(
    model: SetFunction,
    shape: ShapeConstraints,
    smoothness: Smoothness,
    loss: Loss,
    data: TrainingData,
    validation: TrainingData | None,
    schedule: Schedule,
    rng: np.random.Generator,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
    baseline: float = float("inf"),
) -> Progress:
    """Minimise the loss under the shape constraints.

    A running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as the
    iterates do, and it is steadier than any of them. The best epoch is the one of the least validation loss; without
    validation data, or without patience, it is the last one. An interrupt (Ctrl-C) ends training and keeps the best
    so far.

    Parameters
    ----------
    model
        Initial values; left untouched.
    shape, smoothness, loss
        The constraints, the penalty, and what to minimise.
    data, validation
        Labelled sets; no validation, no early stopping.
    schedule
        How to train.
    rng
        Orders the sets and samples constraints.
    on_epoch
        Called with every new entry of the history.
    baseline
        The validation loss of the initial model, which is kept if no epoch is better.
    """
    trainer = _Trainer(model, shape, smoothness, loss, data, schedule, rng)
    progress = Progress(best=trainer.average, best_loss=baseline)
    if validation is not None and schedule.patience is not None:
        progress.best = copy.deepcopy(trainer.average)
    marked, mark = baseline, 0  # the last loss that was clearly better than all before, and its epoch
    try:
        for epoch in range(1, (schedule.stop_after or schedule.epochs) + 1):
            entry = {"epoch": float(epoch), "loss": trainer.epoch()}
            if validation is not None:
                with torch.no_grad():
                    entry["validation_loss"] = mean_loss(
                        trainer.average, loss, validation, schedule.threads
                    ).item()
            progress.history.append(entry)
            if on_epoch is not None:
                on_epoch(entry)
            current = entry.get("validation_loss", entry["loss"])
            if current < marked - schedule.tolerance * abs(current):
                marked, mark = current, epoch
            if validation is None or schedule.patience is None:
                progress.best_loss, progress.best_epoch = current, epoch
                continue
            if current < progress.best_loss:
                progress.best_loss, progress.best_epoch = current, epoch
                progress.best = copy.deepcopy(trainer.average)
            if epoch - mark >= schedule.patience:
                break
    except KeyboardInterrupt:
        progress.interrupted = True
    return progress


class _Trainer:
    """One training: the iterate, its running average, and the state of the optimiser."""

    def __init__(
        self,
        model: SetFunction,
        shape: ShapeConstraints,
        smoothness: Smoothness,
        loss: Loss,
        data: TrainingData,
        schedule: Schedule,
        rng: np.random.Generator,
    ) -> None:
        self._model = copy.deepcopy(model).to(data.dtype)
        shape.project(self._model)
        self.average = copy.deepcopy(self._model)
        self._smoothness, self._loss, self._data, self._schedule, self._rng = (
            smoothness,
            loss,
            data,
            schedule,
            rng,
        )
        self._penalty = LightTouch(shape, self._model, rng) if schedule.constraints == "light_touch" else None
        self._keep = shape.project if self._penalty is None else shape.project_bounds
        optimizer = torch.optim.Adagrad if schedule.optimizer == "adagrad" else torch.optim.Adam
        groups = [{"params": list(half.parameters())} for half in (self._model.phi, self._model.rho)]
        self._optimizer = optimizer(groups, lr=schedule.learning_rate, fused=True)
        self._refiner = _Refiner(self._model, schedule.refinement, len(data.targets))
        self._n_steps = schedule.epochs * -(-len(data.targets) // schedule.batch_size)
        self._warm_up = max(1, min(WARM_UP, self._n_steps // 4))
        self._step = 0

    def epoch(self) -> float:
        """Go through the data once, in random order, and give the mean loss on the way."""
        total = 0.0
        order = self._rng.permutation(len(self._data.targets))
        for start in range(0, len(order), self._schedule.batch_size):
            chosen = order[start : start + self._schedule.batch_size]
            total += len(chosen) * self._train_on(chosen)
        return total / len(order)

    def _train_on(self, sets: np.ndarray) -> float:
        model, optimizer = self._model, self._optimizer
        decay = _decay(self._step / self._n_steps)
        rate = self._schedule.learning_rate * decay
        optimizer.param_groups[0]["lr"] = rate
        optimizer.param_groups[1]["lr"] = rate * min(1.0, self._step / self._warm_up)
        model.zero_grad()
        loss = mean_loss(model, self._loss, self._data, self._schedule.threads, sets)
        objective = loss if self._penalty is None else loss + self._penalty(model)
        objective.backward()  # type: ignore[no-untyped-call]
        value = loss.item()
        self._smoothness.add_gradient(model, value)
        optimizer.step()
        self._refiner.step(decay)
        self._keep(model)
        self._step += 1
        with torch.no_grad():
            share = (1.0 + RECENCY) / (self._step + RECENCY)
            for kept, new in zip(self.average.parameters(), model.parameters(), strict=True):
                kept.lerp_(new, share)
        return value


class _Refiner:
    """The optimiser of corrections, where a set function has any.

    Most corrections get a gradient in few batches only; Adagrad keeps their steps large until then.
    """

    def __init__(self, model: SetFunction, refinement: Refinement | None, n_sets: int) -> None:
        self._optimizer: torch.optim.Adagrad | None = None
        if isinstance(model, RefinedSetFunction) and refinement is not None:
            self._corrections, self._rate = model.corrections, refinement.learning_rate
            self._pull = 2.0 * refinement.pull / n_sets
            self._optimizer = torch.optim.Adagrad([model.corrections], lr=self._rate, fused=True)

    def step(self, decay: float) -> None:
        """Add the pull to the gradient and take a step."""
        if self._optimizer is not None and self._corrections.grad is not None:
            self._optimizer.param_groups[0]["lr"] = self._rate * decay
            self._corrections.grad.add_(self._corrections.detach(), alpha=self._pull)
            self._optimizer.step()


def mean_loss(
    model: SetFunction, loss: Loss, data: TrainingData, threads: int, sets: np.ndarray | None = None
) -> Tensor:
    """Give the weighted mean loss over some of the sets, or all."""
    outputs = data.outputs(model, sets, threads)
    chosen = slice(None) if sets is None else sets
    targets = torch.from_numpy(data.targets[chosen]).to(outputs.dtype)
    weights = torch.from_numpy(data.weights[chosen]).to(outputs.dtype)
    return (loss(outputs, targets) * weights).mean()


def token_positions(positions: Positions) -> TokenPositions:
    """Show positions to torch, without copying them."""
    return TokenPositions(
        torch.from_numpy(positions.slots),
        torch.from_numpy(positions.fractions),
        torch.from_numpy(positions.offsets),
    )


def _decay(progress: float) -> float:
    """Fall from 1 to 0.05 along a cosine, for a progress from 0 to 1."""
    return 0.05 + 0.95 * (1.0 + float(np.cos(np.pi * progress))) / 2.0
