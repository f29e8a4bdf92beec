"""Training on tokens crossed with classes, with corrections to their values."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import Engine, Refinement, TrainingSets, available_engines, engine
from clearset.functions import Loss

from .crossed_example import N_CORRECTIONS, CrossedExample, in_single_precision, mean_log_loss, schedule

TRAINING = available_engines()


@pytest.fixture(params=TRAINING)
def one(request) -> Engine:
    return engine(request.param)


def start(one, example, data, corrections, noise=0.2, **changes):
    problem = example.problem(example.function(corrections, noise), data)
    return one.trainer(problem, schedule(**changes), np.random.default_rng(0))


def run(one, example, data, corrections, epochs=10, **changes):
    trainer = start(one, example, data, corrections, epochs=epochs, **changes)
    losses = [trainer.epoch() for _ in range(epochs)]
    return trainer.kept(), losses


def mean_loss(function, data):
    return mean_log_loss(engine().outputs(function, data.positions), data.targets, data.weights)


def gradient_of_corrections(function, data, step=1e-6):
    """By differences of the loss."""
    gradient = np.zeros_like(function.corrections)
    for place in np.ndindex(*gradient.shape):
        ends = []
        for sign in (1, -1):
            moved = function.corrections.copy()
            moved[place] += sign * step
            ends.append(mean_loss(replace(function, corrections=moved), data))
        gradient[place] = (ends[0] - ends[1]) / (2 * step)
    return gradient


@pytest.mark.parametrize("n_classes", [1, 4])
@pytest.mark.parametrize("refine", [False, True])
def test_learns(one, n_classes, refine):
    example = CrossedExample.random(n_classes)
    data = example.labelled()
    corrections = example.corrections() if refine else None
    initial = example.function(corrections)
    trainer = start(one, example, data, corrections, refinement=Refinement(0.1, 0.0), epochs=30)
    first = trainer.epoch()
    assert first == pytest.approx(mean_loss(initial, data), rel=1e-12)
    for _ in range(29):
        trainer.epoch()
    assert mean_loss(trainer.kept(), data) < 0.9 * first
    violations = example.shape.violations(trainer.kept().tables)
    assert max(violation for _, _, violation in violations) < 1e-6


def test_steps_of_corrections_are_those_of_adagrad_with_a_pull(one):
    """An epoch is one step here, and the iterates follow from the running averages, whose shares are known."""
    example = CrossedExample.random()
    data, pull, rate = example.labelled(), 3.0, 0.1
    trainer = start(one, example, data, example.corrections(), refinement=Refinement(rate, pull), epochs=8)
    iterate = before = trainer.kept()
    squares = np.zeros_like(iterate.corrections)
    for step in range(3):
        gradient = gradient_of_corrections(iterate, data) + 2 * pull / len(data) * iterate.corrections
        squares += gradient**2
        decay = 0.05 + 0.95 * (1 + np.cos(np.pi * step / 8)) / 2
        expected = iterate.corrections - rate * decay * gradient / (np.sqrt(squares) + 1e-10)
        trainer.epoch()
        after, share = trainer.kept(), 4.0 / (step + 4.0)
        tables = {
            name: before.tables[name] + (after.tables[name] - before.tables[name]) / share for name in after.tables
        }
        corrections = before.corrections + (after.corrections - before.corrections) / share
        iterate, before = replace(after.with_tables(tables), corrections=corrections), after
        np.testing.assert_allclose(iterate.corrections, expected, atol=1e-6)


def identity_example():
    """Two tokens of the same value and count, of which only a correction can tell which class they speak for."""
    example, n = CrossedExample.random(n_classes=1, width=1, n_sets=1), 200
    tokens = (np.arange(n) % 2).astype(np.int32)
    first = example.positions
    example.positions = replace(
        first,
        slots=np.repeat(first.slots[:, :1], n, axis=1),
        fractions=np.repeat(first.fractions[:, :1], n, axis=1),
        offsets=np.arange(n + 1),
        rows=tokens,
        corrected=tokens,
        values=np.full((15, 1), 2.0),
    )
    return example, TrainingSets(example.positions, tokens.astype(float), np.ones(n))


def test_corrections_tell_apart_what_values_do_not(one):
    example, data = identity_example()
    options = {"epochs": 60, "batch_size": 20, "refinement": Refinement(0.1, 0.0), "noise": 0.0}
    _, plain = run(one, example, data, None, **options)
    refined, losses = run(one, example, data, np.zeros((N_CORRECTIONS, 1)), **options)
    assert plain[-1] > 0.65
    assert losses[-1] < 0.5
    learned = refined.corrections[:, 0]
    assert learned[0] < -0.3 < 0.3 < learned[1]
    assert (learned[2:] == 0).all()  # tokens that never occur


def test_a_pull_draws_corrections_to_zero(one):
    example, data = identity_example()
    sizes = []
    for pull in (0.0, 1.0, 10.0):
        zeros = np.zeros((N_CORRECTIONS, 1))
        options = {"refinement": Refinement(0.1, pull), "epochs": 40, "noise": 0.0}
        sizes.append(np.abs(run(one, example, data, zeros, **options)[0].corrections).max())
    assert sizes[0] > sizes[1] > sizes[2]


def test_without_refinement_corrections_stay(one):
    example, data = identity_example()
    kept, _ = run(one, example, data, np.full((N_CORRECTIONS, 1), 0.25), epochs=5)
    assert (kept.corrections == 0.25).all()


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(one, refine, single):
    example = CrossedExample.random(n_sets=300)
    data = example.labelled()
    if single:
        data = replace(data, positions=in_single_precision(data.positions))
    corrections = example.corrections() if refine else None
    options = {"epochs": 3, "batch_size": 64, "refinement": Refinement(0.1, 0.5)}
    first, *others = [run(one, example, data, corrections, threads=n, **options)[0] for n in (1, 2, 5)]
    for other in others:
        for name, table in first.tables.items():
            np.testing.assert_array_equal(other.tables[name], table)
        if refine:
            np.testing.assert_array_equal(other.corrections, first.corrections)


def test_some_of_the_sets(one):
    example = CrossedExample.random()
    data, chosen = example.labelled(), np.array([5, 2, 30])
    part = TrainingSets(data.positions, data.targets[chosen], np.ones(3), chosen)
    outputs = engine().outputs(example.function(), data.positions)[chosen]
    loss = start(one, example, part, None).epoch()
    assert loss == pytest.approx(mean_log_loss(outputs, part.targets, part.weights), rel=1e-12)


@pytest.mark.parametrize("n_classes", [1, 4])
@pytest.mark.parametrize("loss", ["log_loss", "binary_log_loss"])
def test_all_engines_train_alike(n_classes, loss):
    """Equal seeds give equal losses, tables and corrections, to rounding; few tokens are in every batch."""
    example = CrossedExample.random(n_classes, n_sets=60)
    data, corrections = example.labelled(), example.corrections()
    results = []
    for one in map(engine, TRAINING):
        problem = replace(example.problem(example.function(corrections), data), loss=Loss(loss), validation=data)
        changes = {"refinement": Refinement(0.1, 2.0), "batch_size": 3, "epochs": 20}
        trainer = one.trainer(problem, schedule(**changes), np.random.default_rng(0))
        losses = [value for _ in range(4) for value in (trainer.epoch(), trainer.validation_loss())]
        results.append((losses, trainer.kept()))
    for losses, kept in results[1:]:
        np.testing.assert_allclose(losses, results[0][0], rtol=1e-6)
        np.testing.assert_allclose(kept.corrections, results[0][1].corrections, atol=1e-6)
        for name, table in kept.tables.items():
            np.testing.assert_allclose(table, results[0][1].tables[name], atol=1e-6)
