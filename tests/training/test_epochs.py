"""The epochs of a training, with a trainer that does as it is told and with one that trains."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from clearset.engines import Problem, Schedule, TrainingSets, engine
from clearset.functions import Loss
from clearset.training import run_epochs

from ..functions.example import Example


@dataclass
class Told:
    """Has these validation losses epoch after epoch; what it keeps is the number of the epoch."""

    losses: list[float | None]
    interrupt_at: int | None = None
    epochs: int = field(default=0, init=False)

    @property
    def validates(self):
        return self.losses[0] is not None

    def epoch(self):
        if self.epochs + 1 == self.interrupt_at:
            raise KeyboardInterrupt
        self.epochs += 1
        return 100.0 - self.epochs

    def validation_loss(self):
        return self.losses[self.epochs - 1]

    def kept(self):
        return self.epochs


def schedule(**changes):
    return Schedule(**{"learning_rate": 0.1, "epochs": 10, "batch_size": 8, "patience": 3, **changes})


def test_keeps_the_epoch_of_the_least_validation_loss():
    progress = run_epochs(Told([5.0, 3.0, 4.0, 2.0, 6.0, 7.0, 8.0, 1.0, 1.0, 1.0]), schedule())
    assert (progress.best, progress.best_epoch, progress.best_loss) == (4, 4, 2.0)
    # Three epochs without a better one are enough, whatever would have come.
    assert [entry["epoch"] for entry in progress.history] == [1, 2, 3, 4, 5, 6, 7]
    assert progress.history[1] == {"epoch": 2.0, "loss": 98.0, "validation_loss": 3.0}
    assert not progress.interrupted


def test_runs_all_epochs_while_it_gets_better():
    progress = run_epochs(Told([10.0 - n for n in range(10)]), schedule(patience=1))
    assert (progress.best, len(progress.history)) == (10, 10)


def test_small_gains_do_not_renew_patience_but_are_kept():
    losses = [10.0, 9.0, 8.99, 8.98, 8.97, 8.96, 8.95, 8.94, 8.93, 8.92]
    patient = run_epochs(Told(losses), schedule())
    assert len(patient.history) == 10
    strict = run_epochs(Told(losses), schedule(tolerance=0.01))
    assert len(strict.history) == 5
    assert (strict.best, strict.best_loss) == (5, 8.97)


def test_small_gains_add_up():
    # No epoch gains a hundredth, but each third one has gained that since the last that did.
    losses = [10.0 * 0.996**n for n in range(10)]
    assert len(run_epochs(Told(losses), schedule(tolerance=0.01, patience=4)).history) == 10


def test_without_patience_the_last_epoch_is_kept():
    progress = run_epochs(Told([1.0, 2.0, 3.0]), schedule(epochs=3, patience=None))
    assert (progress.best, progress.best_epoch, progress.best_loss) == (3, 3, 3.0)


def test_without_validation_data_the_last_epoch_is_kept():
    progress = run_epochs(Told([None] * 4), schedule(epochs=4, patience=1))
    assert (progress.best, progress.best_epoch, progress.best_loss) == (4, 4, 96.0)
    assert progress.history[0] == {"epoch": 1.0, "loss": 99.0}


def test_stops_after_so_many_epochs_of_a_longer_schedule():
    progress = run_epochs(Told([None] * 10), schedule(stop_after=2, patience=None))
    assert (progress.best, len(progress.history)) == (2, 2)


def test_nothing_better_than_before_keeps_what_there_was():
    progress = run_epochs(Told([5.0, 4.0, 6.0, 7.0]), schedule(epochs=4), baseline=3.0)
    assert (progress.best, progress.best_epoch, progress.best_loss) == (0, 0, 3.0)
    assert len(progress.history) == 3
    better = run_epochs(Told([5.0, 2.0, 6.0, 7.0]), schedule(epochs=4), baseline=3.0)
    assert (better.best, better.best_epoch, better.best_loss) == (2, 2, 2.0)


def test_not_a_number_is_never_the_best():
    progress = run_epochs(Told([float("nan"), 4.0, float("nan"), 5.0]), schedule(epochs=4))
    assert (progress.best, progress.best_loss) == (2, 4.0)


@pytest.mark.parametrize("at", [1, 4])
def test_an_interrupt_keeps_the_best_so_far(at):
    progress = run_epochs(Told([5.0, 3.0, 4.0, 1.0], interrupt_at=at), schedule())
    assert progress.interrupted
    assert (progress.best, progress.best_epoch) == ((0, 0) if at == 1 else (2, 2))
    assert len(progress.history) == at - 1


def test_an_interrupt_without_validation_keeps_the_last_epoch():
    progress = run_epochs(Told([None] * 9, interrupt_at=4), schedule())
    assert progress.interrupted
    assert (progress.best, progress.best_epoch) == (3, 3)


def test_every_epoch_is_reported_and_may_be_refused():
    seen, refused = [], []

    def check(entry):
        refused.append(entry["epoch"])
        if entry["epoch"] == 3:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        run_epochs(Told([5.0] * 9), schedule(), seen.append, check=check)
    assert refused == [1.0, 2.0, 3.0]
    assert [entry["epoch"] for entry in seen] == [1.0, 2.0]


class TestWithATrainer:
    @pytest.fixture
    def data(self):
        example = Example()
        stars, offsets = np.nan_to_num(example.data.values[:, 0], nan=2.5), example.data.offsets
        labels = np.add.reduceat(stars, offsets[:-1]) / np.diff(offsets)
        targets = (labels - labels.mean()) / labels.std()
        return TrainingSets(example.positions, targets, np.ones(len(labels)))

    def run(self, data, validation, on_epoch=None, **changes):
        example, how = Example(), schedule(learning_rate=0.03, epochs=30, **changes)
        penalty = example.smoothness()
        problem = Problem(example.initial(), example.shape, penalty, Loss("squared_error"), data, validation)
        return run_epochs(engine("torch").trainer(problem, how, np.random.default_rng(0)), how, on_epoch)

    def loss(self, function, data):
        outputs = engine().outputs(function, data.positions)[:, 0]
        return float(((outputs - data.targets) ** 2).mean())

    def test_keeps_the_epoch_that_is_best_on_validation_data(self, data):
        upside_down = replace(data, targets=-data.targets)
        progress = self.run(data, upside_down, patience=4)
        losses = [entry["validation_loss"] for entry in progress.history]
        assert progress.best_epoch == 1 + int(np.argmin(losses))
        assert self.loss(progress.best, upside_down) == pytest.approx(min(losses))
        assert len(losses) == progress.best_epoch + 4

    def test_an_interrupt_keeps_the_best_so_far(self, data):
        def stop(entry):
            if entry["epoch"] == 3:
                raise KeyboardInterrupt

        progress = self.run(data, data, stop)
        assert progress.interrupted
        assert progress.best_epoch == 2
        assert self.loss(progress.best, data) == pytest.approx(progress.best_loss)


class Falling:
    """A trainer whose validation losses are given."""

    validates = True

    def __init__(self, losses):
        self._losses, self._epoch = losses, 0

    def epoch(self):
        self._epoch += 1
        return 0.0

    def validation_loss(self):
        return self._losses[self._epoch - 1]

    def kept(self):
        return self._epoch


def test_training_that_stays_behind_its_rival_is_given_up():
    schedule = Schedule(learning_rate=0.1, epochs=30, batch_size=1, patience=30)
    rival = [1.0 / epoch for epoch in range(1, 31)]
    behind = [1.05 * loss for loss in rival]
    assert len(run_epochs(Falling(behind), schedule, rival=rival).history) == 8
    close = [1.01 * loss for loss in rival]
    assert len(run_epochs(Falling(close), schedule, rival=rival).history) == 15
    assert len(run_epochs(Falling(rival), schedule, rival=rival).history) == 30
    # A rival that had fewer epochs is met by the best that it reached.
    assert len(run_epochs(Falling(close), schedule, rival=rival[:5]).history) == 30
    assert len(run_epochs(Falling(behind), schedule).history) == 30


def test_training_that_is_no_better_than_its_start_is_given_up():
    schedule = Schedule(learning_rate=0.1, epochs=30, batch_size=1, patience=30)
    losses = [2.0 - 0.01 * epoch for epoch in range(1, 31)]
    assert len(run_epochs(Falling(losses), schedule, baseline=1.5).history) == 8
    assert len(run_epochs(Falling(losses), schedule, baseline=1.95).history) == 30
