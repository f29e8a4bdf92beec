"""Errors that say which types and shapes of sets and tables do not fit together, before an engine reads them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines._checked_contents import check_offsets
from clearset.functions import Rho, SetFunction
from clearset.sets import CrossedPositions, Positions

Array = npt.NDArray[Any]


def check_sets(function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> None:
    """Raise an error unless the set function can be applied to sets of these types and shapes."""
    # Which slots and rows they hold is not looked at here: an engine finds that out while it reads them.
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1.")
    calibration, layout = function.calibration, function.layout
    floats = {"calibration": calibration, "vertices": function.vertices, "fractions": sets.fractions}
    small, n_plain = {"slots": sets.slots}, layout.n_features
    if isinstance(sets, CrossedPositions):
        _check_crossed(function, sets)
        floats |= {"values": sets.values, "keypoints": sets.keypoints}
        if function.corrections is not None:
            floats["corrections"] = function.corrections
        small |= {"rows": sets.rows, "corrected": sets.corrected}
        n_plain -= 1
    _check_floats(floats)
    if {array.dtype for array in small.values()} != {np.dtype(np.int32)} or sets.offsets.dtype != np.int64:
        received = ", ".join(f"{name} {array.dtype}" for name, array in small.items())
        raise TypeError(f"Received {received} and offsets {sets.offsets.dtype}; they must be int32 and int64.")
    if sets.slots.shape != sets.fractions.shape or sets.slots.ndim != 2 or len(sets.slots) != n_plain:
        raise ValueError(
            f"slots and fractions have the shapes {sets.slots.shape} and {sets.fractions.shape}; with the layout's "
            f"{layout.n_features} features both must be ({n_plain}, tokens)."
        )
    if sets.offsets.ndim != 1 or not len(sets.offsets):
        raise ValueError(f"offsets have the shape {sets.offsets.shape}; it must be (sets + 1,).")
    check_offsets(sets.offsets, sets.n_tokens)
    if calibration.ndim != 2 or function.vertices.shape != (len(calibration), layout.n_vertices):
        raise ValueError(
            f"calibration and vertices have the shapes {calibration.shape} and {function.vertices.shape}; with the "
            f"layout's {layout.n_vertices} vertices they must be (outputs, slots) and (outputs, {layout.n_vertices})."
        )


def check_means(rho: Rho, means: Array) -> None:
    """Raise an error unless rho can be applied to means of this type and shape."""
    _check_floats({"means": means, "calibrators": rho.calibrators, "vertices": rho.vertices, "output": rho.output})
    tables = (rho.calibrators, rho.vertices, rho.output)
    fits = means.ndim == 3 and rho.output.ndim == 2 and rho.outputs > 0 and rho.output.shape[1] > 1
    if fits:
        outputs, width, keypoints = rho.outputs, means.shape[2], rho.output.shape[1]
        shapes = ((outputs * width, keypoints), (outputs, 2**width), (outputs, keypoints))
        fits = width > 0 and outputs in (1, means.shape[1]) and tuple(table.shape for table in tables) == shapes
    if not fits:
        raise ValueError(
            f"means, calibrators, vertices and output have the shapes "
            f"{', '.join(str(array.shape) for array in (means, *tables))}; with C functions of width K and V keypoints "
            "(at least 2) they must be (sets, C, K), (C * K, V), (C, 2 ** K) and (C, V), where one function may serve "
            "several classes."
        )


def _check_crossed(function: SetFunction, sets: CrossedPositions) -> None:
    layout, corrections = function.layout, function.corrections
    if layout.subsets != (tuple(range(layout.n_features)),) or set(layout.sizes) != {2}:
        raise ValueError(
            f"layout has the sizes {layout.sizes} and the subsets {layout.subsets}; with classes it must be the full "
            f"lattice of size 2 in every feature, Layout.full({(2,) * layout.n_features})."
        )
    if sets.values.ndim != 2 or not sets.values.shape[1]:
        raise ValueError(f"values have the shape {sets.values.shape}; it must be (rows, classes).")
    if sets.rows.shape != sets.corrected.shape or sets.rows.shape != sets.slots.shape[1:]:
        raise ValueError(
            f"slots, rows and corrected have the shapes {sets.slots.shape}, {sets.rows.shape} and "
            f"{sets.corrected.shape}; they must be (plain features, tokens), (tokens,) and (tokens,)."
        )
    if corrections is not None and (corrections.ndim != 2 or corrections.shape[1] != sets.n_classes):
        raise ValueError(
            f"corrections have the shape {corrections.shape}; with values {sets.values.shape} it must be "
            f"(rows, {sets.n_classes})."
        )
    keypoints = sets.keypoints
    if keypoints.ndim != 1 or len(keypoints) < 2 or not bool((np.diff(keypoints) > 0).all()):
        raise ValueError(f"keypoints must be at least 2, each larger than the one before; received {keypoints}.")
    if function.calibration.shape[-1] <= len(keypoints):
        raise ValueError(
            f"calibration has the shape {function.calibration.shape}; it must have at least {len(keypoints) + 1} "
            "slots: one per keypoint and one for missing values."
        )


def _check_floats(arrays: dict[str, Array]) -> None:
    dtypes = {array.dtype for array in arrays.values()}
    if len(dtypes) > 1 or not dtypes <= {np.dtype(np.float32), np.dtype(np.float64)}:
        received = ", ".join(f"{name} {array.dtype}" for name, array in arrays.items())
        raise TypeError(f"Received {received}; all must be float32 or all float64.")
