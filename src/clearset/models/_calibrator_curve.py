"""Calibrator curves as data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearset.functions import SetFunction
from clearset.sets import Binning


@dataclass(frozen=True)
class CalibratorCurve:
    """What phi makes of one feature: a curve per output of phi, from the feature's own unit to [0, 1].

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
    """

    feature: str
    keypoints: np.ndarray | None
    categories: tuple[Any, ...] | None
    values: np.ndarray
    missing: np.ndarray


def calibrator_curves(binning: Binning, function: SetFunction) -> dict[str, CalibratorCurve]:
    """Read the curves off a set function."""
    curves = {}
    for place, feature in enumerate(binning.features):
        name, slots = feature.name, binning.slots_of(feature.name)
        values, missing = (function.calibration[:, where].copy() for where in (slots, slots.stop))
        curves[name] = CalibratorCurve(name, binning.keypoints[place], binning.categories[place], values, missing)
    return curves
