import copy

import numpy as np
import pytest
import torch

from clearset.setfunction import Loss, Schedule, Smoothness, TrainingSets, train
from clearset.setfunction._training import mean_loss

LOSS = Loss("squared_error")


def schedule(**changes):
    defaults = {
        "optimizer": "adam",
        "constraints": "project",
        "learning_rate": 0.03,
        "epochs": 30,
        "batch_size": 16,
        "patience": 30,
        "threads": 1,
    }
    return Schedule(**{**defaults, **changes})


@pytest.fixture
def sets(example):
    """Labels that rise with the mean of the stars, with a bend."""
    stars, offsets = np.nan_to_num(example.data.values[:, 0], nan=2.5), example.data.offsets
    labels = np.sqrt(np.add.reduceat(stars, offsets[:-1]) / np.diff(offsets))
    return TrainingSets(example.positions, (labels - labels.mean()) / labels.std(), np.ones(len(labels)))


def run(example, sets, validation=None, on_epoch=None, **changes):
    smoothness = Smoothness(example.binning, example.layout, 0.0, len(sets.targets), width=2, rho_keypoints=7)
    rng = np.random.default_rng(0)
    return train(
        example.initial(),
        example.shape,
        smoothness,
        LOSS,
        sets,
        validation,
        schedule(**changes),
        rng,
        on_epoch,
    )


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_learns(example, sets, optimizer, constraints):
    rate = 0.3 if optimizer == "adagrad" else 0.03
    progress = run(example, sets, optimizer=optimizer, constraints=constraints, learning_rate=rate, epochs=60)
    assert mean_loss(progress.best, LOSS, sets, 1).item() < 0.5 * progress.history[0]["loss"]
    assert len(progress.history) == 60


def test_iterates_and_their_average_stay_feasible(example, sets):
    progress = run(example, sets)
    assert max(violation for _, _, violation in example.shape.violations(progress.best)) < 1e-6


def test_leaves_the_initial_model_alone(example, sets):
    initial = example.initial()
    before = copy.deepcopy(initial.state_dict())
    smoothness = Smoothness(example.binning, example.layout, 0.0, len(sets.targets), width=2, rho_keypoints=7)
    train(initial, example.shape, smoothness, LOSS, sets, None, schedule(epochs=2), np.random.default_rng(0))
    for name, value in initial.state_dict().items():
        assert torch.equal(value, before[name])


def test_keeps_the_epoch_that_is_best_on_validation_data(example, sets):
    upside_down = TrainingSets(sets.positions, -sets.targets, sets.weights)
    progress = run(example, sets, upside_down, patience=4)
    losses = [entry["validation_loss"] for entry in progress.history]
    assert progress.best_epoch == 1 + int(np.argmin(losses))
    assert progress.best_loss == min(losses)
    assert mean_loss(progress.best, LOSS, upside_down, 1).item() == pytest.approx(min(losses))
    assert len(losses) == progress.best_epoch + 4  # stopped after four epochs without a better one


def test_an_interrupt_keeps_the_best_so_far(example, sets):
    def stop(entry):
        if entry["epoch"] == 3:
            raise KeyboardInterrupt

    progress = run(example, sets, sets, on_epoch=stop)
    assert progress.interrupted
    assert progress.best_epoch == 2
    assert mean_loss(progress.best, LOSS, sets, 1).item() == pytest.approx(progress.best_loss)


def test_weights_of_zero_do_not_count(example, sets):
    weights = np.where(np.arange(len(sets.targets)) % 2, 2.0, 0.0)
    wrong = np.where(weights > 0, sets.targets, 1e6)
    progress = run(example, TrainingSets(sets.positions, wrong, weights), batch_size=200)
    chosen = np.flatnonzero(weights)
    kept = TrainingSets(sets.positions.take(chosen), sets.targets[chosen], sets.weights[chosen])
    half = run(example, kept, batch_size=200)
    assert progress.history[-1]["loss"] == pytest.approx(half.history[-1]["loss"], rel=1e-6)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(example, sets):
    first, second = run(example, sets, epochs=3), run(example, sets, epochs=3, threads=3)
    for a, b in zip(first.best.tables.values(), second.best.tables.values(), strict=True):
        assert torch.equal(a, b)
