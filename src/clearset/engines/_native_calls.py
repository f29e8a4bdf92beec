"""phi, crossed phi and rho in C++ (``native/phi.cpp``, ``crossed.cpp``, ``rho.cpp``), on arrays, and their gradients.

All results have the same bits for any number of threads.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines._checked_contents import check_chosen_sets, check_crossed_contents, check_offsets, check_slots
from clearset.functions import Layout, Loss
from clearset.sets import CrossedPositions, Positions, ValueColumn

# By name, because `from clearset import _native` would read as an import of the whole package.
_native = import_module("clearset._native")

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]


def phi_mean(positions: Positions, calibration: Array, vertices: Array, layout: Layout, threads: int) -> Array:
    """Return the mean score of every set, ``(B, K)``."""
    means = np.empty((len(positions), len(calibration)), calibration.dtype)
    call = _of_dtype("phi_forward", means.dtype)
    try:
        call(_layout(layout), threads, *_plain(positions, calibration, vertices), means)
    except ValueError:
        # These say what it is.
        check_offsets(positions.offsets, positions.n_tokens)
        check_slots(positions.slots, calibration.shape[1])
        raise
    return means


def phi_gradients(
    positions: Positions, calibration: Array, vertices: Array, layout: Layout, threads: int, upstream: Array
) -> tuple[Array, Array]:
    """Return the gradients by calibration and vertices, from that by the means."""
    return _phi_gradients(positions, calibration, vertices, layout, threads, upstream, None)


def phi_gradients_by_fractions(
    positions: Positions, calibration: Array, vertices: Array, layout: Layout, upstream: Array
) -> tuple[Array, Array, Array]:
    """Return the gradients by calibration, vertices and fractions, from that by the means."""
    by_fractions = np.empty(positions.fractions.shape, calibration.dtype)
    return *_phi_gradients(positions, calibration, vertices, layout, 1, upstream, by_fractions), by_fractions


def _phi_gradients(
    positions: Positions,
    calibration: Array,
    vertices: Array,
    layout: Layout,
    threads: int,
    upstream: Array,
    by_fractions: Array | None,
) -> tuple[Array, Array]:
    arrays = _plain(positions, calibration, vertices)
    gradients = np.empty_like(arrays[3]), np.empty_like(arrays[4])
    given = np.ascontiguousarray(upstream), *gradients, by_fractions
    _of_dtype("phi_backward", calibration.dtype)(_layout(layout), threads, *arrays, *given)
    return gradients


def _plain(positions: Positions, calibration: Array, vertices: Array) -> list[Array]:
    arrays = (positions.slots, positions.fractions, positions.offsets, calibration, vertices)
    return list(map(np.ascontiguousarray, arrays))


def means_of_values(
    columns: list[ValueColumn], offsets: IntArray, calibration: Array, vertices: Array, layout: Layout, threads: int
) -> Array:
    """Return the mean score of every set, ``(B, K)``, from the values of its tokens; an empty set has a missing one."""
    means = np.empty((len(offsets) - 1, len(calibration)))
    native = [_native.ValueColumn(*column) for column in columns]
    _native.means_of_values(_layout(layout), calibration, vertices, native, offsets, threads, means)
    return means


def crossed_mean(
    crossed: CrossedPositions,
    sets: IntArray,
    corrections: Array | None,
    calibration: Array,
    vertices: Array,
    threads: int,
) -> Array:
    """Return the mean scores of the chosen sets for every class, ``(b, C, K)``."""
    means = np.empty((len(sets), crossed.n_classes, len(calibration)), calibration.dtype)
    call = _of_dtype("crossed_forward", means.dtype)
    try:
        call(threads, *_crossed(crossed, sets, corrections, calibration, vertices), means)
    except ValueError:
        check_chosen_sets(crossed, sets)
        check_crossed_contents(crossed.take(sets), corrections, calibration.shape[1])
        raise
    return means


def crossed_gradients(
    crossed: CrossedPositions,
    sets: IntArray,
    corrections: Array | None,
    calibration: Array,
    vertices: Array,
    threads: int,
    upstream: Array,
) -> tuple[Array, Array, Array]:
    """Return the gradients by calibration, vertices and corrections, from that by the means."""
    arrays = _crossed(crossed, sets, corrections, calibration, vertices)
    by_corrections = np.empty((0, crossed.n_classes) if corrections is None else corrections.shape, calibration.dtype)
    gradients = np.empty_like(arrays[9]), np.empty_like(arrays[10]), by_corrections
    _of_dtype("crossed_backward", calibration.dtype)(threads, *arrays, np.ascontiguousarray(upstream), *gradients)
    return gradients


def _crossed(
    crossed: CrossedPositions, sets: IntArray, corrections: Array | None, calibration: Array, vertices: Array
) -> list[Any]:
    places = (crossed.slots, crossed.fractions, crossed.offsets, crossed.rows, crossed.corrected, sets)
    arrays = (*places, crossed.values, corrections, crossed.keypoints, calibration, vertices)
    return [None if array is None else np.ascontiguousarray(array) for array in arrays]


def rho(means: Array, calibrators: Array, vertices: Array, output: Array) -> Array:
    """Return the outputs of every set, ``(B, C)``, of means ``(B, C * K)``."""
    outputs = np.empty((len(means), len(output)), means.dtype)
    arrays = map(np.ascontiguousarray, (means, calibrators, vertices, output))
    _of_dtype("rho_forward", means.dtype)(*arrays, outputs)
    return outputs


def rho_gradients(
    means: Array, calibrators: Array, vertices: Array, output: Array, upstream: Array
) -> tuple[Array, ...]:
    """Return the gradients by means, calibrators, vertices and output, from that by the outputs."""
    arrays = list(map(np.ascontiguousarray, (means, calibrators, vertices, output)))
    gradients = tuple(map(np.empty_like, arrays))
    _of_dtype("rho_backward", means.dtype)(*arrays, np.ascontiguousarray(upstream), *gradients)
    return gradients


def losses(loss: Loss, outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Return the loss of every set, ``(B,)``, and its derivatives by the outputs, ``(B, C)``."""
    arrays = map(np.ascontiguousarray, (outputs, targets))
    values, slopes = _native.losses(loss.name, loss.quantile, *arrays)
    return values, slopes


@lru_cache(maxsize=64)
def _layout(layout: Layout) -> Any:
    return _native.PhiLayout(layout.sizes, layout.subsets)


@lru_cache(maxsize=64)
def _of_dtype(name: str, dtype: np.dtype[Any]) -> Any:
    return getattr(_native, f"{name}_{dtype.name}")
