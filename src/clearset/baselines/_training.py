"""The training of every network: Adam on mini-batches, the best epoch on validation data is kept."""

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from clearset.baselines._examples import Examples
from clearset.estimators._parameters import count_threads
from clearset.setfunction import Loss
from clearset.sets._ragged import IntArray

# What the learning rate has fallen to at the last step, along a cosine.
LAST_RATE = 0.05


@dataclass(frozen=True, eq=False)
class Labelled:
    """A selection of examples, with scaled targets and weights of mean 1, one of each for every selected example."""

    examples: Examples
    rows: IntArray
    targets: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Schedule:
    """How to train; the fields are the estimators' parameters of the same names. Without patience nothing stops it."""

    learning_rate: float
    epochs: int
    batch_size: int
    weight_decay: float
    patience: int | None


@dataclass
class Progress:
    """What training has reached: the losses of every epoch, and which of them was kept."""

    best_epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use so many threads, and give back its own number afterwards.

    Examples
    --------
    >>> with torch_threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def network_threads(n_jobs: int | None) -> int:
    """Give the number of threads of torch: one unless more are asked for.

    Steps are short. Shared by threads they gain little on idle cores, and on busy ones, where threads wait for each
    other at every operation, they take many times as long.
    """
    return 1 if n_jobs is None else count_threads(n_jobs)


def train(
    network: nn.Module,
    loss: Loss,
    data: Labelled,
    validation: Labelled | None,
    schedule: Schedule,
    rng: np.random.Generator,
    on_epoch: Callable[[dict[str, float]], None],
) -> Progress:
    """Minimise the loss, and leave the network with the parameters of the best epoch.

    The best epoch is the one of the least validation loss; without validation data, or without patience, the last one.
    An interrupt (Ctrl-C) ends training and keeps the best so far. Training that diverges is an error.

    Parameters
    ----------
    network
        What to train, in place.
    loss
        What to minimise.
    data, validation
        What to learn from, and what to choose the epoch by.
    schedule
        How to train.
    rng
        Orders the examples.
    on_epoch
        Called with every new entry of the history.
    """
    trainer = _Trainer(network, loss, data, schedule, rng)
    progress, least = Progress(), float("inf")
    choosing = validation is not None and schedule.patience is not None
    best = copy.deepcopy(network.state_dict())
    try:
        for epoch in range(1, schedule.epochs + 1):
            entry = {"epoch": float(epoch), "loss": trainer.epoch()}
            if validation is not None:
                entry["validation_loss"] = evaluate(network, loss, validation)
            _check_finite(entry.values())
            progress.history.append(entry)
            on_epoch(entry)
            if not choosing:
                progress.best_epoch = epoch
            elif entry["validation_loss"] < least:
                least, progress.best_epoch = entry["validation_loss"], epoch
                best = copy.deepcopy(network.state_dict())
            elif schedule.patience is not None and epoch - progress.best_epoch >= schedule.patience:
                break
        if not choosing:
            # The last step's parameters are kept, and no loss of them is known yet.
            _check_finite([evaluate(network, loss, data)])
    except KeyboardInterrupt:
        if not progress.history:
            raise  # there is nothing yet that would be worth keeping
        progress.interrupted = True
    if choosing:
        network.load_state_dict(best)
    return progress


def _check_finite(losses: Iterable[float]) -> None:
    if not np.isfinite(list(losses)).all():
        raise FloatingPointError(
            "Training has diverged: the loss is no longer finite. Use a smaller learning_rate."
        )


class _Trainer:
    """One training: the network, its optimiser, and how far it has got."""

    def __init__(
        self, network: nn.Module, loss: Loss, data: Labelled, schedule: Schedule, rng: np.random.Generator
    ) -> None:
        self._network, self._loss, self._data, self._schedule, self._rng = network, loss, data, schedule, rng
        self._optimizer = torch.optim.AdamW(
            network.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        self._n_steps = schedule.epochs * -(-len(data.rows) // schedule.batch_size)
        self._step = 0

    def epoch(self) -> float:
        """Go through the data once, in random order, and give the mean loss on the way."""
        total, size = 0.0, self._schedule.batch_size
        order = self._rng.permutation(len(self._data.rows))
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            total += len(chosen) * self._train_on(chosen)
        return total / len(order)

    def _train_on(self, chosen: IntArray) -> float:
        progress = self._step / self._n_steps
        decay = LAST_RATE + (1.0 - LAST_RATE) * (1.0 + float(np.cos(np.pi * progress))) / 2.0
        self._optimizer.param_groups[0]["lr"] = self._schedule.learning_rate * decay
        self._optimizer.zero_grad()
        loss = _losses(self._network, self._loss, self._data, chosen).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self._step += 1
        return float(loss.detach())


def evaluate(network: nn.Module, loss: Loss, data: Labelled) -> float:
    """Give the weighted mean loss."""
    total, start = 0.0, 0
    with torch.no_grad():
        for piece in data.examples.pieces(data.rows):
            chosen = np.arange(start, start + len(piece))
            total += float(_losses(network, loss, data, chosen).sum())
            start += len(piece)
    return total / len(data.rows)


def _losses(network: nn.Module, loss: Loss, data: Labelled, chosen: IntArray) -> Tensor:
    outputs = network(*data.examples.batch(data.rows[chosen]))
    places = torch.from_numpy(chosen)
    return loss(outputs, data.targets[places]) * data.weights[places]
