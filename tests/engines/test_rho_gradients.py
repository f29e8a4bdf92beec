"""Rho, losses and their gradients: native kernel and torch reference, by brute force and by each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.functions import Loss

from .brute_force import brute_force_rho
from .kernel_problems import (
    KERNELS,
    LossProblem,
    RhoProblem,
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


@st.composite
def problems(draw):
    return RhoProblem.random(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_sets=draw(st.integers(0, 20)),
        n_functions=draw(st.integers(1, 4)),
        width=draw(st.integers(1, 6)),
        n_keypoints=draw(st.integers(2, 21)),
    )


@settings(max_examples=30)
@given(problem=problems())
@pytest.mark.parametrize("name", KERNELS)
def test_outputs_are_those_of_brute_force(name, problem):
    assert_close(problem.solve(name)[:1], [brute_force_rho(*problem.inputs)], 1e-12)


# Away from the borders, where the derivative jumps.
@pytest.mark.parametrize(("n_functions", "width"), [(1, 1), (3, 1), (2, 3)])
def test_gradients_are_those_of_differences(kernel, n_functions, width):
    problem = RhoProblem.random(0, 4, n_functions, width, n_keypoints=4, borders=False)
    assert_gradients_are_differences(lambda: problem.solve(kernel), problem.inputs, problem.upstream)


@needs_native
class TestNativeAgainstTorch:
    @settings(max_examples=60)
    @given(problem=problems())
    def test_outputs_and_gradients(self, problem):
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)

    @pytest.mark.parametrize("width", [8, 12])
    def test_wide_lattices(self, width):
        problem = RhoProblem.random(1, 10, 2, width, n_keypoints=5)
        assert_close(problem.solve("native"), problem.solve("torch"), 1e-12)

    # Where a value lies on a keypoint, rounding decides in single precision which segment's slope counts.
    def test_single_precision(self):
        problem = RhoProblem.random(2, 2000, 2, 3, n_keypoints=20, dtype=np.float32, borders=False)
        outputs, by_means, *by_tables = problem.solve("native")
        expected, _, *expected_by_tables = in_double(problem).solve("torch")
        assert {part.dtype for part in (outputs, by_means, *by_tables)} == {np.dtype(np.float32)}
        assert_close([outputs, *by_tables], [expected, *expected_by_tables], 2e-4)


def test_clamped_values_have_no_gradient_and_borders_have_one(kernel):
    # The calibrator rises from 0 to 1, the lattice gives the place itself, the output is 3 times it, from -3 to 3.
    line = np.array([[0.0, 1.0]])
    problem = RhoProblem(
        np.array([[-1.5], [-1.0], [0.0], [1.0], [1.5]]), line, line, np.array([[-3.0, 3.0]]), np.ones((5, 1))
    )
    outputs, by_means, by_calibrators, by_vertices, by_output = problem.solve(kernel)
    assert outputs.ravel().tolist() == [0.0, 0.0, 1.5, 3.0, 3.0]
    assert by_means.ravel().tolist() == [0.0, 1.5, 1.5, 1.5, 0.0]
    assert by_calibrators.tolist() == [[7.5, 7.5]]
    assert by_vertices.tolist() == [[7.5, 7.5]]
    assert by_output.tolist() == [[1.25, 3.75]]
    # Calibrated and fused values beyond their ranges: nothing flows behind them.
    problem.calibrators = np.array([[2.0, 3.0]])
    assert not problem.solve(kernel)[2].any()
    problem.calibrators, problem.vertices = line, np.array([[1.5, 2.0]])
    outputs, *gradients = problem.solve(kernel)
    assert outputs.ravel().tolist() == [3.0] * 5
    assert [bool(gradient.any()) for gradient in gradients] == [False, False, False, True]


def test_not_a_number_stays_visible(kernel):
    line = np.array([[0.0, 1.0]], np.float32)
    means, upstream = np.array([[np.nan], [0.5]], np.float32), np.ones((2, 1), np.float32)
    outputs = RhoProblem(means, line, line, line, upstream).solve(kernel)[0]
    assert np.isnan(outputs).ravel().tolist() == [True, False]


def test_arrays_need_not_be_contiguous(kernel):
    problem = RhoProblem.random(3, 7, 2, 2, n_keypoints=5)
    assert_close(turned(problem).solve(kernel), problem.solve(kernel), 1e-14)


def test_the_same_inputs_give_the_same_bits(kernel):
    problem = RhoProblem.random(4, 500, 2, 3, n_keypoints=20, dtype=np.float32)
    assert_same_bits(problem.solve(kernel), problem.solve(kernel))


LOSSES = [
    *((Loss(name), 1) for name in ("squared_error", "absolute_error", "poisson")),
    *((Loss("quantile", quantile), 1) for quantile in (0.1, 0.5, 0.8)),
    *((Loss(name), classes) for name in ("log_loss", "binary_log_loss", "hinge") for classes in (1, 2, 5)),
]


@pytest.mark.parametrize("n_sets", [0, 1, 200])
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES, ids=str)
@needs_native
def test_losses_and_their_derivatives_are_those_of_torch(loss, n_outputs, scale, n_sets):
    problem = LossProblem.random(0, loss, n_sets, n_outputs, scale)
    values, slopes = problem.solve("native")
    assert values.shape == (n_sets,)
    assert slopes.shape == (n_sets, n_outputs)
    # Beyond 20, torch takes log(1 + exp(x)) for x.
    assert_close([values, slopes], problem.solve("torch"), 1e-12 if scale == 1.0 else 1e-8)
    assert_same_bits(turned(problem).solve("native"), [values, slopes])


@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES, ids=str)
@needs_native
def test_derivatives_of_losses_are_those_of_differences(loss, n_outputs):
    problem = LossProblem.random(1, loss, 30, n_outputs, 1.0)
    assert_gradients_are_differences(lambda: problem.solve("native"), [problem.outputs], np.ones(30))
