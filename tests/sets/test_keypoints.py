import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from clearset.sets._keypoints import choose_keypoints, telling_keypoints

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.integers(-20, 20).map(float)


def chosen(values, n_keypoints, weights=None, bounds=(None, None)):
    weights = None if weights is None else np.array(weights, dtype=float)
    return choose_keypoints(np.array(values, dtype=float), weights, n_keypoints, bounds)


@given(st.lists(SMALL, min_size=2, max_size=60), st.integers(2, 12))
def test_as_many_distinct_observed_values_as_asked_for(values, n_keypoints):
    keypoints = chosen(values, n_keypoints)
    distinct = sorted(set(values))
    if len(distinct) == 1:
        assert len(keypoints) == 2
        assert distinct[0] in keypoints
        return
    assert len(keypoints) == min(n_keypoints, len(distinct))
    assert set(keypoints) <= set(values)
    assert (np.diff(keypoints) > 0).all()
    assert (keypoints[0], keypoints[-1]) == (min(values), max(values))


@given(st.lists(st.tuples(SMALL, st.integers(0, 4)), min_size=1, max_size=40), st.integers(2, 8))
def test_whole_weights_are_copies(pairs, n_keypoints):
    pairs = [pair for pair in pairs if pair[1]] or [(1.0, 1)]
    values, weights = zip(*pairs, strict=True)
    np.testing.assert_array_equal(chosen(values, n_keypoints, weights), chosen(np.repeat(values, weights), n_keypoints))


@given(st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=60), st.integers(3, 12))
def test_steps_between_keypoints_hold_equal_clipped_weight(weights, n_keypoints):
    if len(weights) <= n_keypoints:
        return
    keypoints = chosen(np.arange(len(weights)), n_keypoints, weights)
    inner = np.array(weights[1:-1])
    n_steps = n_keypoints - 1
    if len(inner) == n_steps:  # up to the smallest weight every step solves the equation
        step = inner.min()
    else:  # independent of the closed form: the step is a root
        step = brentq(lambda c: np.minimum(inner, c).sum() - n_steps * c, inner.min() / 2, inner.sum() + 1)
    clipped = np.minimum(inner, step)
    for rank, keypoint in enumerate(keypoints[1:-1], start=1):
        place = int(keypoint) - 1
        assert clipped[:place].sum() <= rank * step * (1 + 1e-9)
        assert clipped[: place + 1].sum() >= rank * step * (1 - 1e-9)


def test_smooth_data_give_quantiles():
    values = np.random.default_rng(0).normal(size=50_000)
    expected = np.quantile(values, np.linspace(0, 1, 10))
    np.testing.assert_allclose(chosen(values, 10), expected, atol=2e-3)


def test_a_spike_takes_one_keypoint_and_the_others_share_the_rest():
    values = np.concatenate((np.full(10_000, 50.0), np.arange(101)))
    keypoints = chosen(values, 6)
    assert len(keypoints) == 6
    assert 50 in keypoints
    others = np.setdiff1d(keypoints, [50])
    assert np.diff(others).max() < 45
    at_the_end = chosen(np.concatenate((np.zeros(10_000), np.arange(101))), 6)
    np.testing.assert_allclose(at_the_end, [0, 20, 40, 60, 80, 100], atol=1)


def test_bounds_are_the_ends():
    values = np.arange(11.0)
    assert chosen(values, 3, bounds=(-5, 20)).tolist()[::2] == [-5, 20]
    assert chosen(values, 4, bounds=(2, None)).tolist()[::3] == [2, 10]
    assert chosen(values, 4, bounds=(None, 3)).tolist() == [0, 1, 2, 3]
    assert chosen(values, 20, bounds=(2.5, 4.5)).tolist() == [2.5, 3, 4, 4.5]
    assert chosen([7.0], 5, bounds=(0, 9)).tolist() == [0, 7, 9]
    assert chosen([7.0], 2, bounds=(0, 9)).tolist() == [0, 9]
    assert chosen([7.0, 8.0], 5, bounds=(100, None))[0] == 100
    assert chosen([7.0, 8.0], 5, bounds=(None, -100))[-1] == -100
    assert chosen([], 5, bounds=(3, None))[0] == 3
    assert chosen([], 5, bounds=(3, 4)).tolist() == [3, 4]


