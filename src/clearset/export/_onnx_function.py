"""Set functions in ONNX: calibrators, lattices, and rho."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from clearset.export._onnx_graph import Graph, Value
from clearset.functions import Layout, Rho

FloatArray = npt.NDArray[np.float64]

# The step by which slopes of rho are found, as in `clearset.runtime`.
STEP = 1e-6


def calibrated_numbers(values: Value, keypoints: FloatArray, outputs: FloatArray) -> Value:
    """Read calibrators with outputs ``(C, K, V + 1)``, the last for missing, at ``(n,)`` values: ``(C, K, n)``.

    A value between two keypoints is their shares of the way: the output is that of the first keypoint, and for each
    interval as much of its rise as has been passed.
    """
    absent = values.apply("IsNaN")
    # Halved first: the difference of two finite numbers may overflow, that of their halves cannot.
    halves = keypoints / 2
    passed = absent.where(halves[0], values * 0.5).axes_added(0) - halves[:-1, None]
    shares = (passed / np.diff(halves)[:, None]).clip(0.0, 1.0)
    known = values.graph.constant(np.diff(outputs[..., :-1])) @ shares + outputs[..., :1]
    return absent.where(outputs[..., -1:], known)


def calibrated_codes(codes: Value, outputs: FloatArray) -> Value:
    """Read calibrators with outputs ``(C, K, V)`` at ``(n,)`` codes: ``(C, K, n)``."""
    return codes.graph.constant(outputs).gather(codes, 2)


class Phi:
    """Lattices over calibrated features.

    Parameters
    ----------
    graph : Graph
        Where they are calculated.
    layout : Layout
        The lattices.
    vertices : ndarray of shape (C, K, P)
        Their vertices; one function may stand for all classes.
    features : sequence of (Value of shape (C, K, T), int)
        The calibrated features, and how many classes each is told apart by: C, or 1.
    n_tokens : Value of shape (1,)
        The number of tokens, T.
    """

    def __init__(
        self, graph: Graph, layout: Layout, vertices: FloatArray, features: Sequence[tuple[Value, int]], n_tokens: Value
    ) -> None:
        self._graph, self._layout, self._n_tokens = graph, layout, n_tokens
        self._classes = [n for _, n in features]
        self._width = vertices.shape[1]
        self._weights = [self._weigh(d, feature) for d, (feature, _) in enumerate(features)]
        edges = layout.vertex_offsets
        self._vertices = [vertices[..., start:stop] for start, stop in pairwise(edges)]
        self._halves = [self._halved(subset, len(each)) for subset, each in self._lattices]
        self._products: dict[tuple[int, ...], Value] = {}

    @property
    def _lattices(self) -> list[tuple[tuple[int, ...], FloatArray]]:
        return list(zip(self._layout.subsets, self._vertices, strict=True))

    @cached_property
    def scores(self) -> Value:
        """``(C, K, T)``: the scores of the tokens."""
        return self._mean([self._lattice(place, {}) for place in range(len(self._vertices))])

    def change(self, feature: int, usual: FloatArray) -> Value:
        """Return how much higher scores are than with a feature that has a calibrated value, ``(C, K)``."""
        moved = {feature: self._weigh(feature, self._graph.constant(usual[..., None]))}
        concerned = [place for place, subset in enumerate(self._layout.subsets) if feature in subset]
        return self._mean([self._lattice(place, {}) - self._lattice(place, moved) for place in concerned])

    def _mean(self, lattices: list[Value]) -> Value:
        total = lattices[0]
        for each in lattices[1:]:
            total = total + each
        n = len(self._vertices)
        return total if n == 1 else total / float(n)

    def _weigh(self, feature: int, calibrated: Value) -> Value:
        """Return what each vertex along a feature counts, ``(C, K, L, T)``."""
        size = self._layout.sizes[feature]
        ways = (calibrated * float(size - 1)).axes_added(2) - np.arange(size, dtype=np.float64)[:, None]
        return (1.0 - ways.apply("Abs")).apply("Max", 0.0)

    def _halved(self, subset: tuple[int, ...], n_functions: int) -> int:
        """Return how many of a lattice's features make its rows, so that the least has to be multiplied."""
        sizes = [self._layout.sizes[d] for d in subset]

        def cost(cut: int) -> int:
            left, right = (max([self._classes[d] for d in part], default=1) for part in (subset[:cut], subset[cut:]))
            rows = prod(sizes[:cut])
            return left * rows + right * prod(sizes[cut:]) + max(right, n_functions) * rows

        return min(range(len(subset)), key=cost)

    def _lattice(self, place: int, moved: dict[int, Value]) -> Value:
        """Return the values of a lattice, ``(C, K, T)``; some features may be moved."""
        subset, vertices = self._lattices[place]
        cut = self._halves[place]
        rows, columns = (prod(self._layout.sizes[d] for d in part) for part in (subset[:cut], subset[cut:]))
        table = vertices.reshape(*vertices.shape[:2], rows, columns)
        read = self._graph.constant(table) @ self._product(subset[cut:], moved)
        if cut:
            return (read * self._product(subset[:cut], moved)).total(2)
        return read.axes_dropped(2)

    def _product(self, features: tuple[int, ...], moved: dict[int, Value]) -> Value:
        """Return what the vertices of several features together count, ``(C, K, prod(L), T)``."""
        if moved.keys() & set(features):
            return self._multiplied(features, moved)
        if features not in self._products:
            self._products[features] = self._multiplied(features, {})
        return self._products[features]

    def _multiplied(self, features: tuple[int, ...], moved: dict[int, Value]) -> Value:
        weights = [moved.get(d, self._weights[d]) for d in features]
        product, size, classes = weights[0], self._layout.sizes[features[0]], self._classes[features[0]]
        for d, each in zip(features[1:], weights[1:], strict=True):
            size, classes = size * self._layout.sizes[d], max(classes, self._classes[d])
            pairs = product.axes_added(3) * each.axes_added(2)
            product = pairs.reshaped(classes, self._width, size, self._n_tokens)
        return product


