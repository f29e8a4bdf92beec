"""Phi with a value per class, and its gradients: both kernels by plain phi class by class, and by each other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.sets import CrossedPositions

from .brute_force import brute_force
from .cases import written_out
from .kernel_problems import (
    KERNELS,
    CrossedProblem,
    assert_close,
    assert_gradients_are_differences,
    assert_same_bits,
    in_double,
    turned,
)

needs_native = pytest.mark.skipif("native" not in KERNELS, reason="clearset._native is not built")


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


def plain_brute_force(problem):
    """Write the tokens out class by class as tokens of plain phi, and read each class with `brute_force`."""
    results = []
    n_features = len(problem.positions.slots) + 1
    for c in range(problem.positions.n_classes):
        plain = written_out(problem.positions, problem.corrections, c).take(problem.sets)
        results.append(
            brute_force(
                plain.slots,
                plain.fractions,
                plain.offsets,
                problem.calibration,
                problem.vertices,
                (2,) * n_features,
                (tuple(range(n_features)),),
                problem.upstream[:, c],
            )
        )
    means, by_calibration, by_vertices = zip(*results, strict=True)
    return np.stack(means, axis=1), sum(by_calibration), sum(by_vertices)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize(("D", "C", "K", "V"), [(1, 1, 1, 2), (1, 3, 2, 5), (3, 2, 1, 4), (4, 3, 2, 9)])
def test_means_and_gradients_are_those_of_plain_phi_class_by_class(kernel, D, C, K, V, refine):
    problem = CrossedProblem.random(1, D=D, C=C, K=K, V=V, set_sizes=[1, 4, 7, 2], refine=refine)
    assert_close(problem.solve(kernel)[:3], plain_brute_force(problem), 1e-12)


@pytest.mark.parametrize(("D", "C", "K", "V"), [(1, 2, 1, 2), (3, 1, 2, 6), (2, 3, 2, 4)])
def test_gradients_are_those_of_differences(kernel, D, C, K, V):
    problem = CrossedProblem.random(2, D=D, C=C, K=K, V=V, set_sizes=[1, 5, 3], borders=False)
    assert_gradients_are_differences(lambda: problem.solve(kernel), problem.leaves, problem.upstream)


def test_clamped_values_give_corrections_no_gradient_and_borders_give_one(kernel):
    # Calibrated: value / 4; the score is that itself. Five sets of one token with the values -1, 0, 2, 4, 5.
    problem = CrossedProblem(
        CrossedPositions(
            np.empty((0, 6), np.int32),
            np.empty((0, 6)),
            np.arange(7),
            rows=np.array([0, 0, 0, 0, 0, -1], np.int32),
            corrected=np.arange(6, dtype=np.int32),
            values=np.array([[1.0]]),
            keypoints=np.array([0.0, 1.0, 4.0]),
        ),
        sets=np.arange(6),
        corrections=np.array([[-2.0], [-1.0], [1.0], [3.0], [4.0], [0.0]]),
        calibration=np.array([[0.0, 0.25, 1.0, 0.75]]),
        vertices=np.array([[0.0, 1.0]]),
        upstream=np.ones((6, 1, 1)),
    )
    means, by_calibration, _, by_corrections = problem.solve(kernel)
    np.testing.assert_allclose(means.ravel(), [0.0, 0.0, 0.5, 1.0, 1.0, 0.75])
    assert by_corrections.ravel().tolist() == [0.0, 0.25, 0.25, 0.25, 0.0, 0.0]
    np.testing.assert_allclose(by_calibration, [[2.0, 2 / 3, 2 + 1 / 3, 1.0]])
    # A calibrated value beyond 1 is clamped, and nothing flows behind it.
    problem.calibration = np.array([[0.0, 2.0, 3.0, 0.75]])
    _, by_calibration, _, by_corrections = problem.solve(kernel)
    assert by_calibration.tolist() == [[2.0, 0.0, 0.0, 1.0]]
    assert by_corrections.ravel().tolist() == [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]


@st.composite
def problems(draw):
    return CrossedProblem.random(
        draw(st.integers(0, 2**32 - 1)),
        D=draw(st.integers(1, 8)),
        C=draw(st.sampled_from([1, 2, 3, 16, 20, 33])),
        K=draw(st.integers(1, 4)),
        V=draw(st.integers(2, 30)),
        set_sizes=draw(st.lists(st.sampled_from([1, 2, 3, 7, 40, 150]), min_size=1, max_size=6)),
        n_chosen=draw(st.integers(1, 8)),
        refine=draw(st.booleans()),
        borders=draw(st.booleans()),
    )


@needs_native
class TestNativeAgainstTorch:
    @settings(max_examples=60)
    @given(problem=problems())
    def test_means_and_gradients(self, problem):
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)

    @pytest.mark.parametrize("refine", [False, True])
    @pytest.mark.parametrize("V", [2, 10, 15, 16, 17, 31, 32, 33, 70])
    @pytest.mark.parametrize("C", [1, 2, 20])
    def test_single_precision(self, C, V, refine):
        sizes = {"D": 4, "C": C, "K": 2, "V": V, "set_sizes": [1, 16, 300, 40], "n_chosen": 9}
        problem = CrossedProblem.random(3, **sizes, refine=refine, borders=False, dtype=np.float32)
        results = problem.solve("native")
        assert {part.dtype for part in results} == {np.dtype(np.float32)}
        assert_close(results, in_double(problem).solve("torch"), 5e-5)

    @pytest.mark.parametrize("D", range(1, 15))
    def test_every_number_of_features_has_its_lattice(self, D):
        problem = CrossedProblem.random(4, D=D, C=3, K=1, V=6, set_sizes=[5, 30])
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)


@needs_native
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("C", [1, 20])
def test_threads_do_not_change_a_bit(C, dtype):
    set_sizes = np.random.default_rng(0).integers(1, 50, 1000)
    problem = CrossedProblem.random(6, D=4, C=C, K=2, V=10, set_sizes=set_sizes, dtype=dtype)
    alone = problem.solve("native", threads=1)
    for threads in (2, 3, 7):
        assert_same_bits(problem.solve("native", threads=threads), alone)


def test_no_sets_give_no_means_and_no_gradient(kernel):
    problem = CrossedProblem.random(7, D=2, C=3, K=2, V=4, set_sizes=[2, 3])
    problem.sets, problem.upstream = problem.sets[:0], problem.upstream[:0]
    means, *gradients = problem.solve(kernel)
    assert means.shape == (0, 3, 2)
    assert [gradient.shape for gradient in gradients] == [leaf.shape for leaf in problem.leaves]
    assert not any(gradient.any() for gradient in gradients)


def test_tables_may_be_empty_where_nothing_points_into_them(kernel):
    problem = CrossedProblem.random(8, D=2, C=3, K=2, V=4, set_sizes=[2, 3])
    problem.positions.rows[:] = problem.positions.corrected[:] = -1
    expected = problem.means(kernel)
    positions = replace(problem.positions, values=problem.positions.values[:0])
    empty = replace(problem, positions=positions, corrections=problem.corrections[:0])
    assert_close([empty.means(kernel)], [expected], 1e-12)


@pytest.mark.parametrize("C", [1, 20])
def test_not_a_number_stays_visible(kernel, C):
    problem = CrossedProblem.random(9, D=2, C=C, K=1, V=4, set_sizes=[1] * 20, refine=False, dtype=np.float32)
    problem.sets = np.arange(20)
    problem.positions.rows[:] = np.arange(20)
    problem.positions.values[3, -1] = np.nan
    assert np.argwhere(np.isnan(problem.means(kernel))).tolist() == [[3, C - 1, 0]]


def test_arrays_need_not_be_contiguous(kernel):
    problem = CrossedProblem.random(10, D=4, C=3, K=2, V=5, set_sizes=[4, 6], n_chosen=4)
    assert_close(turned(problem).solve(kernel), problem.solve(kernel), 1e-12)


@needs_native
@pytest.mark.parametrize("C", [1, 20])
@pytest.mark.parametrize(
    ("field", "number", "message"),
    [
        ("slots", -1, "slots hold a number outside 0 to"),
        ("slots", 10_000, "slots hold a number outside 0 to"),
        ("rows", -2, "rows hold a number outside -1 to 39"),
        ("rows", 40, "rows hold a number outside -1 to 39"),
        ("corrected", -2, "corrected hold a number outside -1 to 6"),
        ("corrected", 7, "corrected hold a number outside -1 to 6"),
    ],
)
@pytest.mark.parametrize("token", [0, 70, 199])
def test_numbers_that_do_not_exist_are_refused(field, number, message, token, C):
    problem = CrossedProblem.random(11, D=3, C=C, K=1, V=4, set_sizes=[100, 1, 99])
    problem.sets = np.array([2, 0])
    getattr(problem.positions, field)[..., token] = number
    with pytest.raises(ValueError, match=message):
        problem.means("native")


@needs_native
@pytest.mark.parametrize(
    ("sets", "offsets", "message"),
    [
        ([0, 3], [0, 1, 2, 5], "sets hold a number outside 0 to 2"),
        ([-1], [0, 1, 2, 5], "sets hold a number outside 0 to 2"),
        ([0, 1], [0, 2, 2, 5], "Set 1 goes from token 2 to 2"),
        ([2], [0, 1, 2, 6], "Set 2 goes from token 2 to 6 of 5"),
        ([0], [-1, 1, 2, 5], "Set 0 goes from token -1 to 1"),
    ],
)
def test_sets_that_do_not_exist_are_refused(sets, offsets, message):
    problem = CrossedProblem.random(12, D=2, C=3, K=1, V=4, set_sizes=[1, 1, 3])
    problem.sets, problem.positions = (np.array(sets), replace(problem.positions, offsets=np.array(offsets)))
    with pytest.raises(ValueError, match=message):
        problem.means("native")
