"""Calibrator curves, changed and put back into a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.functions import ShapeConstraints
from clearset.models._arrays import FloatArray
from clearset.models._calibrator_curve import CalibratorCurve
from clearset.models.edits._edit import EditRefusedError
from clearset.sets import Binning, unknown_name

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel

# As a share of the range of keypoints, how close one must be to a new one to be replaced by it.
_CLOSE = 1e-6
# By how much an exact projection may move a curve that obeys its constraints but for rounding.
_ROUNDING = 1e-9
# What a log keeps of a curve, beside its keypoints.
_TABLES = ("values", "missing", "counts")


def curve_of(model: FunctionModel, feature: str) -> CalibratorCurve:
    """Return the curve of a feature; raise an error where the model has no such feature."""
    curves = model.calibrators()
    if feature not in curves:
        raise EditRefusedError(unknown_name("Feature", feature, curves))
    return curves[feature]


def split(curve: CalibratorCurve, value: float) -> CalibratorCurve:
    """Return the same curve with a keypoint at a value between its ends; it replaces one that is close by."""
    keypoints, values = np.asarray(curve.keypoints), curve.values
    place = int(np.searchsorted(keypoints, value))
    if keypoints[place] == value:
        return curve
    low, high = values[:, place - 1], values[:, place]
    # Halved first: the difference of two finite numbers may overflow, that of their halves cannot.
    halves = keypoints / 2
    fraction = (value / 2 - halves[place - 1]) / (halves[place] - halves[place - 1])
    # Rounding must not carry it past its neighbours, between which a rising curve has to stay.
    between = np.clip(low + fraction * (high - low), np.minimum(low, high), np.maximum(low, high))
    # Shapes could not be kept exactly beside a step that is many times shorter than others.
    nearest = place - int(fraction < 0.5)
    close = abs(value / 2 - halves[nearest]) <= _CLOSE * (halves[-1] - halves[0])
    kept = np.arange(len(keypoints)) != (nearest if close else -1)
    place -= close and nearest < place
    # A keypoint that is new has no training sets of its own, one that is moved keeps them.
    counts = np.insert(curve.counts[np.append(kept, True)], place, curve.counts[nearest] if close else 0.0)
    return replace(
        curve,
        keypoints=np.insert(keypoints[kept], place, value),
        values=np.insert(values[:, kept], place, between, axis=1),
        counts=counts,
    )


def mean_between(curve: CalibratorCurve, low: float, high: float) -> FloatArray:
    """Return the mean of each curve between two values, as if every step between keypoints held as many tokens."""
    # Keypoints stand at quantiles of the training data, so that this is close to the mean over its tokens.
    keypoints, values = np.asarray(curve.keypoints), curve.values
    steps = np.arange(len(keypoints))
    first, last = np.interp([low, high], keypoints, steps)
    inner = steps[(steps > first) & (steps < last)]
    places = np.concatenate([[first], inner, [last]])
    heights = np.stack([np.interp(places, steps, row) for row in values])
    if first == last:
        return heights[:, 0]
    areas = ((heights[:, 1:] + heights[:, :-1]) / 2 * np.diff(places)).sum(axis=1)
    return np.asarray(np.clip(areas / (last - first), heights.min(axis=1), heights.max(axis=1)))


def with_curve(model: FunctionModel, curve: CalibratorCurve) -> FunctionModel:
    """Return the model with another curve of a feature."""
    binning, function = model.binning, model.function
    place = [feature.name for feature in binning.features].index(curve.feature)
    keypoints = (*binning.keypoints[:place], curve.keypoints, *binning.keypoints[place + 1 :])
    before, after = int(binning.slot_offsets[place]), int(binning.slot_offsets[place + 1])
    table, support = function.calibration, function.support
    parts = [table[:, :before], curve.values, curve.missing[:, None], table[:, after:]]
    if support is not None:
        counts = np.concatenate([support.counts[:before], curve.counts, support.counts[after:]])
        support = replace(support, counts=counts)
    return replace(
        model,
        binning=Binning(binning.features, keypoints, binning.categories),
        function=replace(function, calibration=np.hstack(parts), support=support),
    )


def with_allowed_curve(model: FunctionModel, curve: CalibratorCurve, words: str) -> FunctionModel:
    """Return the model with another curve, moved by rounding where that makes it obey what is declared of it exactly.

    Parameters
    ----------
    model : FunctionModel
        The model.
    curve : CalibratorCurve
        The new curve.
    words : str
        The edit in words, for the error where the curve breaks a constraint.
    """
    changed = with_curve(model, curve)
    columns = changed.binning.slots_of(curve.feature)
    blocks = ShapeConstraints.of(changed.function, changed.binning, changed.trusts).blocks
    block = next(each for each in blocks if each.table == "phi.calibration" and each.columns == columns)
    _check_ends(changed, curve, words)
    violations = block.constraints.violations(curve.values)
    broken = [name for name, violation in violations.items() if violation > 0]
    if not broken:
        return changed
    exact = block.constraints.project_exactly(curve.values)
    if np.abs(exact - curve.values).max() > _ROUNDING:
        raise EditRefusedError(
            f"{words}: this would break what was declared, {' and '.join(map(repr, broken))}. Choose other values, "
            "flatten or forbid the whole feature, or fit a model without this declaration."
        )
    return with_curve(model, replace(curve, values=exact))


def _check_ends(model: FunctionModel, curve: CalibratorCurve, words: str) -> None:
    """Raise an error if a feature under trapezoid trust no longer reaches both ends of its lattice."""
    if (curve.values[:, 0] == 0).all() and (curve.values[:, -1] == 1).all():
        return
    curves = model.calibrators()
    for trust in model.trusts:
        # Where the other feature has no effect there is nothing left that the trust could speak of.
        if trust.feature == curve.feature and trust.shape == "trapezoid" and np.ptp(curves[trust.by].values, 1).any():
            raise EditRefusedError(
                f"{words}: this would break the declared trapezoid trust of {trust.feature!r} by {trust.by!r}, which "
                f"speaks of the ends of {trust.feature!r}. Forbid {trust.by!r} first, or fit a model without it."
            )


def curve_to_json(curve: CalibratorCurve) -> dict[str, Any]:
    """Return what a curve holds of its own as plain data."""
    keypoints = None if curve.keypoints is None else curve.keypoints.tolist()
    tables = {name: getattr(curve, name).tolist() for name in _TABLES}
    return {"keypoints": keypoints, **tables}


def curve_from_json(now: CalibratorCurve, document: Mapping[str, Any]) -> CalibratorCurve:
    """Return the former curve of a feature, from plain data and from what it is now."""
    keypoints = None
    if now.keypoints is not None:
        keypoints = np.array(document["keypoints"], dtype=np.float64)
        if keypoints.ndim != 1 or len(keypoints) < 2 or not (np.diff(keypoints) > 0).all():
            raise ValueError(f"The former keypoints of feature {now.feature!r} do not increase.")
    values, missing, counts = (np.array(document[name], dtype=np.float64) for name in _TABLES)
    size = len(now.categories or ()) if keypoints is None else len(keypoints)
    fits = values.shape == (len(now.values), size) and missing.shape == now.missing.shape and len(counts) == size + 1
    if not fits or not all(np.isfinite(table).all() for table in (values, missing, counts)):
        raise ValueError(f"The former curve of feature {now.feature!r} does not fit the model.")
    return replace(now, keypoints=keypoints, values=values, missing=missing, counts=counts)
