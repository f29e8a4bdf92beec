"""What every engine that trains promises."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from clearset.engines import Engine, Problem, Schedule, TrainingSets, _epoch_order, available_engines, engine
from clearset.functions import Loss

from ..functions.example import Example, largest_violation

LOSS = Loss("squared_error")
ENGINES = [engine(name) for name in available_engines()]


@pytest.fixture(params=ENGINES, ids=lambda one: type(one).__name__)
def one(request) -> Engine:
    return request.param


@pytest.fixture(scope="module")
def example() -> Example:
    return Example()


@pytest.fixture(scope="module")
def sets(example) -> TrainingSets:
    """Labels that rise with the mean of the stars, with a bend."""
    stars, offsets = np.nan_to_num(example.data.values[:, 0], nan=2.5), example.data.offsets
    labels = np.sqrt(np.add.reduceat(stars, offsets[:-1]) / np.diff(offsets))
    return TrainingSets(example.positions, (labels - labels.mean()) / labels.std(), np.ones(len(labels)))


def schedule(**changes) -> Schedule:
    defaults = {"learning_rate": 0.03, "epochs": 30, "batch_size": 16, "patience": None}
    return Schedule(**{**defaults, **changes})


def start(one, example, sets, validation=None, seed=0, smoothness=0.0, **changes):
    """A trainer that is about to begin."""
    penalty = example.smoothness(smoothness, len(sets))
    problem = Problem(example.initial(), example.shape, penalty, LOSS, sets, validation)
    return one.trainer(problem, schedule(**changes), np.random.default_rng(seed))


def run(one, example, sets, validation=None, **changes):
    """Train all epochs; return what is kept, and the losses on the way."""
    trainer = start(one, example, sets, validation, **changes)
    losses = [trainer.epoch() for _ in range(changes.get("epochs", 30))]
    return trainer.kept(), losses


def mean_loss(function, sets):
    """The weighted mean loss, by the fastest engine and numpy."""
    positions = sets.positions if sets.chosen is None else sets.positions.take(sets.chosen)
    positions = replace(positions, fractions=positions.fractions.astype(np.float64))
    outputs = engine().outputs(function, positions)[:, 0]
    return float((sets.weights * (outputs - sets.targets) ** 2).mean())


def assert_same_bits(a, b):
    for x, y in zip(a.tables.values(), b.tables.values(), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_learns(one, example, sets, optimizer, constraints):
    rate = 0.3 if optimizer == "adagrad" else 0.03
    changes = {"optimizer": optimizer, "constraints": constraints, "learning_rate": rate, "epochs": 60}
    kept, losses = run(one, example, sets, **changes)
    assert mean_loss(kept, sets) < 0.5 * losses[0]


def test_the_loss_of_an_epoch_is_the_mean_over_its_sets(one, example, sets):
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(sets))
    weighted = replace(sets, weights=weights / weights.mean())
    # One step in the epoch, so that its loss is that of the initial function.
    loss = start(one, example, weighted, batch_size=1000).epoch()
    assert loss == pytest.approx(mean_loss(example.initial(), weighted), rel=1e-12)


def test_what_is_kept_obeys_the_constraints(one, example, sets):
    kept, _ = run(one, example, sets)
    assert largest_violation(example.shape, kept) < 1e-6
    assert {table.dtype for table in kept.tables.values()} == {np.dtype(np.float64)}


def test_light_touch_keeps_ranges(one, example, sets):
    kept, _ = run(one, example, sets, constraints="light_touch", epochs=10)
    clipped = kept.copy()
    example.shape.project_bounds(clipped.tables)
    assert_same_bits(kept, clipped)


def test_the_initial_function_is_left_alone(one, example, sets):
    initial, before = example.initial(), example.initial()
    problem = Problem(initial, example.shape, example.smoothness(), LOSS, sets)
    trainer = one.trainer(problem, schedule(epochs=2), np.random.default_rng(0))
    trainer.epoch()
    assert_same_bits(initial, before)


def test_what_is_kept_is_a_copy(one, example, sets):
    trainer = start(one, example, sets)
    trainer.epoch()
    kept = trainer.kept()
    before = kept.copy()
    trainer.epoch()
    assert_same_bits(kept, before)
    assert any((a != b).any() for a, b in zip(kept.tables.values(), trainer.kept().tables.values(), strict=True))


def test_validation_is_of_what_is_kept(one, example, sets):
    turned = replace(sets, targets=-sets.targets)
    trainer = start(one, example, sets, turned)
    assert trainer.validates
    for _ in range(3):
        trainer.epoch()
        assert trainer.validation_loss() == pytest.approx(mean_loss(trainer.kept(), turned), rel=1e-9)


def test_without_validation_data_there_is_no_validation_loss(one, example, sets):
    trainer = start(one, example, sets)
    assert not trainer.validates
    trainer.epoch()
    assert trainer.validation_loss() is None


@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(one, example, sets, constraints):
    kept = [run(one, example, sets, epochs=3, threads=n, constraints=constraints)[0] for n in (1, 1, 3)]
    assert_same_bits(kept[0], kept[1])
    assert_same_bits(kept[0], kept[2])
    other, _ = run(one, example, sets, epochs=3, seed=1, constraints=constraints)
    assert (other.vertices != kept[0].vertices).any()


def test_weights_of_zero_do_not_count(one, example, sets):
    weights = np.where(np.arange(len(sets)) % 2, 2.0, 0.0)
    wrong = np.where(weights > 0, sets.targets, 1e6)
    _, losses = run(one, example, TrainingSets(sets.positions, wrong, weights), batch_size=200)
    chosen = np.flatnonzero(weights)
    kept = TrainingSets(sets.positions.take(chosen), sets.targets[chosen], sets.weights[chosen])
    _, half = run(one, example, kept, batch_size=200)
    assert losses[-1] == pytest.approx(half[-1], rel=1e-6)


def test_some_of_the_sets(one, example, sets):
    chosen = np.array([5, 2, 30, 71, 8])
    targets, weights = sets.targets[chosen], sets.weights[chosen]
    part, _ = run(one, example, TrainingSets(sets.positions, targets, weights, chosen), epochs=3)
    taken, _ = run(one, example, TrainingSets(sets.positions.take(chosen), targets, weights), epochs=3)
    assert_same_bits(part, taken)


def test_smoothness_straightens(one, example, sets):
    def bends(function):
        return np.abs(np.diff(function.rho_output, n=2)).max()

    free, _ = run(one, example, sets, epochs=60)
    smooth, _ = run(one, example, sets, smoothness=1e4, epochs=60)
    assert bends(smooth) < 0.1 * bends(free)


def test_single_precision_learns_the_same(one, example, sets):
    positions = replace(sets.positions, fractions=sets.positions.fractions.astype(np.float32))
    single, _ = run(one, example, replace(sets, positions=positions), epochs=3)
    double, _ = run(one, example, sets, epochs=3)
    for name, table in single.tables.items():
        np.testing.assert_allclose(table, double.tables[name], atol=1e-3)


def test_divergence_is_said(one, example, sets):
    wrong = replace(sets, targets=np.where(np.arange(len(sets)) == 3, np.nan, sets.targets))
    with pytest.raises(FloatingPointError, match="smaller learning_rate"):
        start(one, example, wrong).epoch()


@pytest.mark.parametrize("loss", [LOSS, Loss("absolute_error")])
def test_the_line_of_least_loss(one, example, sets, loss):
    function, chosen = example.feasible(), np.arange(0, len(sets), 2)
    outputs = engine().outputs(function, sets.positions)[chosen, 0]
    targets, weights = sets.targets[chosen], np.linspace(0.5, 1.5, len(chosen))
    data = replace(sets, weights=np.interp(np.arange(len(sets)), chosen, weights))

    def objective(line):
        errors = np.exp(line[0]) * outputs + line[1] - targets
        losses = errors**2 if loss is LOSS else np.abs(errors)
        return (losses * weights).mean() + 1e-3 * (line**2).sum()

    slope, shift = one.output_line(function, data, chosen, loss)
    best = minimize(objective, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert objective(np.array([np.log(slope), shift])) == pytest.approx(best.fun, rel=1e-3)


LOSSES = [
    Loss("squared_error"),
    Loss("absolute_error"),
    Loss("quantile", 0.3),
    Loss("poisson"),
    Loss("log_loss"),
    Loss("hinge"),
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("constraints", ["project", "light_touch"])
@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
def test_all_engines_train_alike(example, sets, loss, constraints, optimizer):
    """Equal seeds give equal losses and equal tables, to rounding, over the first epochs."""
    targets = sets.targets if loss.name in ("squared_error", "absolute_error", "quantile") else sets.targets > 0
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(sets))
    data = replace(sets, targets=targets.astype(float), weights=weights / weights.mean())
    changes = {"constraints": constraints, "optimizer": optimizer, "epochs": 40}
    results = []
    for one in ENGINES:
        smoothness = example.smoothness(10.0, len(sets), least_scatter=0.5)
        problem = Problem(example.initial(), example.shape, smoothness, loss, data, data)
        trainer = one.trainer(problem, schedule(**changes), np.random.default_rng(3))
        losses = [value for _ in range(4) for value in (trainer.epoch(), trainer.validation_loss())]
        results.append((losses, trainer.kept()))
    for losses, kept in results[1:]:
        np.testing.assert_allclose(losses, results[0][0], rtol=1e-7)
        for name, table in kept.tables.items():
            np.testing.assert_allclose(table, results[0][1].tables[name], atol=1e-6)


def test_all_engines_train_alike_on_many_sets(example, sets, monkeypatch):
    """Many sets are arranged at random and drawn in runs; here 40 are many, and they are some of the sets."""
    monkeypatch.setattr(_epoch_order, "MANY", 40)
    monkeypatch.setattr(_epoch_order, "TOGETHER", 4)
    chosen = np.random.default_rng(1).permutation(len(sets))[:50]
    positions = replace(sets.positions, fractions=sets.positions.fractions.astype(np.float32))
    data = TrainingSets(positions, sets.targets[chosen], np.linspace(0.5, 1.5, 50), chosen)
    smoothness = example.smoothness(10.0, 50)
    results = []
    for one in ENGINES:
        problem = Problem(example.initial(), example.shape, smoothness, LOSS, data, data)
        trainer = one.trainer(problem, schedule(), np.random.default_rng(3))
        losses = [value for _ in range(4) for value in (trainer.epoch(), trainer.validation_loss())]
        np.testing.assert_allclose(losses[-1], mean_loss(trainer.kept(), data), rtol=1e-4)
        results.append(losses)
    for losses in results[1:]:
        np.testing.assert_allclose(losses, results[0], rtol=1e-4)
