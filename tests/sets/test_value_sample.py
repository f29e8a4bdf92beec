"""A sample of values does not depend on the order and pieces in which they come, and is fair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.sets import _value_sample
from clearset.sets._value_sample import MOST_VALUES, ValueSample, mixed, set_keys, token_keys

FEW = 100


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(_value_sample, "MOST_VALUES", FEW)


def sampled(values, weights=None, order=None, cuts=()):
    """Sample values whose keys are their places, in pieces that are anywhere among them."""
    sample, keys = ValueSample(), set_keys(0, len(values))
    order = np.arange(len(values)) if order is None else order
    for part in map(np.sort, np.split(order, list(cuts))):
        sample.add(keys[part], mixed(keys[part]), values[part], None if weights is None else weights[part])
    return sample


def assert_same(one, other):
    assert one.count == other.count
    for mine, theirs in zip(one.values(), other.values(), strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs)


@st.composite
def ways(draw):
    """Values with ties, weights or none, an order, and where it is cut."""
    n, rng = draw(st.integers(1, 1000)), np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.normal(size=n).round(draw(st.integers(0, 3)))
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else None
    return values, weights, rng.permutation(n), sorted(draw(st.lists(st.integers(0, n), max_size=6)))


@pytest.mark.usefixtures("few")
@given(ways())
@settings(max_examples=100, deadline=None)
def test_any_order_and_pieces_give_the_same_sample(way):
    values, weights, order, cuts = way
    assert_same(sampled(values, weights, order, cuts), sampled(values, weights))


def gathered(samples):
    """Return what a process gathers of several: in place of the others, their calls are made one after the other."""
    sent = [[] for _ in samples]
    for sample, own in zip(samples, sent, strict=True):
        sample.gathered(lambda array, own=own: [own.append(array) or array])
    calls = iter(zip(*sent, strict=True))
    return samples[0].gathered(lambda _: list(next(calls)))


@pytest.mark.usefixtures("few")
@given(ways())
@settings(max_examples=100, deadline=None)
def test_merged_samples_are_the_sample_of_the_whole(way):
    values, weights, order, cuts = way
    keys, parts = set_keys(0, len(values)), []
    for part in map(np.sort, np.split(order, cuts)):
        parts.append(ValueSample())
        parts[-1].add(keys[part], mixed(keys[part]), values[part], None if weights is None else weights[part])
    assert_same(gathered(parts), sampled(values, weights))


@pytest.mark.usefixtures("few")
@given(ways())
@settings(max_examples=100, deadline=None)
def test_the_sample_is_of_the_values_and_has_their_ends(way):
    values, weights, order, cuts = way
    found, found_weights = sampled(values, weights, order, cuts).values()
    if len(values) <= FEW:
        np.testing.assert_array_equal(found, values)
        if weights is not None:
            np.testing.assert_array_equal(found_weights, weights)
    else:
        assert len(found) == FEW + 2
    assert (found.min(), found.max()) == (values.min(), values.max())
    known = set(zip(values, np.ones(len(values)) if weights is None else weights, strict=True))
    assert set(zip(found, np.ones(len(found)) if weights is None else found_weights, strict=True)) <= known


def test_the_least_mixed_keys_are_kept():
    values = np.arange(3.0 * MOST_VALUES)
    found, _ = sampled(values).values()
    order = mixed(set_keys(0, len(values)))
    expected = np.sort(np.concatenate([np.argsort(order)[:MOST_VALUES], [0, len(values) - 1]]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("cuts", [[], [1], [400_000], range(1000, 1_000_000, 1000)], ids=len)
def test_many_values_at_once_or_in_pieces(cuts):
    values = np.random.default_rng(1).normal(size=1_000_000)
    found, _ = sampled(values, cuts=cuts).values()
    assert len(found) == MOST_VALUES + 2
    np.testing.assert_array_equal(found, sampled(values).values()[0])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("arranged", [np.sort, np.asarray])
def test_quantiles_are_as_near_as_promised(seed, arranged):
    """By Dvoretzky, Kiefer and Wolfowitz, with a probability of 99.9%; the seeds are fixed."""
    values = arranged(np.random.default_rng(seed).lognormal(size=400_000))
    found = np.sort(sampled(values).values()[0])
    shares = np.searchsorted(np.sort(values), found, side="right") / len(values)
    own = np.arange(1, len(found) + 1) / len(found)
    assert np.abs(shares - own).max() < np.sqrt(np.log(2 / 0.001) / (2 * MOST_VALUES))


def test_keys_of_tokens_and_sets():
    """Each token has a key of its own, which does not depend on the piece that its set comes in."""
    offsets = np.array([0, 3, 3, 5])
    whole = token_keys(7, offsets)
    assert len(set(whole.tolist())) == 5
    np.testing.assert_array_equal(token_keys(9, np.array([0, 2])), whole[3:])
    np.testing.assert_array_equal(set_keys(7, 3), whole[[0]][0] + (np.arange(3, dtype=np.uint64) << np.uint64(24)))


def test_mixed_keys_look_random():
    """Each bit of the mixed keys of neighbours is set in about half of them."""
    bits = np.unpackbits(mixed(set_keys(0, 100_000)).view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 0.01


def test_nothing():
    sample = ValueSample()
    assert sample.values()[0].shape == (0,)
    sample.add(set_keys(0, 0), set_keys(0, 0), np.empty(0), None)
    assert sample.count == 0
    other = sampled(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gathered([other, ValueSample()]).values()[0], [1.0, 2.0])
    assert gathered([ValueSample(), ValueSample()]).values()[0].shape == (0,)