def test_constant_and_missing():
    assert chosen([], 5).tolist() == [0, 1]
    for value in (0.0, 3.0, -1e20, 1e300, 1.7e308, -1.7e308, 5e-324):
        keypoints = chosen([value, value], 5)
        assert value in keypoints
        assert np.isfinite(keypoints).all()
        assert keypoints[1] / 2 - keypoints[0] / 2 > 0


def test_keypoints_too_close_to_divide_by_are_merged():
    assert chosen([0, 1e-320, 2e-320, 1], 5).tolist() == [0, 1]
    assert chosen([-1, 0, 1e-308], 5).tolist() == [-1, 1e-308]
    assert np.diff(chosen([1e-320, 2e-320], 5)) >= 1


@given(st.lists(FLOATS, min_size=1, max_size=30), st.integers(2, 6))
def test_any_floats_give_keypoints_that_can_be_divided_by(values, n_keypoints):
    keypoints = chosen(values, n_keypoints)
    assert 2 <= len(keypoints) <= n_keypoints
    gaps = np.diff(keypoints / 2)
    assert (gaps >= np.finfo(float).tiny).all()
    assert np.isfinite(gaps).all()


@pytest.mark.parametrize("weights", [[1e20, 1, 1, 1, 1, 1, 1e-20], [1e-300] * 7, [1, 1e300, 1, 1e300, 1, 1, 1]])
def test_extreme_weights(weights):
    keypoints = chosen(np.arange(7), 5, weights)
    assert len(keypoints) == 5
    assert set(keypoints) <= set(range(7))


def most_change(keypoints, curvature, rising, a, b):
    """The most that a curve from 0 to 1 changes from a to b: curves are mixtures of constants and hinges."""
    points = np.array(keypoints)
    hinges = [np.maximum(points - point, 0) for point in points[:-1]]
    if not rising:
        hinges += [np.maximum(point - points, 0) for point in points[1:]]
    # A concave curve that rises is a convex one, seen from the other end and turned round.
    if curvature == "concave":
        a, b = len(points) - 1 - b, len(points) - 1 - a
        hinges = [np.maximum(point - points, 0)[::-1] for point in points[1:]] + (
            [] if rising else [np.maximum(points - point, 0)[::-1] for point in points[:-1]]
        )
    return max(abs(hinge[b] - hinge[a]) / hinge.max() for hinge in hinges)


@pytest.mark.parametrize("curvature", ["convex", "concave"])
@pytest.mark.parametrize("rising", [True, False])
@given(exponents=st.lists(st.integers(-12, 12), min_size=2, max_size=9), start=st.sampled_from([0.0, -1e3, 1.0]))
def test_keypoints_that_tell_are_kept(curvature, rising, exponents, start):
    points = np.unique(start + np.cumsum([0.0, *(10.0**exponent for exponent in exponents)]))
    if len(points) < 2:
        return
    kept = telling_keypoints(points, curvature, rising=rising)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    for a, b in zip(range(len(kept)), range(1, len(kept)), strict=False):
        if len(kept) > 2:
            assert most_change(kept, curvature, rising, a, b) >= 0.99e-6
    for left_out in np.setdiff1d(points, kept):
        place = int(np.searchsorted(points, left_out))
        nearest = [int(np.searchsorted(points, point)) for point in kept]
        assert min(most_change(points, curvature, rising, *sorted((place, near))) for near in nearest) <= 2e-6


def test_ordinary_keypoints_are_all_kept():
    points = np.random.default_rng(0).normal(size=50).cumsum() ** 3
    for rising in (True, False):
        assert len(telling_keypoints(np.unique(points.round(2)), "convex", rising=rising)) > 40
