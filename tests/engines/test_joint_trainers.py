"""Several set functions trained together, against the same functions applied one after the other."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import Engine, Estimate, JointPart, JointProblem, Schedule, available_engines, engine
from clearset.functions import Layout, Link, Loss, Penalty, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, CrossedPositions, Feature, Positions
from clearset.training import initial_set_function

from .crossed_example import CrossedExample

TRAINING = available_engines()
CENTRE, SCALE = 0.3, 1.7  # of the estimates' own unit
RHO = {"width": 1, "rho_keypoints": 5}
KEYPOINTS = np.array([0.0, 0.2, 0.5, 1.0])
LINKS = [
    Link("squared_error"),
    Link("poisson"),
    Link("log_loss", np.array([0, 1])),
    Link("log_loss", np.arange(3)),
    Link("binary_log_loss", np.arange(3)),
]


@pytest.fixture(params=TRAINING)
def one(request) -> Engine:
    return engine(request.param)


def follow_on(n_estimates) -> tuple[Binning, SetFunction]:
    """Features are a price and the estimates."""
    features = [Feature("price"), *(Feature(f"estimate {c}", monotonic="increasing") for c in range(n_estimates))]
    binning = Binning(tuple(features), (KEYPOINTS,) * len(features), (None,) * len(features))
    layout = Layout.full((2,) * len(features))
    rng = np.random.default_rng(3)
    function = initial_set_function(binning, layout, np.ones((1, len(features))), **RHO, rng=rng)
    return binning, function


def problem(link: Link) -> JointProblem:
    rng = np.random.default_rng(4)
    example = CrossedExample.random(n_classes=link.n_outputs, width=1, n_sets=60)
    binning, function = follow_on(link.n_outputs)
    sizes = rng.integers(1, 4, 60)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    slots, fractions = binning.place("price", rng.uniform(0, 1, offsets[-1]), np.float64)
    filling = np.zeros((link.n_outputs, offsets[-1]))
    positions = Positions(
        np.concatenate([slots[None], filling.astype(np.int32)]), np.concatenate([fractions[None], filling]), offsets
    )
    prices = np.add.reduceat((slots + fractions) / 3, offsets[:-1]) / sizes
    targets = prices + 0.1 * rng.normal(size=60)
    parts = []
    for of, its_binning, layout, width in (
        (function, binning, function.layout, RHO),
        (example.function(), example.binning, example.layout, example.sizes),
    ):
        shape = ShapeConstraints(its_binning, (), layout, **width)
        smoothness = Smoothness(its_binning, layout, Penalty(0.0), 60.0, **width)
        centre, scale = (0.0, 1.0) if of is function else (CENTRE, SCALE)
        parts.append(JointPart(of, shape, smoothness, centre, scale))
    return JointProblem(
        parts,
        [Estimate(example.positions, link, range(1, 1 + link.n_outputs))],
        binning,
        positions,
        Loss("squared_error"),
        targets,
        rng.uniform(0.5, 2.0, 60),
        np.arange(45),
        np.arange(45, 60),
    )


def loss_by_hand(joint: JointProblem, functions, sets) -> float:
    """Apply the functions one after the other, by the fastest engine, and weigh the squared errors."""
    estimate, positions = joint.estimates[0], joint.positions
    assert isinstance(estimate.positions, CrossedPositions)
    outputs = engine().outputs(functions[1], estimate.positions) * SCALE + CENTRE
    columns = estimate.link.estimates(outputs).T
    slots, fractions = positions.slots.copy(), positions.fractions.copy()
    for d, column in zip(estimate.features, columns, strict=True):
        places = joint.binning.place(joint.binning.features[d].name, column, np.float64)
        slots[d], fractions[d] = (np.repeat(place, np.diff(positions.offsets)) for place in places)
    results = engine().outputs(functions[0], replace(positions, slots=slots, fractions=fractions))[:, 0]
    losses = (results - joint.targets) ** 2
    return float(np.average(losses[sets], weights=joint.weights[sets]))


def schedule(**changes) -> Schedule:
    return Schedule(**{"learning_rate": 0.02, "epochs": 20, "batch_size": 15, "patience": None, **changes})


def start(one, joint, **changes):
    return one.joint_trainer(joint, schedule(**changes), np.random.default_rng(0))


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_losses_are_those_of_one_function_after_the_other(one, link):
    joint = problem(link)
    trainer = start(one, joint)
    initial = [part.function for part in joint.parts]
    expected = loss_by_hand(joint, initial, joint.validation)
    assert trainer.validates
    assert trainer.validation_loss() == pytest.approx(expected, rel=1e-9)
    assert trainer.loss_of(initial) == pytest.approx(expected, rel=1e-9)
    # One step in the epoch, so that its loss is that of the initial functions.
    loss = start(one, joint, batch_size=1000).epoch()
    assert loss == pytest.approx(loss_by_hand(joint, initial, joint.training), rel=1e-9)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_learns_under_the_constraints_of_every_function(one, link):
    joint = problem(link)
    trainer = start(one, joint)
    losses = [trainer.epoch() for _ in range(20)]
    assert losses[-1] < 0.8 * losses[0]
    kept = trainer.kept()
    assert len(kept) == 2
    for part, function in zip(joint.parts, kept, strict=True):
        found = part.shape.violations(function.tables)
        assert max(violation for _, _, violation in found) < 1e-6
    assert trainer.validation_loss() == pytest.approx(trainer.loss_of(kept), rel=1e-12)
    assert trainer.validation_loss() == pytest.approx(loss_by_hand(joint, kept, joint.validation), rel=1e-9)


def test_every_function_learns_and_the_initial_ones_are_left_alone(one):
    joint = problem(LINKS[3])
    before = [part.function.copy() for part in joint.parts]
    trainer = start(one, joint)
    trainer.epoch()
    for part, initial, kept in zip(joint.parts, before, trainer.kept(), strict=True):
        for name, table in part.function.tables.items():
            np.testing.assert_array_equal(table, initial.tables[name])
        assert all((kept.tables[name] != initial.tables[name]).any() for name in kept.tables)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(one):
    kept = []
    for threads in (1, 1, 3):
        trainer = start(one, problem(LINKS[3]), threads=threads)
        trainer.epoch()
        kept.append([table for function in trainer.kept() for table in function.tables.values()])
    for other in kept[1:]:
        for a, b in zip(kept[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
