"""Features of which training data show a single value: nothing is known of what others would change."""

from collections.abc import Mapping, Sequence

import numpy as np

from clearset.functions import SetFunction
from clearset.sets import Binning, Feature, Observed, Trust

Place = tuple[int, float]
"""A slot, and the way from there to the next one."""


def constant_places(binning: Binning, observed: Observed) -> dict[str, Place]:
    """Return the numeric features whose values all stand at one place, and where.

    Parameters
    ----------
    binning : Binning
        Their keypoints, beyond which values stand at the nearest end.
    observed : Observed
        The values of some or all of its features.

    Returns
    -------
    dict of str to (int, float)
        The places, by name; features that are missing everywhere are not among them.
    """
    found: dict[str, Place] = {}
    for name, sample in observed.samples.items():
        values, _ = sample.values()  # the smallest and the largest are always among them
        if not len(values):
            continue
        slots, fractions = binning.place(name, np.array([values.min(), values.max()]), np.float64)
        if slots[0] == slots[1] and fractions[0] == fractions[1]:
            found[name] = (int(slots[0]), float(fractions[0]))
    return found


def flat_features(function: SetFunction, binning: Binning) -> list[Feature]:
    """Return the numeric features whose values all count the same."""
    tables = [function.calibration[:, binning.slots_of(feature.name)] for feature in binning.features]
    flat = [bool((table == table[:, :1]).all()) for table in tables]
    return [feature for feature, same in zip(binning.features, flat, strict=True) if same and feature.kind == "numeric"]


def flatten_constants(
    function: SetFunction, binning: Binning, trusts: Sequence[Trust], places: Mapping[str, Place]
) -> None:
    """Make all values of constant features count as the one of training; predictions of training sets stay.

    A flat calibrator breaks no constraint, but that of trapezoid trust: it pins both ends, and such calibrators stay.
    """
    pinned = {trust.feature for trust in trusts if trust.shape == "trapezoid"}
    for name, (slot, fraction) in places.items():
        if name in pinned:
            continue
        calibration = function.calibration
        usual = calibration[:, slot].copy()
        if fraction:
            usual += fraction * (calibration[:, slot + 1] - usual)
        calibration[:, binning.slots_of(name)] = usual[:, None]
