import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clearset.sets import SIZE, Binning, Feature, SetData, _binning, _value_sample

NAN = float("nan")
FEATURES = (Feature("a"), Feature("price"), Feature("store", kind="categorical"), Feature(SIZE))


def example():
    return SetData(
        [[1, 0], [2, 1], [4, NAN], [8, 1], [NAN, 0], [16, 2]],
        [0, 2, 2, 5, 6],
        ["a", "store"],
        set_values=[10.0, 20.0, NAN, 40.0],
        set_feature_names=["price"],
        categories={"store": ("shop", "flea", "online")},
    )


def read_table(positions, table, feature):
    """What the calibrator with this table gives for every token."""
    table = np.append(table, 777.0)
    slot, fraction = positions.slots[feature], positions.fractions[feature].astype(float)
    return table[slot] + fraction * (table[slot + 1] - table[slot])


def test_layout_of_slots():
    binning = Binning.fit(example(), FEATURES)
    assert binning.keypoints[0].tolist() == [1, 2, 4, 8, 16]
    assert binning.keypoints[1].tolist() == [10, 20, 40]
    assert binning.keypoints[2] is None
    assert binning.keypoints[3].tolist() == [0, 1, 2, 3]
    assert binning.categories == (None, None, ("flea", "online", "shop"), None)
    assert binning.slot_offsets.tolist() == [0, 6, 10, 14, 19]
    assert binning.n_slots == 19
    assert [binning.slots_of(feature.name) for feature in FEATURES] == [
        slice(0, 5),
        slice(6, 9),
        slice(10, 13),
        slice(14, 18),
    ]
    assert repr(binning) == "Binning(4 features, 19 slots)"
    with pytest.raises(ValueError, match="Did you mean 'price'"):
        binning.slots_of("prize")


def test_positions_by_hand():
    binning = Binning.fit(example(), FEATURES)
    later = SetData(
        [[3, 1], [NAN, 0], [-5, 2], [99, NAN]],
        [0, 2, 2, 4],
        ["a", "store"],
        set_values=[15.0, 40.0, NAN],
        set_feature_names=["price"],
        categories={"store": ("kiosk", "shop", "flea")},
    )
    positions = binning.positions(later)
    assert positions.offsets.tolist() == [0, 2, 3, 5]
    assert positions.slots.tolist() == [
        [1, 5, 5, 0, 4],  # the third token stands for the empty set
        [6, 6, 8, 9, 9],
        [12, 13, 13, 10, 13],  # shop, unknown, empty set, flea, missing
        [16, 16, 14, 16, 16],
    ]
    assert positions.fractions.tolist() == [[0.5, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0] * 5, [0] * 5]
    assert positions.slots.dtype == np.int32
    assert positions.fractions.dtype == np.float32


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(NAN), min_size=1, max_size=40),
    st.lists(st.floats(-2e6, 2e6) | st.just(NAN), min_size=1, max_size=40),
    st.integers(2, 8),
)
def test_calibrators_read_through_positions_equal_interpolation(training, values, n_keypoints):
    binning = Binning.fit(SetData(training, [0, len(training)], ["a"]), [Feature("a", keypoints=n_keypoints)])
    positions = binning.positions(SetData(values, np.arange(len(values) + 1), ["a"]), np.float64)
    table = np.random.default_rng(len(values)).normal(size=binning.n_slots)
    expected = np.interp(values, binning.keypoints[0], table[:-1])
    expected = np.where(np.isnan(values), table[-1], expected)
    np.testing.assert_allclose(read_table(positions, table, 0), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    training=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=40),
)
def test_a_larger_value_never_stands_lower(dtype, training, values):
    binning = Binning.fit(SetData(training, [0, len(training)], ["a"]), [Feature("a", keypoints=5)])
    near = np.concatenate([binning.keypoints[0], values])
    near = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, 1e308)])
    near = np.sort(near[np.isfinite(near)])
    positions = binning.positions(SetData(near, [0, len(near)], ["a"]), dtype)
    slots, fractions = positions.slots[0], positions.fractions[0]
    assert fractions.min() >= 0
    assert fractions.max() < 1
    assert (np.diff(slots) >= 0).all()
    assert (np.diff(fractions)[np.diff(slots) == 0] >= 0).all()
    assert slots.max() <= len(binning.keypoints[0]) - 1
    assert not fractions[slots == len(binning.keypoints[0]) - 1].any()


