"""The contract of phi that every kernel keeps."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.engines.torch import TokenPositions, available_kernels, phi_mean, phi_scores
from clearset.functions import Layout

from ..brute_force import brute_force
from .conftest import Problem

# The reference has no threads of its own, and is itself what these are compared with.
OTHER_KERNELS = [name for name in available_kernels() if name != "reference"]

LAYOUTS = [
    Layout.full((2,)),
    Layout.full((4,)),
    Layout.full((2, 2, 2)),
    Layout.full((3, 2, 4)),
    Layout(sizes=(2, 3, 2, 2), subsets=((0, 2, 3), (3, 1), (2,))),
]


@st.composite
def problems(draw):
    n_features = draw(st.integers(1, 6))
    sizes = tuple(draw(st.lists(st.sampled_from([2, 2, 3, 4]), min_size=n_features, max_size=n_features)))
    subset = st.permutations(range(n_features)).flatmap(
        lambda order: st.integers(1, n_features).map(lambda count: tuple(order[:count]))
    )
    subsets = draw(st.one_of(st.just((tuple(range(n_features)),)), st.lists(subset, min_size=1, max_size=4)))
    set_sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 40, 300]), min_size=1, max_size=8))
    return Problem.random(
        draw(st.integers(0, 2**32 - 1)),
        Layout(sizes=sizes, subsets=tuple(subsets)),
        draw(st.integers(1, 5)),
        set_sizes,
    )


def assert_all_close(results, expected, tolerance):
    for result, correct in zip(results, expected, strict=True):
        torch.testing.assert_close(
            result, torch.as_tensor(correct).to(result), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_value_and_gradients_are_those_of_brute_force(kernel, layout, dtype):
    problem = Problem.random(1, layout, n_outputs=2, set_sizes=[1, 4, 1, 17, 2], dtype=dtype)
    expected = brute_force(
        *(tensor.numpy() for tensor in problem.positions),
        problem.calibration.double().numpy(),
        problem.vertices.double().numpy(),
        layout.sizes,
        layout.subsets,
        problem.upstream.double().numpy(),
    )
    assert_all_close(problem.solve(kernel=kernel), expected, 1e-12 if dtype == torch.float64 else 2e-5)


@settings(deadline=None, max_examples=60)
@given(problem=problems())
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_value_and_gradients_are_those_of_the_reference(name, problem):
    assert_all_close(problem.solve(kernel=name), problem.solve(kernel="reference"), 1e-12)


@pytest.mark.parametrize("n_features", range(1, 15))
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_every_number_of_features_has_its_lattice(name, n_features):
    problem = Problem.random(2, Layout.full((2,) * n_features), n_outputs=1, set_sizes=[5, 30])
    assert_all_close(problem.solve(kernel=name), problem.solve(kernel="reference"), 1e-12)


# Around 16 and 32 slots a feature a kernel may change its way of reading tables.
@pytest.mark.parametrize("most_slots", [16, 34, 300])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_short_and_long_tables_in_single_precision(name, most_slots):
    set_sizes = [1, 16, 15, 128, 3, 500]
    problem = Problem.random(
        10, Layout.full((2,) * 6), 2, set_sizes, dtype=torch.float32, most_slots=most_slots
    )
    results = problem.solve(kernel=name)
    problem.positions = problem.positions._replace(fractions=problem.positions.fractions.double())
    problem.calibration, problem.vertices = problem.calibration.double(), problem.vertices.double()
    problem.upstream = problem.upstream.double()
    assert_all_close(results, [part.float() for part in problem.solve(kernel="reference")], 1e-5)


# A kernel may remember where slots have been: here the first tokens do not show where the later ones stand.
@pytest.mark.parametrize("most_slots", [12, 40])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_sorted_tokens_in_single_precision(name, most_slots, descending):
    problem = Problem.random(
        11, Layout.full((2,) * 3), 1, [700, 40, 800], dtype=torch.float32, most_slots=most_slots
    )
    slots, order = problem.positions.slots.sort(dim=1, descending=descending)
    fractions = problem.positions.fractions.gather(1, order)
    problem.positions = problem.positions._replace(slots=slots.contiguous(), fractions=fractions)
    results = problem.solve(kernel=name)
    problem.positions = problem.positions._replace(fractions=fractions.double())
    problem.calibration, problem.vertices = problem.calibration.double(), problem.vertices.double()
    problem.upstream = problem.upstream.double()
    assert_all_close(results, [part.float() for part in problem.solve(kernel="reference")], 1e-5)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_scores_are_the_means_of_sets_of_one(kernel, layout):
    problem = Problem.random(3, layout, n_outputs=3, set_sizes=[4, 1, 9])
    upstream = torch.linspace(-1, 1, 14 * 3, dtype=torch.float64).reshape(14, 3)
    alone = problem.positions._replace(offsets=torch.arange(15))
    expected = brute_force(
        *(tensor.numpy() for tensor in alone),
        problem.calibration.numpy(),
        problem.vertices.numpy(),
        layout.sizes,
        layout.subsets,
        upstream.numpy(),
    )
    assert_all_close(problem.solve(phi_scores, upstream, kernel=kernel), expected, 1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("layout", [Layout.full((2,) * 4), Layout.full((3, 2))], ids=str)
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_threads_do_not_change_a_bit(name, layout, dtype):
    set_sizes = np.random.default_rng(0).integers(1, 50, 2000)
    problem = Problem.random(4, layout, n_outputs=2, set_sizes=set_sizes, dtype=dtype)
    alone = problem.solve(kernel=name, threads=1)
    for threads in (2, 5):
        for result, expected in zip(problem.solve(kernel=name, threads=threads), alone, strict=True):
            assert torch.equal(result, expected)


@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_the_gradients_of_parts_add_up(name):
    set_sizes = np.random.default_rng(1).integers(1, 50, 2000)
    problem = Problem.random(5, Layout.full((2, 2, 3)), n_outputs=2, set_sizes=set_sizes)
    means, *gradients = problem.solve(kernel=name, threads=2)
    parts = []
    offsets = problem.positions.offsets
    for first, last in ((0, 700), (700, 701), (701, 2000)):
        begin, end = int(offsets[first]), int(offsets[last])
        positions = TokenPositions(
            problem.positions.slots[:, begin:end],
            problem.positions.fractions[:, begin:end],
            offsets[first : last + 1] - begin,
        )
        part = Problem(
            positions, problem.calibration, problem.vertices, problem.layout, problem.upstream[first:last]
        )
        parts.append(part.solve(kernel=name))
    expected = [torch.cat([part[0] for part in parts]), sum(p[1] for p in parts), sum(p[2] for p in parts)]
    assert_all_close([means, *gradients], expected, 1e-10)


@pytest.mark.parametrize("function", [phi_mean, phi_scores])
def test_gradients_are_those_of_differences(kernel, function):
    layout = Layout(sizes=(2, 3, 2), subsets=((0, 1), (2, 1, 0)))
    problem = Problem.random(8, layout, n_outputs=2, set_sizes=[1, 3, 2])
    # Away from the borders of cells and clamps, where the derivative jumps.
    generator = torch.Generator().manual_seed(0)
    calibration = 0.05 + 0.4 * torch.rand(problem.calibration.shape, dtype=torch.float64, generator=generator)

    def value(calibration, vertices):
        return function(problem.positions, calibration, vertices, layout, kernel=kernel)

    assert torch.autograd.gradcheck(value, (calibration.requires_grad_(), problem.vertices.requires_grad_()))


def test_clamped_values_have_no_gradient_and_borders_have_one(kernel):
    # Size 3: slots below 0, at 0, on the middle vertex (the cell above counts), at 1, above 1.
    calibration = torch.tensor([[-0.5, 0.0, 0.5, 1.0, 1.5]], dtype=torch.float64)
    problem = Problem(
        TokenPositions(
            torch.arange(5, dtype=torch.int32)[None],
            torch.zeros(1, 5, dtype=torch.float64),
            torch.arange(6),
        ),
        calibration,
        torch.tensor([[10.0, 11.0, 14.0]], dtype=torch.float64),
        Layout.full((3,)),
        torch.ones(5, 1, dtype=torch.float64),
    )
    means, grad_calibration, grad_vertices = problem.solve(kernel=kernel)
    assert means.flatten().tolist() == [10.0, 10.0, 11.0, 14.0, 14.0]
    assert grad_calibration.tolist() == [[0.0, 2.0, 6.0, 6.0, 0.0]]
    assert grad_vertices.tolist() == [[2.0, 1.0, 2.0]]


@pytest.mark.parametrize("layout", [Layout.full((2,)), Layout.full((3,))], ids=str)
def test_not_a_number_stays_visible(kernel, layout):
    positions = TokenPositions(
        torch.tensor([[0, 1]], dtype=torch.int32), torch.zeros(1, 2), torch.tensor([0, 1, 2])
    )
    calibration = torch.tensor([[float("nan"), 0.5]])
    means = phi_mean(positions, calibration, torch.ones(1, layout.n_vertices), layout, kernel=kernel)
    assert means.isnan().flatten().tolist() == [True, False]


@pytest.fixture(scope="module")
def huge_set():
    """Ten million times 0.1, which added up one by one in single precision is 9 % too large."""
    n_tokens = 10_000_000
    positions = TokenPositions(
        slots=torch.zeros(1, n_tokens, dtype=torch.int32),
        fractions=torch.full((1, n_tokens), 0.1),
        offsets=torch.tensor([0, n_tokens]),
    )
    line = torch.tensor([[0.0, 1.0]])
    return Problem(positions, line, line, Layout.full((2,)), torch.ones(1, 1))


def test_mean_of_a_huge_set(kernel, huge_set):
    positions, line = huge_set.positions, huge_set.calibration
    mean = phi_mean(positions, line, line, huge_set.layout, kernel=kernel)
    assert mean.item() == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_gradients_of_a_huge_set(name, huge_set):
    _, grad_calibration, grad_vertices = huge_set.solve(kernel=name)
    assert grad_calibration.tolist()[0] == pytest.approx([0.9, 0.1], rel=1e-5)
    assert grad_vertices.tolist()[0] == pytest.approx([0.9, 0.1], rel=1e-5)


def test_tensors_need_not_be_contiguous(kernel):
    problem = Problem.random(6, Layout.full((2, 3)), n_outputs=2, set_sizes=[3, 5])
    expected = problem.solve(kernel=kernel)
    slots, fractions, offsets = problem.positions
    problem.positions = TokenPositions(
        slots.T.contiguous().T, fractions.T.contiguous().T, offsets.repeat_interleave(2)[::2]
    )
    problem.calibration = problem.calibration.T.contiguous().T
    assert_all_close(problem.solve(kernel=kernel), expected, 0.0)


def test_no_sets_give_no_means_and_zero_gradients(kernel):
    problem = Problem.random(7, Layout.full((2, 2)), n_outputs=3, set_sizes=np.zeros(0, dtype=int))
    means, grad_calibration, grad_vertices = problem.solve(kernel=kernel)
    assert means.shape == (0, 3)
    assert not grad_calibration.any()
    assert not grad_vertices.any()