class RhoGraph:
    """Rho of C functions, or of one that stands for all C outputs.

    Parameters
    ----------
    rho : Rho
        The tables.
    """

    def __init__(self, rho: Rho) -> None:
        self._width = rho.width
        self._calibrators = np.asarray(rho.calibrators, np.float64).reshape(rho.outputs, rho.width, -1)
        self._vertices = np.asarray(rho.vertices, np.float64)
        self._output = np.asarray(rho.output, np.float64)

    def outputs(self, means: Value) -> Value:
        """Return the outputs ``(C, B)`` of mean scores ``(C, K, B)``."""
        return self._read_output(self._fused(self._calibrated(means)))

    def corners(self, base: FloatArray, means: Value) -> Value:
        """Return outputs ``(C, 2 ** K, B)``; bit k of a place: whether the k-th mean is the set's, or the base's."""
        ends = self._calibrated(means), self._calibrated(means.graph.constant(base[..., None])).expanded(means.shape())
        values = means.graph.constant(self._vertices[:, None, :, None])
        for k in range(self._width):
            half = 2 ** (self._width - k - 1)
            low, high = values.slice(0, half, 2), values.slice(half, 2 * half, 2)
            at_means, at_base = (low + each.slice(k, k + 1, 1).axes_added(1) * (high - low) for each in ends)
            values = at_base.joined(at_means, axis=1)
        return self._read_output(values.axes_dropped(2), 1)

    def tangents(self, means: Value) -> Value:
        """Return the slopes of the outputs at mean scores, ``(C, K, B)``, by differences."""
        graph, found = means.graph, []
        for k in range(self._width):
            step = np.where(np.arange(self._width) == k, STEP, 0.0)[:, None]
            above, below = self.outputs(means + graph.constant(step)), self.outputs(means - graph.constant(step))
            found.append(((above - below) / (2 * STEP)).axes_added(1))
        return found[0].joined(*found[1:], axis=1) if len(found) > 1 else found[0]

    def _calibrated(self, means: Value) -> Value:
        return _read_uniform(self._calibrators, means)

    def _fused(self, calibrated: Value) -> Value:
        """Return the lattice's values, ``(C, B)``."""
        values = calibrated.graph.constant(self._vertices[:, :, None])
        for k in range(self._width):
            half = 2 ** (self._width - k - 1)
            low, high = values.slice(0, half, 1), values.slice(half, 2 * half, 1)
            values = low + calibrated.slice(k, k + 1, 1) * (high - low)
        return values.axes_dropped(1)

    def _read_output(self, values: Value, further_axes: int = 0) -> Value:
        return _read_uniform(self._output.reshape(len(self._output), *(1,) * further_axes, -1), values)


def _read_uniform(tables: FloatArray, values: Value) -> Value:
    """Read tables ``(..., V)``, whose keypoints are uniform on [-1, 1], at values ``(..., B)``."""
    n = int(tables.shape[-1])
    ways = ((values + 1.0) * ((n - 1) / 2)).clip(0.0, float(n - 1))
    steps = ways.apply("Floor").apply("Min", float(n - 2))
    rows = n * np.arange(tables.size // n).reshape(*tables.shape[:-1], 1)
    places, flat = steps.cast(np.int64) + rows, values.graph.constant(tables.ravel())
    low, high = flat.gather(places), flat.gather(places + 1)
    return low + (ways - steps) * (high - low)
