"""phi with a value per class: every kernel against plain phi on tokens x classes, and against each other."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.engines.torch import (
    CrossedInputs,
    CrossedTokens,
    available_kernels,
    crossed_mean,
    crossed_scores,
)
from clearset.functions import Layout
from clearset.sets import CrossedPositions

from ..brute_force import brute_force
from ..cases import written_out

OTHER_KERNELS = [name for name in available_kernels() if name != "reference"]


@dataclass
class CrossedProblem:
    """Inputs of crossed phi and an upstream gradient."""

    tokens: CrossedTokens
    sets: torch.Tensor
    values: torch.Tensor
    corrections: torch.Tensor | None
    keypoints: torch.Tensor
    calibration: torch.Tensor
    vertices: torch.Tensor
    layout: Layout
    upstream: torch.Tensor

    @classmethod
    def random(
        cls, seed, *, D, C, K, V, set_sizes, n_chosen=None, refine=True, borders=True, dtype=torch.float64
    ):
        """Draw one; with borders, values stand on keypoints and outside, and calibrated values at and beyond 0, 1."""
        rng = np.random.default_rng(seed)
        n_tokens, n_rows, n_corrected = int(np.sum(set_sizes)), 40, 7
        n_slots = np.array([V + 1, *rng.integers(2, 8, D - 1)])
        first = np.concatenate([[0], np.cumsum(n_slots)])
        slots = rng.integers(0, n_slots[1:, None], (D - 1, n_tokens))
        fractions = rng.random((D - 1, n_tokens))
        fractions[slots >= n_slots[1:, None] - 2] = 0.0
        # Quarters are exact, so that sums of values and corrections can meet keypoints; and gaps are powers of two, so
        # that between them calibrated values meet 0 and 1 without rounding.
        keypoints = np.cumsum(rng.choice([1, 2, 4], V)) / 4
        if borders:
            values = rng.integers(-4, int(keypoints[-1] * 4) + 8, (n_rows, C)) / 4
            corrections = rng.integers(-3, 4, (n_corrected, C)) / 4
            calibration = rng.integers(-1, 10, (K, first[-1])) / 8
        else:
            middles = (keypoints[1:] + keypoints[:-1]) / 2
            values = rng.choice(middles, (n_rows, C)) + rng.uniform(-0.05, 0.05, (n_rows, C))
            corrections = rng.uniform(-0.05, 0.05, (n_corrected, C))
            calibration = rng.uniform(0.05, 0.95, (K, first[-1]))
        anywhere = rng.random(calibration.shape) < 0.7
        calibration = np.where(anywhere, rng.uniform(0.05, 0.95, calibration.shape), calibration)
        sets = rng.integers(0, len(set_sizes), n_chosen or len(set_sizes))
        layout = Layout.full((2,) * D)

        def real(array):
            return torch.from_numpy(np.asarray(array, dtype=np.float64)).to(dtype)

        def whole(array):
            return torch.from_numpy(np.asarray(array).astype(np.int32))

        return cls(
            tokens=CrossedTokens(
                slots=whole(slots + first[1:-1, None]),
                fractions=real(fractions),
                offsets=torch.from_numpy(np.concatenate([[0], np.cumsum(set_sizes)]).astype(np.int64)),
                rows=whole(np.where(rng.random(n_tokens) < 0.15, -1, rng.integers(0, n_rows, n_tokens))),
                corrected=whole(rng.integers(-1, n_corrected, n_tokens)),
            ),
            sets=torch.from_numpy(sets),
            values=real(values),
            corrections=real(corrections) if refine else None,
            keypoints=real(keypoints),
            calibration=real(calibration),
            vertices=real(rng.uniform(-1, 1, (K, layout.n_vertices))),
            layout=layout,
            upstream=real(rng.standard_normal((len(sets), C, K))),
        )

    @property
    def inputs(self):
        return CrossedInputs(
            self.tokens,
            self.sets,
            self.values,
            self.corrections,
            self.keypoints,
            self.calibration,
            self.vertices,
            self.layout,
        )

    def in_double(self):
        changes = {"tokens": self.tokens._replace(fractions=self.tokens.fractions.double())}
        for name in ("values", "corrections", "keypoints", "calibration", "vertices", "upstream"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name).double()
        return replace(self, **changes)

    def solve(self, function=crossed_mean, upstream=None, **options):
        """Return the value and the gradients by calibration, vertices and, if there are any, corrections."""
        leaves = {"calibration": self.calibration, "vertices": self.vertices, "corrections": self.corrections}
        leaves = {name: leaf.clone().requires_grad_() for name, leaf in leaves.items() if leaf is not None}
        value = function(replace(self, **leaves).inputs, **options)
        upstream = self.upstream if upstream is None else upstream
        return value.detach(), *torch.autograd.grad(value, list(leaves.values()), upstream)


def assert_same(results, expected, tolerance):
    for result, correct in zip(results, expected, strict=True):
        correct = torch.as_tensor(correct).to(result)
        torch.testing.assert_close(result, correct, rtol=tolerance, atol=tolerance)


def plain_brute_force(problem):
    """Write the tokens out class by class as tokens of plain phi, and read each class with `brute_force`."""
    tensors = (*problem.tokens, problem.values, problem.keypoints)
    crossed = CrossedPositions(*(tensor.numpy() for tensor in tensors))
    corrections = None if problem.corrections is None else problem.corrections.numpy()
    results = []
    for c in range(crossed.n_classes):
        plain = written_out(crossed, corrections, c).take(problem.sets.numpy())
        results.append(
            brute_force(
                plain.slots,
                plain.fractions,
                plain.offsets,
                problem.calibration.numpy(),
                problem.vertices.numpy(),
                problem.layout.sizes,
                problem.layout.subsets,
                problem.upstream[:, c].numpy(),
            )
        )
    means, by_calibration, by_vertices = zip(*results, strict=True)
    return np.stack(means, axis=1), sum(by_calibration), sum(by_vertices)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize(("D", "C", "K", "V"), [(1, 1, 1, 2), (1, 3, 2, 5), (3, 2, 1, 4), (4, 3, 2, 9)])
def test_value_and_gradients_are_those_of_plain_phi_class_by_class(kernel, D, C, K, V, refine):
    problem = CrossedProblem.random(1, D=D, C=C, K=K, V=V, set_sizes=[1, 4, 7, 2], refine=refine)
    assert_same(problem.solve(kernel=kernel)[:3], plain_brute_force(problem), 1e-12)


@pytest.mark.parametrize(("D", "C", "K", "V"), [(1, 2, 1, 2), (3, 1, 2, 6), (2, 3, 2, 4)])
def test_gradients_are_those_of_differences(kernel, D, C, K, V):
    problem = CrossedProblem.random(2, D=D, C=C, K=K, V=V, set_sizes=[1, 5, 3], borders=False)
    leaves = (problem.calibration, problem.vertices, problem.corrections)

    def function(calibration, vertices, corrections):
        changed = replace(problem, calibration=calibration, vertices=vertices, corrections=corrections)
        return crossed_mean(changed.inputs, kernel=kernel)

    assert torch.autograd.gradcheck(function, [leaf.requires_grad_() for leaf in leaves])


def test_clamped_values_give_corrections_no_gradient_and_borders_give_one(kernel):
    # Calibrated: value / 4; the score is that itself. Five sets of one token with the values -1, 0, 2, 4, 5.
    double = torch.float64
    problem = CrossedProblem(
        tokens=CrossedTokens(
            slots=torch.empty((0, 6), dtype=torch.int32),
            fractions=torch.empty((0, 6), dtype=double),
            offsets=torch.arange(7),
            rows=torch.tensor([0, 0, 0, 0, 0, -1], dtype=torch.int32),
            corrected=torch.arange(6, dtype=torch.int32),
        ),
        sets=torch.arange(6),
        values=torch.tensor([[1.0]], dtype=double),
        corrections=torch.tensor([[-2.0], [-1.0], [1.0], [3.0], [4.0], [0.0]], dtype=double),
        keypoints=torch.tensor([0.0, 1.0, 4.0], dtype=double),
        calibration=torch.tensor([[0.0, 0.25, 1.0, 0.75]], dtype=double),
        vertices=torch.tensor([[0.0, 1.0]], dtype=double),
        layout=Layout.full((2,)),
        upstream=torch.ones((6, 1, 1), dtype=double),
    )
    means, by_calibration, _, by_corrections = problem.solve(kernel=kernel)
    torch.testing.assert_close(means.flatten(), torch.tensor([0.0, 0.0, 0.5, 1.0, 1.0, 0.75], dtype=double))
    assert by_corrections.flatten().tolist() == [0.0, 0.25, 0.25, 0.25, 0.0, 0.0]
    torch.testing.assert_close(by_calibration, torch.tensor([[2.0, 2 / 3, 2 + 1 / 3, 1.0]], dtype=double))
    # A calibrated value beyond 1 is clamped, and nothing flows behind it.
    problem.calibration = torch.tensor([[0.0, 2.0, 3.0, 0.75]], dtype=double)
    by_calibration, _, by_corrections = problem.solve(kernel=kernel)[1:]
    assert by_calibration.tolist() == [[2.0, 0.0, 0.0, 1.0]]
    assert by_corrections.flatten().tolist() == [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]


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


@settings(max_examples=60)
@given(problem=problems())
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_value_and_gradients_are_those_of_the_reference(name, problem):
    assert_same(problem.solve(kernel=name), problem.solve(kernel="reference"), 1e-12)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("V", [2, 10, 15, 16, 17, 31, 32, 33, 70])
@pytest.mark.parametrize("C", [1, 2, 20])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_single_precision(name, C, V, refine):
    problem = CrossedProblem.random(
        3,
        D=4,
        C=C,
        K=2,
        V=V,
        set_sizes=[1, 16, 300, 40],
        n_chosen=9,
        refine=refine,
        borders=False,
        dtype=torch.float32,
    )
    results = problem.solve(kernel=name)
    assert results[0].dtype == torch.float32
    assert_same(results, problem.in_double().solve(kernel="reference"), 5e-5)


@pytest.mark.parametrize("D", range(1, 15))
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_every_number_of_features_has_its_lattice(name, D):
    problem = CrossedProblem.random(4, D=D, C=3, K=1, V=6, set_sizes=[5, 30])
    assert_same(problem.solve(kernel=name), problem.solve(kernel="reference"), 1e-12)


def test_scores_are_the_means_of_sets_of_one(kernel):
    problem = CrossedProblem.random(5, D=3, C=3, K=2, V=5, set_sizes=[4, 1, 9], n_chosen=4)
    scores = crossed_scores(problem.inputs, kernel=kernel)
    offsets = problem.tokens.offsets
    numbers = torch.cat([torch.arange(int(offsets[s]), int(offsets[s + 1])) for s in problem.sets])
    alone = replace(problem, tokens=problem.tokens._replace(offsets=torch.arange(15)), sets=numbers)
    assert_same([scores], [crossed_mean(alone.inputs, kernel="reference")], 1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("C", [1, 20])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_threads_do_not_change_a_bit(name, C, dtype):
    set_sizes = np.random.default_rng(0).integers(1, 50, 1000)
    problem = CrossedProblem.random(6, D=4, C=C, K=2, V=10, set_sizes=set_sizes, dtype=dtype)
    alone = problem.solve(kernel=name, threads=1)
    for threads in (2, 3, 7):
        together = problem.solve(kernel=name, threads=threads)
        assert all(torch.equal(*pair) for pair in zip(alone, together, strict=True))


def test_no_sets_give_no_means_and_no_gradient(kernel):
    problem = CrossedProblem.random(7, D=2, C=3, K=2, V=4, set_sizes=[2, 3])
    problem.sets, problem.upstream = problem.sets[:0], problem.upstream[:0]
    means, *gradients = problem.solve(kernel=kernel)
    assert means.shape == (0, 3, 2)
    assert not any(gradient.any() for gradient in gradients)


def test_tables_may_be_empty_where_nothing_points_into_them(kernel):
    problem = CrossedProblem.random(8, D=2, C=3, K=2, V=4, set_sizes=[2, 3])
    problem.tokens.rows.fill_(-1)
    problem.tokens.corrected.fill_(-1)
    expected = crossed_mean(problem.inputs, kernel="reference")
    empty = replace(problem, values=problem.values[:0], corrections=problem.corrections[:0])
    assert_same([crossed_mean(empty.inputs, kernel=kernel)], [expected], 1e-12)


@pytest.mark.parametrize("C", [1, 20])
def test_not_a_number_stays_visible(kernel, C):
    problem = CrossedProblem.random(
        9, D=2, C=C, K=1, V=4, set_sizes=[1] * 20, refine=False, dtype=torch.float32
    )
    problem.sets = torch.arange(20)
    problem.tokens.rows[:] = torch.arange(20)
    problem.values[3, -1] = float("nan")
    lost = crossed_mean(problem.inputs, kernel=kernel).isnan()
    assert lost.nonzero().tolist() == [[3, C - 1, 0]]


def test_tensors_need_not_be_contiguous(kernel):
    problem = CrossedProblem.random(10, D=4, C=3, K=2, V=5, set_sizes=[4, 6], n_chosen=4)
    expected = problem.solve(kernel=kernel)
    tokens = problem.tokens
    turned = replace(
        problem,
        tokens=tokens._replace(
            slots=tokens.slots.T.contiguous().T, fractions=tokens.fractions.T.contiguous().T
        ),
        values=problem.values.T.contiguous().T,
        corrections=problem.corrections.T.contiguous().T,
        calibration=problem.calibration.T.contiguous().T,
        vertices=problem.vertices.T.contiguous().T,
    )
    assert_same(turned.solve(kernel=kernel), expected, 1e-12)


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
def test_numbers_that_do_not_exist_are_refused(kernel, field, number, message, token, C):
    problem = CrossedProblem.random(11, D=3, C=C, K=1, V=4, set_sizes=[100, 1, 99])
    problem.sets = torch.tensor([2, 0])
    getattr(problem.tokens, field)[..., token] = number
    with pytest.raises(ValueError, match=message):
        crossed_mean(problem.inputs, kernel=kernel)


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
def test_sets_that_do_not_exist_are_refused(kernel, sets, offsets, message):
    problem = CrossedProblem.random(12, D=2, C=2, K=1, V=4, set_sizes=[1, 1, 3])
    problem.sets, problem.tokens = torch.tensor(sets), problem.tokens._replace(offsets=torch.tensor(offsets))
    for function in (crossed_mean, crossed_scores):
        with pytest.raises(ValueError, match=message):
            function(problem.inputs, kernel=kernel)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layout": Layout.full((2, 3, 2))}, r"sizes \(2, 3, 2\).*Layout.full\(\(2, 2, 2\)\)"),
        ({"layout": Layout((2, 2, 2), ((0, 1), (2,)))}, "it must be the full lattice"),
        ({"layout": Layout.full((2, 2))}, r"slots, fractions, rows and corrected have the shapes \(2, 5\)"),
        ({"values": torch.zeros(3)}, r"values have the shape \(3,\)"),
        ({"corrections": torch.zeros(3, 3)}, r"corrections have the shape \(3, 3\).*\(rows, 2\)"),
        ({"keypoints": torch.tensor([1.0])}, "keypoints must be at least 2"),
        ({"keypoints": torch.tensor([0.0, 1.0, 1.0])}, "each larger than the one before"),
        ({"keypoints": torch.tensor([0.0, float("nan"), 1.0])}, "each larger than the one before"),
        ({"calibration": torch.zeros(1, 4)}, r"calibration has the shape \(1, 4\).*at least 5 slots"),
        ({"vertices": torch.zeros(2, 8)}, r"vertices have the shape \(2, 8\).*\(1, 8\)"),
        (
            {"sets": torch.zeros((1, 1), dtype=torch.int64)},
            r"offsets and sets have the shapes \(3,\) and \(1, 1\)",
        ),
        ({"vertices": torch.zeros((1, 8), device="meta")}, r"\['cpu', 'meta'\]"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(changes, message):
    problem = CrossedProblem.random(13, D=3, C=2, K=1, V=4, set_sizes=[2, 3], dtype=torch.float32)
    with pytest.raises(ValueError, match=message):
        crossed_mean(replace(problem, **changes).inputs)


def test_types_and_threads_that_do_not_fit_are_refused():
    problem = CrossedProblem.random(14, D=3, C=2, K=1, V=4, set_sizes=[2, 3], dtype=torch.float32)
    with pytest.raises(TypeError, match=r"values torch.float64.*Convert"):
        crossed_mean(replace(problem, values=problem.values.double()).inputs)
    with pytest.raises(TypeError, match=r"offsets and sets are .*torch.int32"):
        crossed_mean(replace(problem, sets=problem.sets.int()).inputs)
    with pytest.raises(ValueError, match="threads is 0"):
        crossed_mean(problem.inputs, threads=0)
