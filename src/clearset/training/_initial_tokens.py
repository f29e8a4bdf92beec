"""Initial values of a set function of tokens, by what their number is worth: a mean, a sum, or between."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clearset.functions import SetFunction
from clearset.sets import Binning, Trust

# The mean value of a set's tokens counts times such a power of their number: as a mean, as a sum, and as evidence does
# that repeats itself.
POWERS = (0.0, 0.5, 1.0)
NUMBER = "tokens"


def beginnings(
    function: SetFunction, binning: Binning, trusts: tuple[Trust, ...], neutral: float
) -> Iterator[SetFunction]:
    """Return a set function as it is, and those that begin to count the value times a power of the number of tokens.

    A mean of scores says nothing of their sum. Training finds the product of value and number in the end, from a start
    that does not have it: over hundreds of steps, held back by the penalty on twists. From a start that has it the
    first steps are as good.

    A lattice is linear in each of its inputs. So where the calibrator of the number n is the line from 0 to 1 that
    ``n ** power`` makes over its keypoints, a lattice with the values

        (v - neutral) * (n ** power / last ** power)    v = 0, 1;  n = first, last

    is their product everywhere. It rises with v, as the set function does that is given.

    Parameters
    ----------
    function : SetFunction
        Initial values of tokens crossed with classes, whose first feature is the value.
    binning : Binning
        The features and their keypoints.
    trusts : tuple of Trust
        Where the number of tokens has a declared part, it begins as it is.
    neutral : float
        The value of a token that makes no difference.
    """
    yield function
    names = [feature.name for feature in binning.features]
    declared = {name for trust in trusts for name in (trust.feature, trust.by)}
    if NUMBER not in names or NUMBER in declared:
        return
    place = names.index(NUMBER)
    feature, keypoints = binning.features[place], binning.keypoints[place]
    if keypoints is None or feature.monotonic is not None or feature.shape is not None:
        return
    numbers = np.maximum(keypoints, 1.0)
    if numbers[-1] <= numbers[0]:
        return
    middle = place_of_neutral(binning, neutral)
    shape = (len(function.vertices), *([2] * len(names)))
    grid = np.indices(shape[1:])
    vertices = function.vertices.reshape(shape)
    steep = vertices[:, 1] - vertices[:, 0]
    steep = steep.mean(axis=tuple(range(1, steep.ndim)))
    rest = vertices - np.multiply.outer(steep, grid[0] - 0.5)
    for power in POWERS[1:]:
        curve = numbers**power
        calibration = function.calibration.copy()
        calibration[:, binning.slots_of(NUMBER)] = (curve - curve[0]) / (curve[-1] - curve[0])
        counted = (grid[0] - middle) * np.where(grid[place] == 1, 1.0, curve[0] / curve[-1])
        begun = np.clip(rest + np.multiply.outer(steep, counted), -1.0, 1.0)
        yield replace(function, calibration=calibration, vertices=begun.reshape(function.vertices.shape))


def place_of_neutral(binning: Binning, neutral: float) -> float:
    """Return where among the keypoints of the value, from 0 to 1, that of a token stands that makes no difference."""
    ends = binning.keypoints[0]
    assert ends is not None  # noqa: S101
    return float(np.clip((neutral - ends[0]) / (ends[-1] - ends[0]), 0.0, 1.0))
