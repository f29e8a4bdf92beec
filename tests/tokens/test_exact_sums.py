"""Sums that do not depend on the order, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel

ordinary = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


def total(values, order, n_pieces):
    """Sum split parts in an order and in pieces."""
    column = np.asarray(values)[:, None]
    exact = ExactSums.of(Extent.of(column))
    parts = exact.split(column)[order]
    added = sum(piece.sum(axis=0) for piece in np.array_split(parts, n_pieces))
    return exact.join(added)[0]


@given(st.lists(ordinary, min_size=1, max_size=60), st.randoms(), st.integers(1, 5))
def test_any_order_and_pieces_give_the_same_bits_and_the_true_sum(values, random, n_pieces):
    order = list(range(len(values)))
    straight = total(values, order, 1)
    random.shuffle(order)
    assert total(values, order, n_pieces) == straight
    true = sum(map(Fraction, values))
    # Two roundings at the most, each by half a unit in the last place of the sum.
    assert abs(Fraction(float(straight)) - true) <= abs(true) * Fraction(1, 2**51)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=20), st.randoms())
def test_of_any_range_the_order_does_not_matter(values, random):
    values = [value / 64 for value in values]  # sums stay finite
    order = list(range(len(values)))
    straight = total(values, order, 1)
    random.shuffle(order)
    assert total(values, order, 3) == straight


def test_whole_numbers_and_ones_need_one_part():
    assert ExactSums.of(Extent.of(np.array([[1.0, 3.0, 0.0], [1.0, -7.0, 0.0]]))).columns == (0, 1, 2)


def test_fractions_of_a_million_examples_need_two_parts():
    extent = Extent(10**6, np.array([0]), np.array([-60]))
    assert ExactSums.of(extent) == ((0, 0), (-33, -67))


def test_parts_of_an_example_add_up_to_it():
    values = np.random.default_rng(0).normal(size=(1000, 2)) ** 3
    exact = ExactSums.of(Extent.of(values))
    assert np.array_equal(exact.join(exact.split(values)), values)


def test_extents_of_pieces_join_to_that_of_all():
    values = np.random.default_rng(0).normal(size=(100, 3)) * [1, 1e10, 0]
    pieces = [Extent.of(piece) for piece in np.array_split(values, 7)]
    for mine, all_at_once in zip(Extent.joined(pieces), Extent.of(values), strict=True):
        assert np.array_equal(mine, all_at_once)


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1.7e308, 2.0**-1022])
def test_numbers_at_the_ends_of_the_range(value):
    assert total([value], [0], 1) == value


def test_infinite_contributions_stay_infinite():
    assert total([1.0, np.inf, 0.1], [0, 1, 2], 1) == np.inf


def test_no_examples():
    assert ExactSums.of(Extent.of(np.zeros((0, 2)))).split(np.zeros((0, 2))).shape == (0, 2)


def test_sums_by_channel():
    parts = np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]])
    assert sums_by_channel(parts, np.array([1, 0, 1], np.int32), 3).tolist() == [[4, 8], [17, 34], [0, 0]]
    assert sums_by_channel(parts, None, 1).tolist() == [[21, 42]]
