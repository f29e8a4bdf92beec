"""Training of set functions together with the set function that takes their estimates as features."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.estimators._fitting import count_sets
from clearset.estimators.semantic._joint_function import JointFunction, JointSets, Part
from clearset.setfunction import Loss, SetFunction, one_torch_thread

# As in the training of a single set function: late steps count for more in the average that is kept.
RECENCY = 3.0
# Share of the steps in which the rate rises: Adam's first steps are as large as any, whatever little they know of the
# gradient, and the set functions have been trained already.
WARM_UP = 0.1


@dataclass(frozen=True)
class JointSchedule:
    """How to train; the fields are parameters of `JointModel`."""

    learning_rate: float
    epochs: int
    batch_size: int
    patience: int
    threads: int


@dataclass(eq=False)
class JointProgress:
    """What training has reached: the set functions, the follow-on model's first, and the validation losses."""

    models: list[SetFunction]
    before: float
    after: float
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


class _Training:
    """The iterate, its running average, and the state of the optimiser."""

    def __init__(
        self,
        parts: Sequence[Part],
        data: JointSets,
        loss: Loss,
        schedule: JointSchedule,
        rng: np.random.Generator,
    ) -> None:
        self._data, self._loss, self._schedule, self._rng = data, loss, schedule, rng
        self._unit = parts[0].unit
        self._targets = torch.from_numpy(loss.scaled(data.labels, *self._unit))
        self._weights = torch.from_numpy(data.weights)
        self._iterate = JointFunction(parts)
        self.average = copy.deepcopy(self._iterate)
        n_sets = count_sets(data.weights[data.training])
        self._constraints = [(part.shape(), part.penalty(n_sets)) for part in parts]
        self._optimizer = torch.optim.Adam(self._iterate.parameters(), lr=schedule.learning_rate)
        self._n_steps = schedule.epochs * -(-len(data.training) // schedule.batch_size)
        self._step = 0

    def validated(self, function: JointFunction) -> float:
        """Give the loss on validation data, in the labels' own unit."""
        with torch.no_grad():
            return self._in_units(self._mean_loss(function, self._data.validation).item())

    def epoch(self) -> float:
        """Go through the training data once, in random order, and give the mean loss on the way."""
        order, total = self._rng.permutation(self._data.training), 0.0
        for start in range(0, len(order), self._schedule.batch_size):
            sets = order[start : start + self._schedule.batch_size]
            total += len(sets) * self._train_on(sets)
        return self._in_units(total / len(order))

    def _train_on(self, sets: npt.NDArray[np.int64]) -> float:
        iterate, optimizer = self._iterate, self._optimizer
        progress = self._step / self._n_steps
        rate = min(1.0, progress / WARM_UP) * (1.0 + float(np.cos(np.pi * progress))) / 2.0
        optimizer.param_groups[0]["lr"] = self._schedule.learning_rate * rate
        optimizer.zero_grad()
        loss = self._mean_loss(iterate, sets)
        loss.backward()  # type: ignore[no-untyped-call]
        for model, (_, smoothness) in zip(iterate.models, self._constraints, strict=True):
            smoothness.add_gradient(model, loss.item())
        optimizer.step()
        for model, (shape, _) in zip(iterate.models, self._constraints, strict=True):
            shape.project(model)
        self._step += 1
        with torch.no_grad():
            share = (1.0 + RECENCY) / (self._step + RECENCY)
            for kept, new in zip(self.average.parameters(), iterate.parameters(), strict=True):
                kept.lerp_(new, share)
        return loss.item()

    def _mean_loss(self, function: JointFunction, sets: npt.NDArray[np.int64]) -> Tensor:
        outputs = function.outputs(self._data, sets, self._schedule.threads)
        weights = self._weights[sets]
        return (self._loss(outputs, self._targets[sets]) * weights).sum() / weights.sum()

    def _in_units(self, value: float) -> float:
        return self._loss.in_units(value, *self._unit)


@one_torch_thread()
def train_jointly(
    parts: Sequence[Part],
    data: JointSets,
    loss: Loss,
    schedule: JointSchedule,
    rng: np.random.Generator,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> JointProgress:
    """Minimise the follow-on model's loss in the parameters of all set functions, under the constraints of each.

    As for a single set function a running average of the iterates is validated. The best one is made exact in its
    constraints, and kept if it is then better on validation data than what there was before. An interrupt (Ctrl-C) ends
    training.

    Parameters
    ----------
    parts
        Trained set functions: the follow-on model's, and then one for each of the estimates.
    data
        Labelled sets, some of them for validation.
    loss
        Of the follow-on model.
    schedule
        How to train.
    rng
        Orders the sets.
    on_epoch
        Called with every new entry of the history.
    """
    training = _Training(parts, data, loss, schedule, rng)
    before = training.validated(training.average)
    progress = JointProgress([part.model for part in parts], before, before)
    best, best_loss, best_epoch = training.average, before, 0
    try:
        for epoch in range(1, schedule.epochs + 1):
            entry = {"epoch": float(epoch), "loss": training.epoch()}
            entry["validation_loss"] = training.validated(training.average)
            progress.history.append(entry)
            if on_epoch is not None:
                on_epoch(entry)
            if entry["validation_loss"] < best_loss:
                best, best_loss, best_epoch = copy.deepcopy(training.average), entry["validation_loss"], epoch
            elif epoch - best_epoch >= schedule.patience:
                break
    except KeyboardInterrupt:
        progress.interrupted = True
    if best_epoch:
        pairs = zip(parts, best.models, strict=True)
        finished = [replace(part, model=part.finished(model)) for part, model in pairs]
        after = training.validated(JointFunction(finished))
        if after < before:
            progress.models, progress.after = [part.model for part in finished], after
    return progress