def test_keypoints_stand_at_their_own_slots_with_overflowing_distances():
    values = np.array([-1.7e308, -1e308, 0, 1e308, 1.7e308])
    binning = Binning.fit(SetData(values, [0, 5], ["a"]), [Feature("a")])
    positions = binning.positions(SetData([*values, 0.5e308], [0, 6], ["a"]))
    assert positions.slots[0].tolist() == [0, 1, 2, 3, 4, 2]
    np.testing.assert_allclose(positions.fractions[0], [0, 0, 0, 0, 0, 0.5])


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any), st.integers(2, 4))
def test_whole_weights_are_copies_of_sets(weights, n_keypoints):
    data = example()
    repeated = data[np.repeat(np.arange(4), weights)]
    ours = Binning.fit(data, FEATURES, keypoints=n_keypoints, sample_weight=weights)
    assert ours.to_json() == Binning.fit(repeated, FEATURES, keypoints=n_keypoints).to_json()


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, -1], [1, 1, 1, NAN], [0, 0, 0, 0], [[1, 1, 1, 1]]])
def test_refuses_weights(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        Binning.fit(example(), FEATURES, sample_weight=weights)


def test_refuses_one_keypoint_and_unknown_features():
    with pytest.raises(ValueError, match="at least 2"):
        Binning.fit(example(), FEATURES, keypoints=1)
    with pytest.raises(ValueError, match="'b' is unknown"):
        Binning.fit(example(), [Feature("b")])


def test_numbers_as_categories():
    features = [Feature("a", kind="categorical", monotonic=[(2, 7)])]
    binning = Binning.fit(SetData([10.0, 2.0, 2.5, NAN], [0, 4], ["a"]), features)
    assert binning.categories == ((2, 2.5, 7, 10),)
    assert [str(category) for category in binning.categories[0]] == ["2", "2.5", "7", "10"]
    positions = binning.positions(SetData([7, 10, 3, 2], [0, 4], ["a"]))
    assert positions.slots[0].tolist() == [2, 3, 4, 0]


def test_a_feature_may_be_missing_everywhere():
    data = SetData([[NAN, NAN]], [0, 1], ["a", "c"], categories={"c": ()})
    binning = Binning.fit(data, [Feature("a"), Feature("c", kind="categorical")])
    assert binning.keypoints[0].tolist() == [0, 1]
    assert binning.categories[1] == ()
    assert binning.positions(data).slots.tolist() == [[2], [3]]


def test_only_empty_sets():
    data = SetData(np.empty((0, 1)), [0, 0, 0], ["a"])
    positions = Binning.fit(data, [Feature("a"), Feature(SIZE)]).positions(data)
    assert positions.offsets.tolist() == [0, 1, 2]
    assert positions.slots.tolist() == [[2, 2], [3, 3]]


def test_large_data_are_sampled_without_losing_the_ends(monkeypatch):
    monkeypatch.setattr(_value_sample, "MOST_VALUES", 2_000)
    # Sets of ten, sorted: equal steps of ten would only ever see the first token.
    values = np.tile(np.arange(10.0), 2_000) + np.random.default_rng(1).random(20_000)
    values[777], values[778] = -3, 13
    data = SetData(values, np.arange(0, 20_001, 10), ["a"])
    keypoints = Binning.fit(data, [Feature("a")], keypoints=6).keypoints[0]
    assert (keypoints[0], keypoints[-1]) == (-3, 13)
    np.testing.assert_allclose(keypoints[1:-1], [2, 4, 6, 8], atol=0.5)
    weighted = Binning.fit(data, [Feature("a")], keypoints=6, sample_weight=np.full(2_000, 0.5))
    np.testing.assert_array_equal(weighted.keypoints[0], keypoints)


def test_json_round_trip_is_exact():
    features = [
        Feature("a", monotonic="increasing", bounds=(0.1, None)),
        Feature("store", kind="categorical", monotonic=[("flea", "shop"), ("shop", "flagship")]),
    ]
    binning = Binning.fit(example(), features, keypoints=3)
    again = Binning.from_json(json.loads(json.dumps(binning.to_json())))
    assert again.features == tuple(features)
    assert again.categories == binning.categories
    assert again.keypoints[0].tobytes() == binning.keypoints[0].tobytes()
    assert again.keypoints[0].dtype == np.float64
    assert again.slot_offsets.tolist() == binning.slot_offsets.tolist()


@given(
    values=st.lists(st.one_of(st.floats(-20, 20), st.just(NAN)), max_size=20),
    steps=st.lists(st.floats(0.01, 5), min_size=1, max_size=6),
)
def test_place_by_interpolation(values, steps):
    """A calibrator read at slot and fraction is numpy's interpolation; missing values have a slot of their own."""
    keypoints = np.cumsum([-5.0, *steps])
    binning = Binning((Feature("first"), Feature("x")), (np.array([0.0, 1.0]), keypoints), (None, None))
    values = np.array(values, dtype=np.float64)
    slots, fractions = binning.place("x", values, np.float64)
    assert slots.dtype == np.int32
    assert fractions.dtype == np.float64
    table = np.full(binning.n_slots + 1, np.nan)
    curve = np.random.default_rng(0).normal(size=len(keypoints))
    table[3 : 3 + len(keypoints)], table[-2:] = curve, 99.0
    result = table[slots] + np.where(fractions > 0, fractions * (table[slots + 1] - table[slots]), 0.0)
    expected = np.where(np.isnan(values), 99.0, np.interp(values, keypoints, curve))
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
    assert ((fractions >= 0) & (fractions < 1)).all()


def test_place_gives_what_positions_gives():
    binning = Binning.fit(example(), FEATURES)
    positions = binning.positions(example())
    slots, fractions = binning.place("a", example().values[:, 0])
    present = np.delete(np.arange(positions.slots.shape[1]), 2)  # the empty set's token
    assert positions.slots[0, present].tolist() == slots.tolist()
    assert positions.fractions[0, present].tolist() == fractions.tolist()


def test_place_of_categories_by_their_places():
    binning = Binning.fit(example(), FEATURES)
    slots, fractions = binning.place("store", np.array([0.0, 2.0, NAN, 1.0]), np.float64)
    start = binning.slots_of("store").start
    assert slots.tolist() == [start, start + 2, start + 3, start + 1]
    assert slots.dtype == np.int32
    assert fractions.tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="Did you mean 'price'"):
        binning.place("prize", np.zeros(1))


@pytest.mark.skipif(_binning._native is None, reason="the native module is not installed")
@given(
    st.lists(st.floats(allow_infinity=False), max_size=600),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=40, unique=True),
    st.sampled_from([np.float32, np.float64]),
)
def test_native_and_numpy_place_values_alike(values, keypoints, dtype):
    values, keypoints = np.array(values, np.float64), np.unique(np.array(keypoints) / 2)
    assume(len(keypoints) > 1 and (np.diff(keypoints / 2) > 0).all())
    slots, fractions = np.empty(len(values), np.int32), np.empty(len(values), dtype)
    _binning._native.place_values(values, keypoints, 7, slots, fractions)
    with np.errstate(all="ignore"):
        expected = _binning._place_values(values, keypoints, 7, np.dtype(dtype))
    np.testing.assert_array_equal(slots, expected[0])
    np.testing.assert_array_equal(fractions, expected[1])
