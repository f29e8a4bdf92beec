"""A training that goes on from its state in a new trainer: the same bits as one that was never left."""

from itertools import product

import numpy as np
import pytest

from clearset.engines import Problem, Refinement, Schedule, TrainingSets, _native_trainer, available_engines, engine
from clearset.functions import Loss
from clearset.sets import SetPacker, Trust

from ..functions.example import Example
from . import test_joint_trainers as joint
from .crossed_example import CrossedExample, in_single_precision

EPOCHS = 3


@pytest.fixture(params=[name for name in available_engines() if name != "cuda"])
def one(request):
    return engine(request.param)


def schedule(**changes) -> Schedule:
    return Schedule(**{"learning_rate": 0.05, "epochs": EPOCHS, "batch_size": 9, "patience": None, **changes})


def told(trainer) -> list:
    return [trainer.epoch(), trainer.validation_loss()]


def tables(kept) -> list[np.ndarray]:
    functions = kept if isinstance(kept, list) else [kept]
    corrections = [function.corrections for function in functions if function.corrections is not None]
    return [table for function in functions for table in function.tables.values()] + corrections


def assert_goes_on(begin) -> None:
    """Train undisturbed; then again, in a new trainer for every epoch, by what state and generator were."""
    whole, _ = begin(0)
    expected = [told(whole) for _ in range(EPOCHS)]
    losses, state, generator = [], None, None
    for _ in range(EPOCHS):
        trainer, rng = begin(0)
        if state is not None:
            trainer.resume(state)
            rng.bit_generator.state = generator
        losses.append(told(trainer))
        state, generator = trainer.state(), rng.bit_generator.state
    assert losses == expected
    for ours, theirs in zip(tables(trainer.kept()), tables(whole.kept()), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # It would be noticed: a state that is left out changes what comes of it.
    other, rng = begin(0)
    rng.bit_generator.state = generator
    assert told(other) != losses[-1]


def numeric(one, loss="squared_error", packed=False, **changes):
    example = Example(trusts=(Trust("stars", by="words"),))
    labels = np.nan_to_num(np.add.reduceat(example.data.values[:, 0], example.data.offsets[:-1]) > 8).astype(float)
    weights = np.linspace(0.5, 1.5, len(labels))
    data = TrainingSets(example.positions, labels, weights)
    if packed:
        packer = SetPacker(example.binning, example.data.sizes, np.arange(len(labels)), 10**9)
        packer.add(0, example.binning.positions(example.data, np.float32))
        data = TrainingSets(packer.packed(), labels, weights)

    def begin(seed):
        smoothness = example.smoothness(10.0, len(labels))
        problem = Problem(example.initial(), example.shape, smoothness, Loss(loss, 0.3), data, data)
        rng = np.random.default_rng(seed)
        return one.trainer(problem, schedule(**changes), rng), rng

    return begin


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson", "log_loss", "hinge"])
def test_every_loss(one, loss):
    assert_goes_on(numeric(one, loss))


@pytest.mark.parametrize(("optimizer", "constraints"), list(product(["adam", "adagrad"], ["project", "light_touch"])))
def test_every_optimizer_and_way_of_keeping_constraints(one, optimizer, constraints):
    assert_goes_on(numeric(one, optimizer=optimizer, constraints=constraints))


@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_packed_sets_block_by_block(one, constraints, monkeypatch):
    monkeypatch.setattr(_native_trainer, "BLOCK_TOKENS", 60)
    assert_goes_on(numeric(one, packed=True, constraints=constraints))


@pytest.mark.parametrize("n_classes", [1, 4])
@pytest.mark.parametrize("validates", [False, True])
def test_corrections_that_catch_up(one, n_classes, validates):
    """Without validation, the averages of corrections are caught up at the very end only."""
    example = CrossedExample.random(n_classes)
    positions = in_single_precision(example.positions)
    labelled = example.labelled()
    data = TrainingSets(positions, labelled.targets, labelled.weights)

    def begin(seed):
        problem = example.problem(example.function(example.corrections()), data)
        problem = Problem(
            problem.function, problem.shape, problem.smoothness, problem.loss, data, data if validates else None
        )
        rng = np.random.default_rng(seed)
        return one.trainer(problem, schedule(refinement=Refinement(0.1, 2.0)), rng), rng

    assert_goes_on(begin)


@pytest.mark.parametrize("link", joint.LINKS, ids=lambda link: link.name)
def test_joint_training(one, link):
    def begin(seed):
        rng = np.random.default_rng(seed)
        return one.joint_trainer(joint.problem(link), schedule(batch_size=15), rng), rng

    assert_goes_on(begin)


def test_the_number_of_threads_does_not_matter():
    if "native" not in available_engines():
        pytest.skip("clearset._native is not built")
    begin, many = numeric(engine("native")), numeric(engine("native"), threads=4)
    whole, _ = begin(0)
    expected = [told(whole) for _ in range(2)]
    first, rng = begin(0)
    losses = [told(first)]
    second, other = many(0)
    second.resume(first.state())
    other.bit_generator.state = rng.bit_generator.state
    assert [*losses, told(second)] == expected


def test_a_state_of_another_training_is_refused_and_changes_nothing(one):
    trainer, _ = numeric(one)(0)
    told(trainer)
    state, before = trainer.state(), trainer.kept()
    name = next(name for name in state if "values" in name or "iterate" in name)
    for wrong in (
        {},
        {**state, "more": np.zeros(1)},
        {**state, name: state[name][:-1]},
        {**state, name: state[name].astype(np.float32)},
        {key: value for key, value in state.items() if key != name},
    ):
        with pytest.raises(ValueError, match=r"state|entries|has the shape"):
            trainer.resume({key: value + 0 for key, value in wrong.items()})
    for ours, theirs in zip(tables(trainer.kept()), tables(before), strict=True):
        np.testing.assert_array_equal(ours, theirs)
