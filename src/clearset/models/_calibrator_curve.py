"""Calibrator curves as data, and what each value of a feature does to the score of a token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.engines import engine
from clearset.functions import enough
from clearset.sets import Positions

if TYPE_CHECKING:
    from clearset.models._arrays import FloatArray
    from clearset.models._model import Model


@dataclass(frozen=True)
class CalibratorCurve:
    """What phi makes of one feature: a curve per output of phi, from the feature's own unit to [0, 1], and its effect.

    A calibrated value does not say whether it is good: of a decreasing feature, the score falls as the calibrated value
    rises. `effects` do say it.

    Attributes
    ----------
    feature : str
        Its name.
    keypoints : ndarray of shape (V,), or None
        Where the curves bend; None for a categorical feature.
    categories : tuple or None
        The V categories; None for a numeric feature.
    values : ndarray of shape (width, V), or (classes * width, V) with several classes
        The values of the curves there.
    missing : ndarray of shape (width,), or (classes * width,) with several classes
        The values for a missing value.
    effects : ndarray of the shape of `values`
        The score of a token with this value, all other features calibrated as they are on average, as distance from
        the score of the base rate: above 0 it raises the prediction. Classes that share one set function are told by
        the mean of their base scores.
    missing_effects : ndarray of the shape of `missing`
        The same for a missing value.
    counts : ndarray of shape (V + 1,)
        How many training sets have such a value, and last a missing one; a set with several tokens, and a value between
        two keypoints, count in parts. All 0 where it is not known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"price": [[5, 4], [1], [5, 5, 5], [2, 3]]})
    >>> feature = cs.Feature("price", monotonic="decreasing")
    >>> model = cs.SetRegressor([feature], random_state=0).fit(products, [20.0, 180.0, 10.0, 60.0])
    >>> effects = model.calibrators()["price"].effects[0]
    >>> bool((effects[1:] <= effects[:-1]).all())
    True
    """

    feature: str
    keypoints: np.ndarray | None
    categories: tuple[Any, ...] | None
    values: np.ndarray
    missing: np.ndarray
    effects: np.ndarray
    missing_effects: np.ndarray
    counts: np.ndarray

    @property
    def rare(self) -> npt.NDArray[np.bool_]:
        """``(V + 1,)``: whether too few training sets have the value; nowhere where it is not known."""
        total = float(self.counts.sum())
        return np.asarray(self.counts < enough(total)) if total > 0 else np.zeros(len(self.counts), dtype=bool)


def calibrator_curves(model: Model) -> dict[str, CalibratorCurve]:
    """Read the curves off a model, and find the effects."""
    binning, calibration = model.binning, model.function.calibration
    curves = {}
    for place, feature in enumerate(binning.features):
        name, slots = feature.name, binning.slots_of(feature.name)
        values, missing = (calibration[:, where].copy() for where in (slots, slots.stop))
        effects = _effects(model, place)
        curves[name] = CalibratorCurve(
            name,
            binning.keypoints[place],
            binning.categories[place],
            values,
            missing,
            effects[:, :-1],
            effects[:, -1],
            model.support.counts[slots.start : slots.stop + 1].copy(),
        )
    return curves


def _effects(model: Model, place: int) -> FloatArray:
    """Return the scores ``(C * K, V + 1)`` of a feature's values, and of a missing one, less those of the base rate."""
    function, binning, support = model.function, model.binning, model.support
    starts = binning.slot_offsets
    # The other features are missing, and a missing value counts as what the feature is on average.
    calibration = function.calibration.copy()
    for other in np.delete(np.arange(len(binning.features)), place).tolist():
        slots = binning.slots_of(binning.features[other].name)
        calibration[:, slots.stop] = support.usual(calibration, slots)
    own = np.arange(starts[place], starts[place + 1])
    slots_of_tokens = np.repeat((starts[1:] - 1)[:, None], len(own), axis=1).astype(np.int32)
    slots_of_tokens[place] = own
    positions = Positions(slots_of_tokens, np.zeros(slots_of_tokens.shape), np.arange(len(own) + 1))
    scores = engine().scores(replace(function, calibration=calibration), positions, 1)
    base = support.base if len(support.base) == function.outputs else support.base.mean(axis=0, keepdims=True)
    return np.asarray((scores - base).reshape(len(own), -1).T)
