"""Packed sets are the positions of sets in another order, in 32 bits."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.sets import Binning, Feature, PackedSets, ScratchArray, SetData, SetPacker, _arranged_sets, _packed

NATIVE = _packed._native
HOW = [None] if NATIVE is None else [NATIVE, None]


@pytest.fixture(params=HOW, ids=lambda native: "numpy" if native is None else "native")
def how(request, monkeypatch):
    monkeypatch.setattr(_packed, "_native", request.param)
    monkeypatch.setattr(_arranged_sets, "_native", request.param)


@dataclass
class Case:
    data: SetData
    binning: Binning
    chosen: np.ndarray
    cuts: list[int]


@st.composite
def cases(draw):
    """Random sets of three features, some of them chosen in random order, and where they are cut into pieces."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_sets = draw(st.integers(1, 40))
    sizes = rng.integers(1, draw(st.sampled_from([2, 5, 30])), n_sets)
    values = rng.normal(size=(sizes.sum(), 3))
    values[:, 2] = rng.integers(0, 3, sizes.sum())
    values[rng.random(values.shape) < 0.1] = np.nan
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    data = SetData(values, offsets, ["a", "b", "c"], categories={"c": ("x", "y", "z")})
    features = [Feature("a"), Feature("b", keypoints=draw(st.integers(2, 40))), Feature("c", kind="categorical")]
    binning = Binning.fit(data, features)
    chosen = rng.permutation(n_sets)[: draw(st.integers(1, n_sets))]
    cuts = sorted({0, n_sets, *draw(st.lists(st.integers(0, n_sets), max_size=5))})
    return Case(data, binning, chosen, cuts)


def packed(case, max_memory):
    packer = SetPacker(case.binning, case.data.sizes, case.chosen, max_memory)
    for start, stop in zip(case.cuts[:-1], case.cuts[1:], strict=True):
        piece = case.data[np.arange(start, stop)]
        packer.add(start, case.binning.positions(piece, np.float32))
    return packer.packed()


def assert_as_placed(found, case):
    """Slots are those of the positions, and fractions too but for what 32 bits leave no room for."""
    expected = case.binning.positions(case.data, np.float64).take(case.chosen)
    unpacked = found.positions()
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    np.testing.assert_array_equal(unpacked.offsets, expected.offsets)
    np.testing.assert_array_equal(unpacked.slots, expected.slots)
    assert unpacked.fractions.dtype == np.float32
    n_slots = np.diff(case.binning.slot_offsets)
    for d, fractions in enumerate(unpacked.fractions):
        n_bits = int(np.ceil(np.log2(n_slots[d])))
        # To single precision, then cut off below; the largest fraction is just below 1.
        assert np.abs(fractions - expected.fractions[d]).max() <= 2.0 ** -(32 - n_bits) + 2.0**-24
        assert (fractions <= 1).all()


@pytest.mark.usefixtures("how")
@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_packed_in_memory(case):
    found = packed(case, 10**9)
    assert isinstance(found.packed, np.ndarray)
    assert_as_placed(found, case)


@pytest.mark.usefixtures("how")
@given(case=cases(), part_bytes=st.sampled_from([1, 100, 1000, 10**6]))
@settings(max_examples=40, deadline=None)
def test_packed_in_a_scratch_file_in_several_parts(case, part_bytes):
    least, _arranged_sets._PART_BYTES = _arranged_sets._PART_BYTES, part_bytes
    try:
        found = packed(case, 0)
    finally:
        _arranged_sets._PART_BYTES = least
    assert isinstance(found.packed, ScratchArray)
    assert_as_placed(found, case)
    np.testing.assert_array_equal(found.packed[:], packed(case, 10**9).packed)


@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_native_code_and_numpy_write_the_same_bits(case):
    found = []
    try:
        for how in HOW:
            _packed._native = how
            found.append((packed(case, 10**9), packed(case, 0)))
    finally:
        _packed._native = NATIVE
    for in_memory, in_file in found:
        np.testing.assert_array_equal(in_memory.packed, found[0][0].packed)
        np.testing.assert_array_equal(in_file.packed[:], found[0][0].packed)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("fraction", [0.0, 2.0**-30, 0.5, 1 - 2.0**-24, 1.0])
def test_fractions_at_the_ends(fraction):
    data = SetData([0.0, 1.0 + fraction], offsets=[0, 2], feature_names=["x"])
    binning = Binning.fit(SetData([0.0, 1.0, 2.0], offsets=[0, 3], feature_names=["x"]), [Feature("x")], keypoints=3)
    packer = SetPacker(binning, data.sizes, np.array([0]), 100)
    packer.add(0, binning.positions(data, np.float32))
    unpacked = packer.packed().positions()
    assert unpacked.slots[0, 1] + unpacked.fractions[0, 1] == pytest.approx(1.0 + fraction, abs=2.0**-23)
    assert unpacked.slots[0, 1] + np.ceil(unpacked.fractions[0, 1]) <= 2


@given(case=cases(), n_tokens=st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_blocks_and_runs(case, n_tokens):
    for sets in (packed(case, 10**9), packed(case, 0)):
        blocks = list(sets.blocks(n_tokens))
        assert [start for start, _ in blocks] == [0, *[stop for _, stop in blocks[:-1]]]
        assert blocks[-1][1] == len(sets)
        for start, stop in blocks:
            assert sets.offsets[stop] - sets.offsets[start] <= n_tokens or stop == start + 1
            run, whole = sets.between(start, stop).positions(), sets.positions()
            tokens = slice(sets.offsets[start], sets.offsets[stop])
            np.testing.assert_array_equal(run.slots, whole.slots[:, tokens])
            np.testing.assert_array_equal(run.fractions, whole.fractions[:, tokens])
            np.testing.assert_array_equal(run.offsets, whole.offsets[start : stop + 1] - whole.offsets[start])


def test_the_layout_by_hand():
    """Two features, sets of one and two tokens: (D, tokens) for one set after the other, the slot in the high bits."""
    sets = PackedSets(
        np.array([1 << 30, 1 << 31, 2 << 30, (1 << 30) + (1 << 29), 1 << 31, 0], np.uint32),
        np.array([0, 1, 3]),
        np.array([0, 4], np.int32),
        np.array([2, 1], np.int32),
    )
    positions = sets.positions()
    np.testing.assert_array_equal(positions.slots, [[1, 2, 1], [5, 5, 4]])
    np.testing.assert_array_equal(positions.fractions, [[0, 0, 0.5], [0, 0, 0]])
    assert repr(sets) == "PackedSets(2 sets, 3 tokens, 2 features, in memory)"
    assert (len(sets), sets.n_tokens, sets.n_features) == (2, 3, 2)
