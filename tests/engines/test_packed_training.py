"""Training on packed sets is training on the same sets unpacked, block by block."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import Problem, Schedule, TrainingSets, _epoch_order, available_engines, engine
from clearset.engines._epoch_order import BlockOrder
from clearset.functions import Loss
from clearset.sets import ScratchArray, SetPacker

from ..functions.example import Example
from .native_arguments import longs
from .native_training import give, make, results, sets

native = pytest.mark.skipif("native" not in available_engines(), reason="clearset._native is not built")


@pytest.mark.parametrize("n", [1, 31, 64, 65, 100, 1000])
@pytest.mark.parametrize("block", [1, 40, 64, 10_000])
@pytest.mark.parametrize("together", [1, 8])
def test_blocks_are_gone_through_once_and_in_steps(n, block, together, monkeypatch):
    monkeypatch.setattr(_epoch_order, "MANY", 100)
    monkeypatch.setattr(_epoch_order, "TOGETHER", together)
    order, batch_size = BlockOrder(n, block, 16, np.random.default_rng(0)), 16
    epochs = [list(order.draw()) for _ in range(2)]
    for blocks in epochs:
        drawn = np.concatenate([start + places for start, _, places in blocks])
        assert sorted(drawn) == list(range(n))
        for start, stop, places in blocks:
            assert sorted(places) == list(range(stop - start))
            # But for the last of all, a block has whole steps, so that an epoch has as many as without blocks.
            assert (stop - start) % batch_size == 0 or stop == n
            assert abs((stop - start) - block) <= batch_size or stop == n or block < batch_size
            if n >= 100:
                assert np.count_nonzero(np.diff(places) != 1) <= -(-len(places) // together) - 1
    if n > 30:
        first, second = (np.concatenate([start + places for start, _, places in blocks]) for blocks in epochs)
        assert (first != second).any()


def test_the_same_seed_draws_the_same_blocks():
    one, other = (list(BlockOrder(5000, 512, 64, np.random.default_rng(4)).draw()) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        assert (a.start, a.stop) == (b.start, b.stop)
        np.testing.assert_array_equal(a.order, b.order)


@pytest.fixture(scope="module")
def example() -> Example:
    return Example()


def packed(example, max_memory=10**9):
    order = np.random.default_rng(5).permutation(len(example.data))
    packer = SetPacker(example.binning, example.data.sizes, order, max_memory)
    packer.add(0, example.binning.positions(example.data, np.float32))
    stars, offsets = np.nan_to_num(example.data.values[:, 0], nan=2.5), example.data.offsets
    labels = np.sqrt(np.add.reduceat(stars, offsets[:-1]) / np.diff(offsets))[order]
    weights = np.linspace(0.5, 1.5, len(order))
    return TrainingSets(packer.packed(), (labels - labels.mean()) / labels.std(), weights)


def run(one, example, data, epochs=3, **changes):
    defaults = {"learning_rate": 0.03, "epochs": 30, "batch_size": 16, "patience": None}
    schedule = Schedule(**{**defaults, **changes})
    smoothness = example.smoothness(10.0, len(data))
    problem = Problem(example.initial(), example.shape, smoothness, Loss("squared_error"), data, data)
    trainer = one.trainer(problem, schedule, np.random.default_rng(3))
    losses = [value for _ in range(epochs) for value in (trainer.epoch(), trainer.validation_loss())]
    return losses, trainer.kept()


def mean_loss(function, data):
    positions = data.unpacked().positions
    positions = replace(positions, fractions=positions.fractions.astype(np.float64))
    outputs = engine().outputs(function, positions)[:, 0]
    return float((data.weights * (outputs - data.targets) ** 2).mean())


def assert_same_bits(one, other):
    assert one[0] == other[0]
    for name, table in one[1].tables.items():
        np.testing.assert_array_equal(table, other[1].tables[name])


@native
@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_one_block_is_trained_on_as_unpacked_sets_are(example, constraints):
    """One block is drawn as few sets are, so that nothing but the order of sums within a kernel could differ."""
    data = packed(example)
    assert_same_bits(
        run(engine("native"), example, data, constraints=constraints),
        run(engine("native"), example, data.unpacked(), constraints=constraints),
    )


@native
def test_engines_train_alike_on_packed_sets(example):
    """But for GPUs, where batches are others: an epoch goes round from one of the sets (cuda/test_quick.py)."""
    data = packed(example)
    found = [run(engine(name), example, data) for name in available_engines() if name != "cuda"]
    for losses, kept in found[1:]:
        np.testing.assert_allclose(losses, found[0][0], rtol=1e-4)
        for name, table in kept.tables.items():
            np.testing.assert_allclose(table, found[0][1].tables[name], atol=1e-3)


@native
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block", [1, 40, 100])
def test_several_blocks_from_memory_or_a_file(example, monkeypatch, block, threads):
    monkeypatch.setattr("clearset.engines._native_trainer.BLOCK_TOKENS", block)
    data, in_file = packed(example), packed(example, 0)
    assert isinstance(in_file.positions.packed, ScratchArray)
    found = run(engine("native"), example, data)
    assert_same_bits(found, run(engine("native"), example, in_file, threads=threads))
    # Losses are means over all sets, whatever the blocks: the last one is that of what is kept.
    assert found[0][-1] == pytest.approx(mean_loss(found[1], data), rel=1e-4)
    one_step = run(engine("native"), example, data, epochs=1, batch_size=1000)[0][0]
    assert one_step == pytest.approx(mean_loss(example.initial(), data), rel=1e-4)


def test_parts_of_packed_sets(example):
    data = packed(example)
    whole = data.unpacked()
    assert data.dtype == np.float32
    np.testing.assert_array_equal(np.concatenate([piece.targets for piece in data.pieces()]), data.targets)
    some = np.array([7, 3, 3, 50])
    taken = data.take(some)
    np.testing.assert_array_equal(taken.targets, data.targets[some])
    np.testing.assert_array_equal(taken.positions.slots, whole.positions.take(some).slots)
    assert whole.unpacked() is whole
    with pytest.raises(TypeError, match="not packed but Positions"):
        replace(whole).between(0, 1)


@native
def test_a_slot_outside_its_table_is_refused():
    given = sets("Trainer_float32", "packed", bits=np.array([1, 2], np.int32))
    given["packed"] |= np.uint32(3 << 30)
    trainer = make("Trainer_float32", "packed")
    give(trainer, "packed", given)
    with pytest.raises(ValueError, match="outside its table"):
        trainer.epoch(longs(0, 1, 2), None)


@native
@pytest.mark.parametrize("name", ["Trainer_float32", "Trainer_float64"])
def test_a_share_that_is_the_whole(name):
    """Steps of one lane that has all sets, and an exchange that adds nothing, are those of an epoch."""
    order, exchanged = longs(2, 0, 1), []
    alone, share = (make(name, "plain") for _ in range(2))
    for trainer in (alone, share):
        give(trainer, "plain", sets(name, "plain"))
    for _ in range(3):
        loss = alone.epoch(order, None)
        ends, totals = longs([2], [3]), longs(2, 1)
        assert share.epoch(order, None, ends, totals, lambda array: exchanged.append(len(array))) == loss
    assert results(share) == results(alone)
    assert len(exchanged) == 6
    assert len(set(exchanged)) == 1


@native
def test_shares_add_up_to_the_whole():
    """Two processes with a lane each take the steps of one that has both, to the last bit."""
    name, order = "Trainer_float64", longs(2, 0, 1)
    alone = make(name, "plain", {"batch_size": 3})
    give(alone, "plain", sets(name, "plain"))
    other, mine = (make(name, "plain", {"batch_size": 3}) for _ in range(2))
    for trainer in (other, mine):
        give(trainer, "plain", sets(name, "plain"))
    sent = []
    other.epoch(order[:1].copy(), None, longs([1, 1]), longs(3), lambda array: sent.append(array.copy()))

    def add_up(array):
        array += sent[0]

    both = alone.epoch(order, None, longs([1, 3]), longs(3))
    loss = mine.epoch(order[1:].copy(), None, longs([0, 2]), longs(3), add_up)
    assert loss == both
    np.testing.assert_array_equal(mine.average(), alone.average())


@native
@pytest.mark.parametrize("name", ["Trainer_float32", "Trainer_float64"])
def test_an_exchange_that_fails_ends_the_epoch(name):
    trainer = make(name, "plain")
    give(trainer, "plain", sets(name, "plain"))

    def fails(array):
        raise ConnectionError("the other process is gone")

    with pytest.raises(ConnectionError, match="is gone"):
        trainer.epoch(longs(2, 0, 1), None, longs([2], [3]), longs(2, 1), fails)
    assert np.isfinite(trainer.epoch(longs(2, 0, 1), None))
