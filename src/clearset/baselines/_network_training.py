"""The training of every network: Adam on mini-batches, in the epoch loop that all trainings share."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from clearset.baselines._network_inputs import NetworkInput
from clearset.engines import Schedule
from clearset.engines.torch import loss_of
from clearset.functions import Loss
from clearset.sets import IntArray
from clearset.training import Progress, run_epochs

Parameters = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class LabelledInput:
    """Some examples as a network takes them, with their labels."""

    inputs: NetworkInput
    rows: IntArray  # of the inputs: the examples that these are
    targets: Tensor  # labels in the loss's scaled unit, or numbers of classes
    weights: Tensor  # of mean 1

    def __len__(self) -> int:
        return len(self.rows)

    def losses(self, network: nn.Module, loss: Loss, chosen: IntArray) -> Tensor:
        """Return the weighted loss of each of the chosen examples."""
        outputs = network(*self.inputs.batch(self.rows[chosen]))
        places = torch.from_numpy(chosen)
        return loss_of(loss, outputs, self.targets[places]) * self.weights[places]

    @torch.no_grad()
    def mean_loss(self, network: nn.Module, loss: Loss) -> float:
        """Return the weighted mean loss."""
        total, start = 0.0, 0
        for piece in self.inputs.pieces(self.rows):
            chosen = np.arange(start, start + len(piece))
            total += float(self.losses(network, loss, chosen).sum())
            start += len(piece)
        return total / len(self)


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """What to minimise."""

    network: nn.Module  # trained in place
    loss: Loss
    data: LabelledInput
    validation: LabelledInput | None  # what to choose the best epoch by
    weight_decay: float  # the share of the learning rate by which weights shrink at every step


class NetworkTrainer:
    """One training: the network, its optimizer, and the number of steps taken."""

    def __init__(self, problem: NetworkProblem, schedule: Schedule, rng: np.random.Generator) -> None:
        self._problem, self._schedule, self._rng = problem, schedule, rng
        self._optimizer = torch.optim.AdamW(
            problem.network.parameters(), lr=schedule.learning_rate, weight_decay=problem.weight_decay, fused=True
        )
        self._n_steps = schedule.epochs * -(-len(problem.data) // schedule.batch_size)
        self._step = 0

    @property
    def validates(self) -> bool:
        """Whether there are validation data."""
        return self._problem.validation is not None

    def epoch(self) -> float:
        """Go through the data once, in random order, and return the mean loss on the way."""
        total, size = 0.0, self._schedule.batch_size
        order = self._rng.permutation(len(self._problem.data))
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            total += len(chosen) * self._train_on(chosen)
        return total / len(order)

    def validation_loss(self) -> float | None:
        """Return the loss on validation data, if there are any."""
        problem = self._problem
        if problem.validation is None:
            return None
        return problem.validation.mean_loss(problem.network, problem.loss)

    def kept(self) -> Parameters:
        """Return a copy of the network's parameters."""
        return copy.deepcopy(self._problem.network.state_dict())

    def _train_on(self, chosen: IntArray) -> float:
        problem, schedule = self._problem, self._schedule
        rate = schedule.learning_rate * schedule.decay(self._step / self._n_steps)
        self._optimizer.param_groups[0]["lr"] = rate
        self._optimizer.zero_grad()
        loss = problem.data.losses(problem.network, problem.loss, chosen).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self._step += 1
        return float(loss.detach())


def train_network(
    problem: NetworkProblem,
    schedule: Schedule,
    rng: np.random.Generator,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Progress[Parameters]:
    """Minimise the loss, and leave the network with the parameters of the best epoch."""
    # The best epoch is the one of the least validation loss; without validation data, or without patience, it is the
    # last one. An interrupt (Ctrl-C) ends training and keeps the best so far. Training that diverges is an error.
    # `on_epoch` is called with every new entry of the history.
    trainer = NetworkTrainer(problem, schedule, rng)
    keeps_last = schedule.patience is None or not trainer.validates

    def check(entry: dict[str, float]) -> None:
        losses = list(entry.values())
        if keeps_last and entry["epoch"] == schedule.epochs:
            # The last step's parameters are kept, and no loss of them is known yet.
            losses.append(problem.data.mean_loss(problem.network, problem.loss))
        if not np.isfinite(losses).all():
            raise FloatingPointError(
                "Training has diverged: the loss is no longer finite. Use a smaller learning_rate."
            )

    progress = run_epochs(trainer, schedule, on_epoch, check=check)
    if progress.interrupted and not progress.history:
        raise KeyboardInterrupt  # no epoch has ended, so there is nothing to keep
    problem.network.load_state_dict(progress.best)
    return progress
