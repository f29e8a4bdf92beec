"""Inputs of phi, crossed phi and rho, each with an upstream gradient, and what the two kernels make of them.

The kernels are the functions of `clearset.engines._native_calls` and the torch reference, whose gradients are those of
autograd.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
import torch

from clearset.engines import available_engines
from clearset.engines.torch import as_tensors, loss_of, torch_threads
from clearset.engines.torch._module import Rho
from clearset.engines.torch._phi import crossed_scores, phi_scores, set_means
from clearset.functions import Layout, Loss
from clearset.sets import CrossedPositions, Positions

KERNELS = [name for name in ("native", "torch") if name in available_engines()]
if "native" in KERNELS:
    from clearset.engines import _native_calls as native


@torch_threads(1)
def solve_by_autograd(function, leaves, upstream):
    """Return the value of a function of arrays, and the gradients of ``sum(upstream * value)`` by them."""
    tensors = [torch.from_numpy(leaf).requires_grad_() for leaf in leaves]
    value = function(*tensors)
    gradients = torch.autograd.grad(value, tensors, torch.from_numpy(upstream))
    return tuple(part.detach().numpy() for part in (value, *gradients))


def in_double(problem):
    """Return a problem with all its numbers in double precision."""
    changes = {}
    for field in fields(problem):
        value = getattr(problem, field.name)
        if isinstance(value, Positions | CrossedPositions):
            value = in_double(value)
        elif isinstance(value, np.ndarray) and value.dtype == np.float32:
            value = value.astype(np.float64)
        changes[field.name] = value
    return replace(problem, **changes)


def turned(problem):
    """Return a problem of the same numbers, whose arrays are not contiguous."""
    changes = {}
    for field in fields(problem):
        value = getattr(problem, field.name)
        if isinstance(value, Positions | CrossedPositions):
            value = turned(value)
        elif isinstance(value, np.ndarray):
            value = np.repeat(value, 2, axis=-1)[..., ::2]
        changes[field.name] = value
    return replace(problem, **changes)


def offsets_of(set_sizes):
    return np.concatenate([[0], np.cumsum(set_sizes)]).astype(np.int64)


def assert_close(results, expected, tolerance):
    for result, correct in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, correct, rtol=tolerance, atol=tolerance)


def assert_same_bits(results, expected):
    for result, correct in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, correct)


def assert_gradients_are_differences(solve, leaves, upstream):
    """Compare gradients with differences of the value; leaves are changed in place, and changed back."""
    _, *gradients = solve()
    for leaf, gradient in zip(leaves, gradients, strict=True):
        for place in np.ndindex(leaf.shape):
            kept, ends = leaf[place], []
            for step in (1e-6, -1e-6):
                leaf[place] = kept + step
                ends.append((solve()[0] * upstream).sum())
            leaf[place] = kept
            assert abs((ends[0] - ends[1]) / 2e-6 - gradient[place]) < 1e-6


@dataclass
class PhiProblem:
    positions: Positions
    calibration: np.ndarray
    vertices: np.ndarray
    layout: Layout
    upstream: np.ndarray

    @classmethod
    def random(cls, seed, layout, n_outputs, set_sizes, dtype=np.float64, most_slots=5):
        """Draw one with what lies on borders: fractions 0 and 1, missing, values at 0 and 1 and beyond."""
        rng = np.random.default_rng(seed)
        # The last slot of each feature is "missing".
        n_slots = rng.integers(2, most_slots + 1, layout.n_features)
        first = np.concatenate([[0], np.cumsum(n_slots)])
        shape = (layout.n_features, int(np.sum(set_sizes)))
        slots = rng.integers(0, n_slots[:, None], shape)
        fractions = rng.choice([0.0, 1.0, 0.25, np.nan], shape)
        fractions = np.where(np.isnan(fractions), rng.random(shape), fractions)
        fractions[slots >= n_slots[:, None] - 2] = 0.0
        # Eighths put values exactly on the borders of cells and of [0, 1]; the others lie anywhere.
        calibration = rng.integers(-1, 10, (n_outputs, first[-1])) / 8
        anywhere = rng.random(calibration.shape) < 0.7
        calibration = np.where(anywhere, rng.random(calibration.shape), calibration)
        return cls(
            Positions((slots + first[:-1, None]).astype(np.int32), fractions.astype(dtype), offsets_of(set_sizes)),
            calibration.astype(dtype),
            rng.uniform(-1, 1, (n_outputs, layout.n_vertices)).astype(dtype),
            layout,
            rng.standard_normal((len(set_sizes), n_outputs)).astype(dtype),
        )

    def solve(self, kernel, threads=1):
        """Return the means and the gradients by calibration and vertices."""
        inputs = (self.positions, self.calibration, self.vertices, self.layout)
        if kernel == "native":
            means = native.phi_mean(*inputs, threads)
            return means, *native.phi_gradients(*inputs, threads, self.upstream)
        return self._by_autograd(False)

    def solve_by_fractions(self, kernel):
        """Return the gradients by calibration, vertices and fractions."""
        if kernel == "native":
            inputs = (self.positions, self.calibration, self.vertices, self.layout)
            return native.phi_gradients_by_fractions(*inputs, self.upstream)
        return self._by_autograd(True)[1:]

    def _by_autograd(self, by_fractions):
        tokens = as_tensors(self.positions)

        def means(calibration, vertices, *fractions):
            moved = tokens._replace(fractions=fractions[0]) if fractions else tokens
            return set_means(phi_scores(moved, calibration, vertices, self.layout), tokens.offsets)

        leaves = (self.calibration, self.vertices, self.positions.fractions)
        return solve_by_autograd(means, leaves if by_fractions else leaves[:2], self.upstream)


@dataclass
class CrossedProblem:
    positions: CrossedPositions
    sets: np.ndarray
    corrections: np.ndarray | None
    calibration: np.ndarray
    vertices: np.ndarray
    upstream: np.ndarray

    @classmethod
    def random(cls, seed, *, D, C, K, V, set_sizes, n_chosen=None, refine=True, borders=True, dtype=np.float64):
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
        rows = np.where(rng.random(n_tokens) < 0.15, -1, rng.integers(0, n_rows, n_tokens))
        return cls(
            CrossedPositions(
                (slots + first[1:-1, None]).astype(np.int32),
                fractions.astype(dtype),
                offsets_of(set_sizes),
                rows.astype(np.int32),
                rng.integers(-1, n_corrected, n_tokens).astype(np.int32),
                values.astype(dtype),
                keypoints.astype(dtype),
            ),
            sets,
            corrections.astype(dtype) if refine else None,
            calibration.astype(dtype),
            rng.uniform(-1, 1, (K, 2**D)).astype(dtype),
            rng.standard_normal((len(sets), C, K)).astype(dtype),
        )

    @property
    def leaves(self):
        leaves = (self.calibration, self.vertices, self.corrections)
        return leaves if self.corrections is not None else leaves[:2]

    def means(self, kernel, threads=1):
        if kernel == "native":
            tables = (self.corrections, self.calibration, self.vertices)
            return native.crossed_mean(self.positions, self.sets, *tables, threads)
        tensors = [None if leaf is None else torch.from_numpy(leaf) for leaf in self.leaves]
        return self._reference(*tensors).numpy()

    def solve(self, kernel, threads=1):
        """Return the means and the gradients by calibration, vertices and, if there are any, corrections."""
        if kernel == "native":
            tables = (self.corrections, self.calibration, self.vertices)
            gradients = native.crossed_gradients(self.positions, self.sets, *tables, threads, self.upstream)
            return self.means(kernel, threads), *gradients[: len(self.leaves)]
        return solve_by_autograd(self._reference, self.leaves, self.upstream)

    def _reference(self, calibration, vertices, corrections=None):
        tokens = as_tensors(self.positions.take(self.sets))
        return set_means(crossed_scores(tokens, calibration, vertices, corrections), tokens.offsets)


@dataclass
class RhoProblem:
    means: np.ndarray
    calibrators: np.ndarray
    vertices: np.ndarray
    output: np.ndarray
    upstream: np.ndarray

    @classmethod
    def random(cls, seed, n_sets, n_functions, width, n_keypoints, dtype=np.float64, borders=True):
        rng = np.random.default_rng(seed)

        def draw(low, high, *shape):
            """Draw numbers in between; with borders, a third of them at the ends, beyond, and on quarters."""
            if not borders:
                return (low + (high - low) * rng.uniform(0.1, 0.9, shape)).astype(dtype)
            special = low + (high - low) * rng.integers(-1, 6, shape) / 4
            return np.where(rng.random(shape) < 0.3, special, rng.uniform(low, high, shape)).astype(dtype)

        rows = n_functions * width
        return cls(
            draw(-1, 1, n_sets, rows),
            draw(0, 1, rows, n_keypoints),
            draw(-1, 1, n_functions, 2**width),
            draw(-3, 3, n_functions, n_keypoints),
            rng.standard_normal((n_sets, n_functions)).astype(dtype),
        )

    @property
    def inputs(self):
        return self.means, self.calibrators, self.vertices, self.output

    def solve(self, kernel):
        """Return the outputs and the gradients by all inputs."""
        if kernel == "native":
            return native.rho(*self.inputs), *native.rho_gradients(*self.inputs, self.upstream)
        # The module keeps parameters of its own, in whose place the tensors are put.
        module = Rho(*map(torch.from_numpy, self.inputs[1:]))
        names = [name for name, _ in module.named_parameters()]

        def outputs(means, *tables):
            return torch.func.functional_call(module, dict(zip(names, tables, strict=True)), means)

        return solve_by_autograd(outputs, self.inputs, self.upstream)


@dataclass
class LossProblem:
    loss: Loss
    outputs: np.ndarray
    targets: np.ndarray

    @classmethod
    def random(cls, seed, loss, n_sets, n_outputs, scale):
        rng = np.random.default_rng(seed)
        outputs = scale * rng.standard_normal((n_sets, n_outputs))
        if loss.name in ("squared_error", "absolute_error", "quantile"):
            return cls(loss, outputs, rng.standard_normal(n_sets))
        counts = rng.poisson(2.0, n_sets)  # 0 is among them
        classes = rng.integers(0, max(n_outputs, 2), n_sets)
        return cls(loss, outputs, (counts if loss.name == "poisson" else classes).astype(float))

    def solve(self, kernel):
        """Return the loss of every set, and its derivatives by the outputs."""
        if kernel == "native":
            return native.losses(self.loss, self.outputs, self.targets)

        def losses(outputs):
            return loss_of(self.loss, outputs, torch.from_numpy(self.targets))

        return solve_by_autograd(losses, [self.outputs], np.ones(len(self.targets)))
