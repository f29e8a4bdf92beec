"""The quick kernels, for many tokens in single precision, against the engine on the CPU."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import Problem, Schedule, TrainingSets, available_engines, engine
from clearset.functions import Layout, Loss, Penalty, ShapeConstraints, Smoothness
from clearset.sets import Binning, Feature, Positions, SetPacker
from clearset.training import initial_set_function

if "cuda" not in available_engines():
    pytest.skip("there is no NVIDIA GPU, or torch does not see it", allow_module_level=True)

FEATURES = range(1, 11)


def binning(n_features):
    features = tuple(Feature(f"x{d}", monotonic="increasing" if d == 0 else None) for d in range(n_features))
    keypoints = tuple(np.linspace(0, 1, 4 + d % 3) for d in range(n_features))
    return Binning(features, keypoints, (None,) * n_features)


def problem(n_features, *, width=1, outputs=1, n_sets=3000, loss="squared_error"):
    rng = np.random.default_rng(n_features)
    places = binning(n_features)
    layout, sizes = Layout.full((2,) * n_features), {"width": width, "rho_keypoints": 8}
    set_sizes = rng.integers(1, 20, n_sets)
    set_sizes[5] = 300  # larger than most
    offsets = np.concatenate([[0], np.cumsum(set_sizes)])
    values = rng.uniform(-0.1, 1.1, (n_features, offsets[-1]))
    values[rng.random(values.shape) < 0.05] = np.nan
    # Fractions that 23 bits hold, so that nothing is lost by packing.
    found = [places.place(f"x{d}", row, np.float64) for d, row in enumerate(values)]
    fractions = np.floor(np.stack([f for _, f in found]) * 2**23) / 2**23
    positions = Positions(np.stack([s for s, _ in found]), fractions.astype(np.float32), offsets)
    function = initial_set_function(places, layout, np.ones((outputs, n_features)), **sizes, rng=rng)
    shape = ShapeConstraints(places, (), layout, **sizes)
    for table in function.tables.values():
        table += rng.normal(0, 0.2, table.shape)
    shape.project_exactly(function.tables)
    means = np.add.reduceat(np.nan_to_num(values).mean(axis=0), offsets[:-1]) / set_sizes
    targets = (means - means.mean()) / means.std()
    if outputs > 1:
        targets = np.digitize(targets, np.linspace(-1, 1, outputs - 1)).astype(float)
    smoothness = Smoothness(places, layout, Penalty(10.0, least_scatter=0.5), n_sets, **sizes)
    weights = rng.uniform(0.5, 1.5, n_sets)
    packer = SetPacker(places, set_sizes, np.arange(n_sets), 10**9)
    packer.add(0, positions)
    data = TrainingSets(packer.packed(), targets, weights / weights.mean())
    return Problem(function, shape, smoothness, Loss(loss), data, data)


def trained(name, given, epochs, **changes):
    options = {"learning_rate": 0.02, "epochs": 10, "batch_size": 10**6, "patience": None}
    trainer = engine(name).trainer(given, Schedule(**{**options, **changes}), np.random.default_rng(0))
    losses = [value for _ in range(epochs) for value in (trainer.epoch(), trainer.validation_loss())]
    return trainer.kept(), losses


def in_double(given):
    positions = given.data.placed
    positions = replace(positions, fractions=positions.fractions.astype(np.float64))
    data = replace(given.data, positions=positions)
    return replace(given, data=data, validation=data)


@pytest.mark.parametrize("n_features", FEATURES)
def test_steps_are_those_on_the_cpu_in_double_precision(n_features):
    """An epoch is one step, so that the order of sets does not count."""
    ours, losses = trained("cuda", problem(n_features), 3)
    expected, on_cpu = trained(available_engines()[0], in_double(problem(n_features)), 3)
    np.testing.assert_allclose(losses, on_cpu, rtol=1e-5)
    for name, table in expected.tables.items():
        np.testing.assert_allclose(ours.tables[name], table, atol=2e-4, err_msg=name)


@pytest.mark.parametrize(("width", "outputs", "loss"), [(4, 1, "squared_error"), (1, 3, "log_loss"), (2, 3, "hinge")])
def test_several_scores_and_outputs(width, outputs, loss):
    sizes = {"width": width, "outputs": outputs, "loss": loss}
    ours, losses = trained("cuda", problem(3, **sizes), 3)
    expected, on_cpu = trained(available_engines()[0], in_double(problem(3, **sizes)), 3)
    np.testing.assert_allclose(losses, on_cpu, rtol=1e-4)
    for name, table in expected.tables.items():
        np.testing.assert_allclose(ours.tables[name], table, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("n_features", [2, 6, 8])
def test_the_same_seed_gives_the_same_bits(n_features):
    (first, losses), (second, again) = (trained("cuda", problem(n_features), 4, batch_size=700) for _ in range(2))
    assert losses == again
    for name, table in first.tables.items():
        np.testing.assert_array_equal(table, second.tables[name])


def test_every_epoch_goes_through_all_sets():
    """With a rate of almost 0 the loss on the way is that of all sets, wherever an epoch begins."""
    given = problem(3)
    _, losses = trained("cuda", given, 3, batch_size=701, learning_rate=1e-12)
    np.testing.assert_allclose(losses[::2], losses[1], rtol=1e-6)


def test_a_scratch_file_gives_the_same_bits():
    given = problem(4)
    packer = SetPacker(binning(4), np.diff(given.data.placed.offsets), np.arange(len(given.data)), 0)
    packer.add(0, given.data.placed)
    filed = replace(given, data=replace(given.data, positions=packer.packed()))
    assert "scratch file" in repr(filed.data.positions)
    (a, _), (b, _) = (trained("cuda", each, 2, batch_size=700) for each in (given, filed))
    for name, table in a.tables.items():
        np.testing.assert_array_equal(table, b.tables[name])


def test_layouts_that_the_quick_kernels_do_not_have():
    """Large data with an ensemble of lattices take the general kernels."""
    given = problem(4)
    layout, sizes = Layout(sizes=(2, 3, 2, 2), subsets=((0, 1), (1, 2, 3))), {"width": 1, "rho_keypoints": 8}
    rng, places = np.random.default_rng(0), binning(4)
    function = initial_set_function(places, layout, np.ones((1, 4)), **sizes, rng=rng)
    smoothness = Smoothness(places, layout, Penalty(0.0), len(given.data), **sizes)

    def other(whole):
        shape = ShapeConstraints(places, (), layout, **sizes)
        return replace(whole, function=function, shape=shape, smoothness=smoothness)

    ours, losses = trained("cuda", other(given), 3)
    expected, on_cpu = trained(available_engines()[0], other(in_double(given)), 3)
    np.testing.assert_allclose(losses, on_cpu, rtol=1e-5)
    for name, table in expected.tables.items():
        np.testing.assert_allclose(ours.tables[name], table, atol=2e-4, err_msg=name)
