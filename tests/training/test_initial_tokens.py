"""What a set function of tokens begins with, against means, sums and what is between, calculated token by token."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import engine
from clearset.functions import Layout
from clearset.sets import Binning, CrossedPositions, Feature, Trust
from clearset.training import beginnings, initial_crossed_set_function

NEUTRAL = 1.0


def example(**declared):
    """Make sets of 2 to 8 tokens with values between -3 and 5, placed with their number of tokens."""
    rng = np.random.default_rng(0)
    binning = Binning(
        (Feature("log_odds", monotonic="increasing"), Feature("count"), Feature("tokens", **declared)),
        (np.linspace(-3.0, 5.0, 9), np.array([1.0, 10.0]), np.array([2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
        (None, None, None),
    )
    sizes = rng.integers(2, 9, 50)
    values = rng.uniform(-3, 5, sizes.sum())
    plain = {"count": rng.uniform(1, 10, len(values)), "tokens": np.repeat(sizes, sizes).astype(float)}
    places = [binning.place(name, column, np.float64) for name, column in plain.items()]
    positions = CrossedPositions(
        np.stack([slots for slots, _ in places]),
        np.stack([fractions for _, fractions in places]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.arange(len(values), dtype=np.int32),
        np.full(len(values), -1, np.int32),
        values[:, None],
        binning.keypoints[0],
    )
    rng = np.random.default_rng(1)
    function = initial_crossed_set_function(binning, Layout.full((2, 2, 2)), width=2, rho_keypoints=5, rng=rng)
    return binning, function, positions, values, sizes


def test_it_begins_with_the_mean_times_powers_of_the_number():
    binning, function, positions, values, sizes = example()
    slopes = np.array([0.4, 0.5])
    # Without the small slopes along other features.
    function = replace(function, vertices=np.outer(slopes, np.repeat([-1.0, 1.0], 4)))
    begun = list(beginnings(function, binning, (), NEUTRAL))
    assert begun[0] is function
    assert len(begun) == 3
    first = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(values - NEUTRAL, first)
    for power, each in zip((0.5, 1.0), begun[1:], strict=True):
        means = engine().means(each, positions)[:, 0]
        # The value rises over the range -3 to 5 by twice the slope, for sets of 8 tokens.
        expected = np.outer(sums / sizes * (sizes / 8) ** power, 2 * slopes / 8)
        np.testing.assert_allclose(means, expected, rtol=1e-9)
        assert np.abs(each.vertices).max() <= 1.0


def test_a_token_that_makes_no_difference_makes_none_whatever_their_number():
    binning, function, positions, _, sizes = example()
    neutral = replace(positions, values=np.full_like(positions.values, NEUTRAL))
    for each in list(beginnings(function, binning, (), NEUTRAL))[1:]:
        by_number = [engine().means(each, neutral)[sizes == n].mean() for n in (2, 8)]
        assert abs(by_number[0] - by_number[1]) <= 0.1


@pytest.mark.parametrize("declared", [{"monotonic": "increasing"}, {"shape": "concave"}])
def test_a_declared_number_of_tokens_begins_as_it_is(declared):
    binning, function, *_ = example(**declared)
    assert list(beginnings(function, binning, (), NEUTRAL)) == [function]


def test_so_does_one_that_trusts_name():
    binning, function, *_ = example()
    assert list(beginnings(function, binning, (Trust("log_odds", by="tokens"),), NEUTRAL)) == [function]
