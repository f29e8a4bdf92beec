"""Training: mini-batches of whole sets, shape constraints kept at every step or by penalties."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from clearset.kernels import TokenPositions
from clearset.setfunction._light_touch import LightTouch
from clearset.setfunction._losses import Loss
from clearset.setfunction._module import SetFunction
from clearset.setfunction._smoothness import Smoothness
from clearset.setfunction._shape import ShapeConstraints
from clearset.sets import Positions

# How strongly the averaged parameters favour late steps: the last (1 / (1 + RECENCY)) of all steps so far make up most
# of the average, however long training has been.
RECENCY = 3.0


@dataclass(frozen=True)
class TrainingSets:
    """Labelled sets, ready for training: positions, targets in the loss's scaled unit, weights of mean 1."""

    positions: Positions
    targets: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, sets: np.ndarray) -> "TrainingSets":
        """Gather some of the sets."""
        return TrainingSets(self.positions.take(sets), self.targets[sets], self.weights[sets])


@dataclass(frozen=True)
class Schedule:
    """How to train; the fields are the estimators' parameters of the same names."""

    optimizer: str
    constraints: str
    learning_rate: float
    epochs: int
    batch_size: int
    patience: int
    threads: int


@dataclass
class Progress:
    """What training has reached: the best parameters so far, and the losses of every epoch."""

    best: SetFunction
    best_loss: float = float("inf")
    best_epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


def train(
    model: SetFunction,
    shape: ShapeConstraints,
    loss: Loss,
    data: TrainingSets,
    validation: TrainingSets | None,
    schedule: Schedule,
    rng: np.random.Generator,
    smoothness: Smoothness | None = None,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Progress:
    """Minimise the loss under the shape constraints.

    The running average of the iterates is what is validated and kept: constraints are convex, so it satisfies them as the
    iterates do, and it is steadier than any of them. The best epoch is the one of the least validation loss, without
    validation data the last one. An interrupt (Ctrl-C) ends training and keeps the best so far.

    Parameters
    ----------
    model
        Initial values; left untouched.
    shape
        The constraints.
    loss
        What to minimise.
    data, validation
        Labelled sets; no validation, no early stopping.
    schedule
        How to train.
    rng
        Orders the sets and samples constraints.
    on_epoch
        Called with every new entry of the history.
    """
    dtype = torch.from_numpy(data.positions.fractions[:, :0]).dtype
    model = copy.deepcopy(model).to(dtype)
    shape.project(model)
    average = copy.deepcopy(model)
    progress = Progress(best=average)
    optimizer = _optimizer(model, schedule)
    n_steps = schedule.epochs * -(-len(data) // schedule.batch_size)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _decay(step / n_steps))
    penalty = LightTouch(shape, model, rng) if schedule.constraints == "light_touch" else None
    keep = shape.project if penalty is None else shape.project_bounds
    step = 0
    try:
        for epoch in range(1, schedule.epochs + 1):
            total = 0.0
            order = rng.permutation(len(data))
            for start in range(0, len(data), schedule.batch_size):
                batch = data.take(order[start : start + schedule.batch_size])
                optimizer.zero_grad()
                value = mean_loss(model, loss, batch, schedule.threads)
                objective = value if penalty is None else value + penalty(model)
                if smoothness is not None:
                    objective = objective + smoothness(model, value.item())
                objective.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                decay.step()
                keep(model)
                step += 1
                _average(average, model, step)
                total += value.item() * len(batch)
            entry = {"epoch": float(epoch), "loss": total / len(data)}
            if validation is not None:
                with torch.no_grad():
                    entry["validation_loss"] = mean_loss(average, loss, validation, schedule.threads).item()
            progress.history.append(entry)
            if on_epoch is not None:
                on_epoch(entry)
            if validation is None:
                progress.best_loss, progress.best_epoch = entry["loss"], epoch
            elif entry["validation_loss"] < progress.best_loss:
                progress.best, progress.best_loss, progress.best_epoch = (
                    copy.deepcopy(average),
                    entry["validation_loss"],
                    epoch,
                )
            elif epoch - progress.best_epoch >= schedule.patience:
                break
    except KeyboardInterrupt:
        progress.interrupted = True
    return progress


def mean_loss(model: SetFunction, loss: Loss, data: TrainingSets, threads: int) -> Tensor:
    """Give the weighted mean loss over sets."""
    outputs = model(token_positions(data.positions), threads)
    targets = torch.from_numpy(data.targets).to(outputs.dtype)
    weights = torch.from_numpy(data.weights).to(outputs.dtype)
    return (loss(outputs, targets) * weights).mean()


def token_positions(positions: Positions) -> TokenPositions:
    """Show positions to torch, without copying them."""
    return TokenPositions(
        torch.from_numpy(positions.slots),
        torch.from_numpy(positions.fractions),
        torch.from_numpy(positions.offsets),
    )


def _optimizer(model: SetFunction, schedule: Schedule) -> torch.optim.Optimizer:
    if schedule.optimizer == "adagrad":
        return torch.optim.Adagrad(model.parameters(), lr=schedule.learning_rate, fused=True)
    return torch.optim.Adam(model.parameters(), lr=schedule.learning_rate, fused=True)


def _decay(progress: float) -> float:
    """Fall from 1 to 0.05 along a cosine."""
    return 0.05 + 0.95 * (1.0 + float(np.cos(np.pi * min(progress, 1.0)))) / 2.0


@torch.no_grad()
def _average(average: SetFunction, model: SetFunction, step: int) -> None:
    share = (1.0 + RECENCY) / (step + RECENCY)
    for kept, new in zip(average.tables.values(), model.tables.values(), strict=True):
        kept.lerp_(new, share)
