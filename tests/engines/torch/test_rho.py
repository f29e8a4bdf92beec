"""The contract of rho that every kernel keeps."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.engines.torch import available_kernels, rho

from ..brute_force import brute_force_rho

OTHER_KERNELS = [name for name in available_kernels() if name != "reference"]


@dataclass
class RhoProblem:
    """Inputs of rho and an upstream gradient."""

    inputs: list[torch.Tensor]
    upstream: torch.Tensor

    @classmethod
    def random(cls, seed, n_sets, n_functions, width, n_keypoints, dtype=torch.float64, borders=True):
        rng = np.random.default_rng(seed)

        def draw(low, high, *shape):
            """Draw numbers in between; with borders, a third of them at the ends, beyond, and on quarters."""
            values = rng.uniform(low, high, shape)
            if not borders:
                return torch.from_numpy(low + (high - low) * (0.1 + 0.8 * (values - low) / (high - low))).to(
                    dtype
                )
            special = low + (high - low) * rng.integers(-1, 6, shape) / 4
            return torch.from_numpy(np.where(rng.random(shape) < 0.3, special, values)).to(dtype)

        rows = n_functions * width
        return cls(
            inputs=[
                draw(-1, 1, n_sets, rows),
                draw(0, 1, rows, n_keypoints),
                draw(-1, 1, n_functions, 2**width),
                draw(-3, 3, n_functions, n_keypoints),
            ],
            upstream=torch.from_numpy(rng.standard_normal((n_sets, n_functions))).to(dtype),
        )

    def solve(self, kernel):
        """Return the outputs and the gradients by all inputs."""
        inputs = [tensor.clone().requires_grad_() for tensor in self.inputs]
        outputs = rho(*inputs, kernel=kernel)
        return outputs.detach(), *torch.autograd.grad(outputs, inputs, self.upstream)


@st.composite
def problems(draw, dtype=torch.float64):
    return RhoProblem.random(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_sets=draw(st.integers(0, 20)),
        n_functions=draw(st.integers(1, 4)),
        width=draw(st.integers(1, 6)),
        n_keypoints=draw(st.integers(2, 21)),
        dtype=dtype,
    )


def assert_same(results, expected, tolerance):
    for result, correct in zip(results, expected, strict=True):
        torch.testing.assert_close(result, correct.to(result), rtol=tolerance, atol=tolerance)


@settings(deadline=None, max_examples=30)
@given(problem=problems())
@pytest.mark.parametrize("name", available_kernels())
def test_outputs_are_those_of_brute_force(name, problem):
    expected = brute_force_rho(*(tensor.numpy() for tensor in problem.inputs))
    assert_same([rho(*problem.inputs, kernel=name)], [torch.from_numpy(expected)], 1e-12)


# Away from the borders, where the derivative jumps.
@pytest.mark.parametrize(("n_functions", "width"), [(1, 1), (3, 1), (2, 3)])
def test_gradients_are_those_of_differences(kernel, n_functions, width):
    problem = RhoProblem.random(0, 4, n_functions, width, n_keypoints=4, borders=False)
    inputs = [tensor.requires_grad_() for tensor in problem.inputs]
    assert torch.autograd.gradcheck(lambda *inputs: rho(*inputs, kernel=kernel), inputs)


@settings(deadline=None, max_examples=60)
@given(problem=problems())
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_outputs_and_gradients_are_those_of_the_reference(name, problem):
    assert_same(problem.solve(name), problem.solve("reference"), 1e-12)


@pytest.mark.parametrize("width", [8, 12])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_wide_lattices(name, width):
    problem = RhoProblem.random(1, 10, 2, width, n_keypoints=5)
    assert_same(problem.solve(name), problem.solve("reference"), 1e-12)


# Where a value lies on a keypoint, rounding decides in single precision which segment's slope counts.
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_single_precision(name):
    problem = RhoProblem.random(2, 2000, 2, 3, n_keypoints=20, dtype=torch.float32, borders=False)
    outputs, _, *table_gradients = problem.solve(name)
    problem.inputs, problem.upstream = [x.double() for x in problem.inputs], problem.upstream.double()
    expected, _, *expected_gradients = problem.solve("reference")
    assert outputs.dtype == torch.float32
    assert_same([outputs, *table_gradients], [expected, *expected_gradients], 2e-4)


def test_clamped_values_have_no_gradient_and_borders_have_one(kernel):
    # The calibrator rises from 0 to 1, the lattice gives the place itself, the output is 3 times it, from -3 to 3.
    tensors = [[[-1.5], [-1.0], [0.0], [1.0], [1.5]], [[0.0, 1.0]], [[0.0, 1.0]], [[-3.0, 3.0]]]
    problem = RhoProblem(
        [torch.tensor(values, dtype=torch.float64) for values in tensors],
        torch.ones(5, 1, dtype=torch.float64),
    )
    outputs, grad_means, grad_calibrators, grad_vertices, grad_output = problem.solve(kernel)
    assert outputs.flatten().tolist() == [0.0, 0.0, 1.5, 3.0, 3.0]
    assert grad_means.flatten().tolist() == [0.0, 1.5, 1.5, 1.5, 0.0]
    assert grad_calibrators.tolist() == [[7.5, 7.5]]
    assert grad_vertices.tolist() == [[7.5, 7.5]]
    assert grad_output.tolist() == [[1.25, 3.75]]
    # Calibrated and fused values beyond their ranges: nothing flows behind them.
    problem.inputs[1] = torch.tensor([[2.0, 3.0]], dtype=torch.float64)
    assert not problem.solve(kernel)[2].any()
    problem.inputs[1:3] = torch.tensor([[[0.0, 1.0]], [[1.5, 2.0]]], dtype=torch.float64)
    outputs, *gradients = problem.solve(kernel)
    assert outputs.flatten().tolist() == [3.0] * 5
    assert [bool(gradient.any()) for gradient in gradients] == [False, False, False, True]


def test_not_a_number_stays_visible(kernel):
    line, means = torch.tensor([[0.0, 1.0]]), torch.tensor([[float("nan")], [0.5]])
    assert rho(means, line, line, line, kernel=kernel).isnan().flatten().tolist() == [True, False]


def test_tensors_need_not_be_contiguous(kernel):
    problem = RhoProblem.random(3, 7, 2, 2, n_keypoints=5)
    expected = problem.solve(kernel)
    turned = [tensor.T.contiguous().T for tensor in problem.inputs]
    assert torch.equal(rho(*turned, kernel=kernel), expected[0])


def test_the_same_inputs_give_the_same_bits(kernel):
    problem = RhoProblem.random(4, 500, 2, 3, n_keypoints=20, dtype=torch.float32)
    first = problem.solve(kernel)
    assert all(torch.equal(*pair) for pair in zip(first, problem.solve(kernel), strict=True))


@pytest.mark.parametrize(
    ("position", "shape"),
    [(0, (5,)), (0, (5, 3)), (1, (4, 6)), (2, (2, 2)), (3, (2, 6)), (3, (3, 5)), (3, (0, 5))],
)
def test_shapes_that_do_not_fit_are_refused(position, shape):
    inputs = [torch.zeros(7, 4), torch.zeros(4, 5), torch.zeros(2, 4), torch.zeros(2, 5)]
    inputs[position] = torch.zeros(shape)
    with pytest.raises(ValueError, match=r"they must be \(B, C \* K\), \(C \* K, V\)"):
        rho(*inputs)


def test_one_keypoint_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        rho(torch.zeros(7, 1), torch.zeros(1, 1), torch.zeros(1, 2), torch.zeros(1, 1))


def test_mixed_precision_and_devices_are_refused():
    line = torch.zeros(1, 2)
    with pytest.raises(TypeError, match=r"torch.float32, torch.float64, torch.float32"):
        rho(torch.zeros(3, 1), line.double(), line, line)
    with pytest.raises(TypeError, match=r"torch.float16"):
        rho(torch.zeros(3, 1).half(), line.half(), line.half(), line.half())
    with pytest.raises(ValueError, match=r"\['cpu', 'meta'\]"):
        rho(torch.zeros(3, 1), line.to("meta"), line, line)
