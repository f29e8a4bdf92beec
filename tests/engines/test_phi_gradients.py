"""Phi of tokens and its gradients: native kernel and torch reference, by brute force and by each other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.functions import Layout
from clearset.sets import Positions

from .brute_force import brute_force
from .kernel_problems import (
    KERNELS,
    PhiProblem,
    assert_close,
    assert_gradients_are_differences,
    assert_same_bits,
    in_double,
    offsets_of,
    turned,
)

needs_native = pytest.mark.skipif("native" not in KERNELS, reason="clearset._native is not built")

LAYOUTS = [
    Layout.full((2,)),
    Layout.full((4,)),
    Layout.full((2, 2, 2)),
    Layout.full((3, 2, 4)),
    Layout(sizes=(2, 3, 2, 2), subsets=((0, 2, 3), (3, 1), (2,))),
    Layout.full((3, 3, 3)),
    Layout.full((2, 3, 2, 2, 3)),
    # The next two have too many vertices beside those of one cell to be read in rows.
    Layout.full((5, 4)),
    Layout.full((2, 9)),
    Layout(sizes=(2, 3, 9, 4), subsets=((3, 0, 1), (1, 2), (1,), (0, 3))),
]


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


@st.composite
def problems(draw):
    n_features = draw(st.integers(1, 6))
    sizes = tuple(draw(st.lists(st.sampled_from([2, 2, 2, 3, 3, 4, 5]), min_size=n_features, max_size=n_features)))
    subset = st.permutations(range(n_features)).flatmap(
        lambda order: st.integers(1, n_features).map(lambda count: tuple(order[:count]))
    )
    subsets = draw(st.one_of(st.just((tuple(range(n_features)),)), st.lists(subset, min_size=1, max_size=4)))
    set_sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 40, 300]), min_size=1, max_size=8))
    return PhiProblem.random(
        draw(st.integers(0, 2**32 - 1)), Layout(sizes=sizes, subsets=tuple(subsets)), draw(st.integers(1, 5)), set_sizes
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_means_and_gradients_are_those_of_brute_force(kernel, layout, dtype):
    problem = PhiProblem.random(1, layout, n_outputs=2, set_sizes=[1, 4, 1, 17, 2], dtype=dtype)
    results, exact = problem.solve(kernel), in_double(problem)
    positions, tables = exact.positions, (exact.calibration, exact.vertices)
    places = (positions.slots, positions.fractions, positions.offsets)
    expected = brute_force(*places, *tables, layout.sizes, layout.subsets, exact.upstream)
    assert {part.dtype for part in results} == {np.dtype(dtype)}
    assert_close(results, expected, 1e-12 if dtype == np.float64 else 2e-5)


@needs_native
class TestNativeAgainstTorch:
    @settings(max_examples=60)
    @given(problem=problems())
    def test_means_and_gradients(self, problem):
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)

    @settings(max_examples=60)
    @given(problem=problems())
    def test_gradients_by_fractions(self, problem):
        ours = problem.solve_by_fractions("native")
        assert_close(ours, problem.solve_by_fractions("torch"), 1e-12)
        assert_same_bits(ours[:2], problem.solve("native")[1:])

    @pytest.mark.parametrize("n_features", range(1, 15))
    def test_every_number_of_features_has_its_lattice(self, n_features):
        problem = PhiProblem.random(2, Layout.full((2,) * n_features), n_outputs=1, set_sizes=[5, 30])
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)
        assert_close(problem.solve_by_fractions("native"), problem.solve_by_fractions("torch"), 1e-12)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("n_small", range(11))
    @pytest.mark.parametrize("large", [(3,), (3, 3), (4, 3), (6,), (9,)], ids=str)
    def test_larger_sizes_among_any_number_of_features(self, large, n_small, dtype):
        sizes = np.random.default_rng(n_small).permutation((*large, *(2,) * n_small))
        problem = PhiProblem.random(3, Layout.full(tuple(map(int, sizes))), 2, [5, 130, 1], dtype)
        # Away from borders, where rounding decides which side a value is on.
        rng = np.random.default_rng(0)
        problem.calibration = (rng.integers(0, 12, problem.calibration.shape) / 12 + 1 / 31).astype(dtype)
        problem.positions.fractions[:] = problem.positions.fractions > 0.5
        expected = in_double(problem)
        tolerance = 1e-12 if dtype == np.float64 else 1e-5
        assert_close(problem.solve("native"), expected.solve("torch"), tolerance)
        assert_close(problem.solve_by_fractions("native"), expected.solve_by_fractions("torch"), tolerance)

    # Around 16 and 32 slots a feature the kernel may change its way of reading tables.
    @pytest.mark.parametrize("most_slots", [16, 34, 300])
    def test_short_and_long_tables_in_single_precision(self, most_slots):
        problem = PhiProblem.random(10, Layout.full((2,) * 6), 2, [1, 16, 15, 128, 3, 500], np.float32, most_slots)
        assert_close(problem.solve("native"), in_double(problem).solve("torch"), 1e-5)

    # The kernel may remember where slots have been: here the first tokens do not show where the later ones stand.
    @pytest.mark.parametrize("most_slots", [12, 40])
    @pytest.mark.parametrize("descending", [False, True])
    def test_sorted_tokens_in_single_precision(self, most_slots, descending):
        problem = PhiProblem.random(11, Layout.full((2,) * 3), 1, [700, 40, 800], np.float32, most_slots)
        places = problem.positions
        order = np.argsort(-places.slots if descending else places.slots, axis=1)
        problem.positions = Positions(
            np.take_along_axis(places.slots, order, axis=1),
            np.take_along_axis(places.fractions, order, axis=1),
            places.offsets,
        )
        assert_close(problem.solve("native"), in_double(problem).solve("torch"), 1e-5)

    @pytest.mark.parametrize("layout", [Layout.full((2,) * 4), Layout.full((3, 2))], ids=str)
    def test_gradients_by_fractions_in_single_precision(self, layout):
        problem = PhiProblem.random(12, layout, 2, [1, 16, 15, 128, 3, 500], np.float32)
        # Away from borders, where rounding decides which side a value is on.
        rng = np.random.default_rng(0)
        problem.calibration = (0.05 + 0.4 * rng.random(problem.calibration.shape)).astype(np.float32)
        ours = problem.solve_by_fractions("native")
        assert {part.dtype for part in ours} == {np.dtype(np.float32)}
        assert_close(ours, in_double(problem).solve_by_fractions("torch"), 1e-5)


@needs_native
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [Layout.full((2,) * 4), Layout.full((3, 2)), Layout.full((5, 4))], ids=str)
def test_threads_do_not_change_a_bit(layout, dtype):
    set_sizes = np.random.default_rng(0).integers(1, 50, 2000)
    problem = PhiProblem.random(4, layout, n_outputs=2, set_sizes=set_sizes, dtype=dtype)
    alone = problem.solve("native", threads=1)
    for threads in (2, 5):
        assert_same_bits(problem.solve("native", threads=threads), alone)


@needs_native
def test_the_gradients_of_parts_add_up():
    set_sizes = np.random.default_rng(1).integers(1, 50, 2000)
    problem = PhiProblem.random(5, Layout.full((2, 2, 3)), n_outputs=2, set_sizes=set_sizes)
    parts = []
    for first, last in ((0, 700), (700, 701), (701, 2000)):
        sets = np.arange(first, last)
        part = replace(problem, positions=problem.positions.take(sets), upstream=problem.upstream[sets])
        parts.append(part.solve("native"))
    means, *gradients = zip(*parts, strict=True)
    expected = [np.concatenate(means), *map(sum, gradients)]
    assert_close(problem.solve("native", threads=2), expected, 1e-10)


def test_gradients_are_those_of_differences(kernel):
    layout = Layout(sizes=(2, 3, 2), subsets=((0, 1), (2, 1, 0)))
    problem = PhiProblem.random(8, layout, n_outputs=2, set_sizes=[1, 3, 2])
    # Away from the borders of cells and clamps, where the derivative jumps.
    rng = np.random.default_rng(0)
    problem.calibration[:] = 0.05 + 0.4 * rng.random(problem.calibration.shape)
    leaves = [problem.calibration, problem.vertices, problem.positions.fractions]

    def solve():
        return problem.solve(kernel)[0], *problem.solve_by_fractions(kernel)

    assert_gradients_are_differences(solve, leaves, problem.upstream)


def test_clamped_values_have_no_gradient_and_borders_have_one(kernel):
    # Size 3: slots below 0, at 0, on the middle vertex (the cell above counts), at 1, above 1.
    problem = PhiProblem(
        Positions(np.arange(5, dtype=np.int32)[None], np.zeros((1, 5)), np.arange(6)),
        np.array([[-0.5, 0.0, 0.5, 1.0, 1.5]]),
        np.array([[10.0, 11.0, 14.0]]),
        Layout.full((3,)),
        np.ones((5, 1)),
    )
    means, by_calibration, by_vertices = problem.solve(kernel)
    assert means.ravel().tolist() == [10.0, 10.0, 11.0, 14.0, 14.0]
    assert by_calibration.tolist() == [[0.0, 2.0, 6.0, 6.0, 0.0]]
    assert by_vertices.tolist() == [[2.0, 1.0, 2.0]]


@pytest.mark.parametrize("layout", [Layout.full((2,)), Layout.full((3,)), Layout.full((9,))], ids=str)
def test_not_a_number_stays_visible(kernel, layout):
    positions = Positions(np.array([[0, 1]], np.int32), np.zeros((1, 2), np.float32), np.arange(3))
    calibration, vertices = np.array([[np.nan, 0.5]], np.float32), np.ones((1, layout.n_vertices), np.float32)
    problem = PhiProblem(positions, calibration, vertices, layout, np.ones((2, 1), np.float32))
    assert np.isnan(problem.solve(kernel)[0]).ravel().tolist() == [True, False]


def test_a_huge_set(kernel):
    """Ten million times 0.1, which added up one by one in single precision is 9 % too large."""
    n_tokens = 10_000_000
    places = np.zeros((1, n_tokens), np.int32), np.full((1, n_tokens), 0.1, np.float32)
    line, one = np.array([[0.0, 1.0]], np.float32), np.ones((1, 1), np.float32)
    problem = PhiProblem(Positions(*places, offsets_of([n_tokens])), line, line, Layout.full((2,)), one)
    mean, by_calibration, by_vertices = problem.solve(kernel)
    assert mean.item() == pytest.approx(0.1, rel=1e-6)
    if kernel == "native":  # autograd adds up gradients in single precision
        assert by_calibration[0] == pytest.approx([0.9, 0.1], rel=1e-5)
        assert by_vertices[0] == pytest.approx([0.9, 0.1], rel=1e-5)


def test_arrays_need_not_be_contiguous(kernel):
    problem = PhiProblem.random(6, Layout.full((2, 3)), n_outputs=2, set_sizes=[3, 5])
    assert_close(turned(problem).solve(kernel), problem.solve(kernel), 1e-14)
    assert_close(turned(problem).solve_by_fractions(kernel), problem.solve_by_fractions(kernel), 1e-14)


def test_no_sets_give_no_means_and_zero_gradients(kernel):
    problem = PhiProblem.random(7, Layout.full((2, 2)), n_outputs=3, set_sizes=np.zeros(0, dtype=int))
    means, by_calibration, by_vertices = problem.solve(kernel)
    assert means.shape == (0, 3)
    assert by_calibration.shape == problem.calibration.shape
    assert not by_calibration.any()
    assert not by_vertices.any()
    assert problem.solve_by_fractions(kernel)[2].shape == (2, 0)


@needs_native
@pytest.mark.parametrize("token", [0, 127, 128, 700, 999])
@pytest.mark.parametrize("slot", [-1, 5, 2**31 - 1])
def test_a_slot_that_does_not_exist_is_found_anywhere_in_a_batch(token, slot):
    slots = np.zeros((2, 1000), np.int32)
    slots[1, token] = slot
    problem = PhiProblem(
        Positions(slots, np.zeros((2, 1000)), np.array([0, 300, 1000])),
        np.zeros((3, 5)),
        np.zeros((3, 4)),
        Layout.full((2, 2)),
        np.zeros((2, 3)),
    )
    with pytest.raises(ValueError, match="outside 0 to 4"):
        problem.solve("native")
