"""The epochs of every training: progress, early stopping, and what is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from clearset.engines import Schedule, Trainer

T = TypeVar("T")

Report = Callable[[dict[str, float]], None]

# From the first epoch on a training is given up that is worse than its rival at the same epoch by more than this share
# of the rival's loss; the share falls to zero by the second. One that goes on from what there was is given up at the
# first if no epoch was better than that.
RIVAL_EPOCHS = (8, 20)
RIVAL_SLACK = 0.02


@dataclass
class Progress(Generic[T]):
    """What training has reached."""

    best: T  # what the best epoch has left; without validation data, or without patience, the last one
    best_loss: float = float("inf")  # its loss on validation data, or without any on the training data
    best_epoch: int = 0  # counted from 1; 0 where no epoch was better than what there was before
    # ``epoch``, ``loss`` and ``validation_loss`` of every epoch
    history: list[dict[str, float]] = field(default_factory=list)
    falling_loss: float = float("inf")  # the last loss that was clearly better than all before
    falling_epoch: int = 0  # and its epoch
    interrupted: bool = False  # whether an interrupt (Ctrl-C) has ended training

    @property
    def validation_losses(self) -> list[float]:
        """The validation loss after every epoch, where there are validation data."""
        return [entry["validation_loss"] for entry in self.history if "validation_loss" in entry]


class Keeps(Protocol):
    """What keeps a training, so that it can go on where it was left."""

    def resume(self, progress: Progress[Any]) -> bool:
        """Go on from what is kept of the training, if something is; return whether it has ended."""

    def reached(self, progress: Progress[Any]) -> None:
        """Take note that the next epoch may begin."""

    def ended(self, progress: Progress[Any]) -> None:
        """Take note that the training has ended."""

    def interrupted(self) -> None:
        """Take note that an interrupt (Ctrl-C) has ended the training."""


def is_behind(loss: float, rival: Sequence[float], slack: float) -> bool:
    """Return whether a loss is above the least of a rival's by more than a share of it.

    Examples
    --------
    >>> is_behind(1.1, [3.0, 1.0], slack=0.05), is_behind(1.1, [], slack=0.05)
    (True, False)
    """
    least = min(rival, default=float("inf"))
    return loss > least + slack * abs(least)


def _slack(epoch: int) -> float:
    first, second = RIVAL_EPOCHS
    return RIVAL_SLACK * max(0.0, (second - epoch) / (second - first))


def run_epochs(
    trainer: Trainer[T],
    schedule: Schedule,
    on_epoch: Report | None = None,
    *,
    baseline: float = float("inf"),
    rival: Sequence[float] = (),
    check: Report | None = None,
    keeper: Keeps | None = None,
) -> Progress[T]:
    """Train epoch after epoch, until all are run or none has been better for long.

    The best epoch is the one of the least validation loss; without validation data, or without patience, it is the last
    one. An interrupt (Ctrl-C) ends training and keeps the best so far.

    Parameters
    ----------
    trainer : Trainer
        What trains.
    schedule : Schedule
        When to stop.
    on_epoch : callable, optional
        Called with every new entry of the history.
    baseline : float
        The validation loss before training; what there was is kept if no epoch is better.
    rival : sequence of float, default=()
        Validation losses of another training, epoch by epoch; training that stays behind is given up.
    check : callable, optional
        Called with every new entry before it counts; raises an error to end training.
    keeper : Keeps, optional
        What keeps the training. Epochs that it knows of are not run again, and only reported.
    """
    choosing = schedule.patience is not None and trainer.validates
    progress = Progress(trainer.kept(), baseline, falling_loss=baseline)
    ended = keeper is not None and keeper.resume(progress)
    if on_epoch is not None:
        for entry in progress.history:
            on_epoch(entry)
    if ended:
        return progress
    try:
        for epoch in range(len(progress.history) + 1, (schedule.stop_after or schedule.epochs) + 1):
            if keeper is not None:
                keeper.reached(progress)
            entry = {"epoch": float(epoch), "loss": trainer.epoch()}
            if (validation_loss := trainer.validation_loss()) is not None:
                entry["validation_loss"] = validation_loss
            if check is not None:
                check(entry)
            progress.history.append(entry)
            if on_epoch is not None:
                on_epoch(entry)
            current = entry.get("validation_loss", entry["loss"])
            if current < progress.falling_loss - schedule.tolerance * abs(current):
                progress.falling_loss, progress.falling_epoch = current, epoch
            if not choosing:
                progress.best_loss, progress.best_epoch = current, epoch
                continue
            if current < progress.best_loss:
                progress.best_loss, progress.best_epoch = current, epoch
                progress.best = trainer.kept()
            if schedule.patience is not None and epoch - progress.falling_epoch >= schedule.patience:
                break
            if epoch >= RIVAL_EPOCHS[0] and (
                is_behind(progress.best_loss, rival[:epoch], _slack(epoch)) or progress.best_epoch == 0
            ):
                break
        if not choosing:
            progress.best = trainer.kept()
        if keeper is not None:
            keeper.ended(progress)
    except KeyboardInterrupt:
        progress.interrupted = True
        if not choosing:
            progress.best = trainer.kept()
        if keeper is not None:
            keeper.interrupted()
    return progress
