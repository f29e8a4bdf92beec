"""Calibrator curves as data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearset.setfunction import SetFunction
from clearset.sets import Binning


@dataclass(frozen=True)
class CalibratorCurve:
    """What phi makes of one feature: a curve per output of phi, from the feature's own unit to [0, 1].

    Attributes
    ----------
    feature
        Its name.
    keypoints
        ``(V,)`` where the curves bend; None for a categorical feature.
    categories
        The V categories; None for a numeric feature.
    values
        ``(width, V)``: the curves' values there; with several classes ``(classes * width, V)``.
    missing
        ``(width,)``: the values for a missing value.
    """

    feature: str
    keypoints: np.ndarray | None
    categories: tuple[Any, ...] | None
    values: np.ndarray
    missing: np.ndarray


def calibrator_curves(binning: Binning, model: SetFunction) -> dict[str, CalibratorCurve]:
    """Read the curves off a set function."""
    calibration = model.phi.calibration.detach().numpy()
    return {
        feature.name: CalibratorCurve(
            feature.name,
            keypoints,
            categories,
            calibration[:, binning.slots_of(feature.name)].copy(),
            calibration[:, binning.slots_of(feature.name).stop].copy(),
        )
        for feature, keypoints, categories in zip(
            binning.features, binning.keypoints, binning.categories, strict=True
        )
    }
