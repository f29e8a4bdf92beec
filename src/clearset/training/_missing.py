"""The outputs of calibrators for missing values where training had few or none."""

import numpy as np

from clearset.engines import TrainingSets
from clearset.functions import SetFunction, enough
from clearset.sets import Binning, CrossedPositions

# Up to this many tokens say what a feature usually is.
_SAMPLE = 200_000


def fill_missing(function: SetFunction, binning: Binning, data: TrainingSets) -> None:
    """Make values that were rarely or never missing in training count as average when they are.

    The output for "missing" was not trained then, or by a few tokens; it is shrunk to the calibrator's mean output over
    the training tokens.
    """
    tokens: slice | np.ndarray = slice(None)
    positions = data.placed
    if data.chosen is not None:
        trained = np.zeros(len(positions), dtype=bool)
        trained[data.chosen] = True
        tokens = np.repeat(trained, np.diff(positions.offsets))
    for d in range(len(binning.features)):
        _fill(function, binning, d, positions.slots[d][tokens], positions.fractions[d][tokens])


def fill_missing_crossed(function: SetFunction, binning: Binning, crossed: CrossedPositions) -> None:
    """Do the same for tokens crossed with classes, whose first feature, the value, is missing in no token."""
    for d in range(1, len(binning.features)):
        _fill(function, binning, d, crossed.slots[d - 1], crossed.fractions[d - 1])


def _fill(function: SetFunction, binning: Binning, d: int, slots: np.ndarray, fractions: np.ndarray) -> None:
    start, missing = int(binning.slot_offsets[d]), int(binning.slot_offsets[d + 1]) - 1
    learned = min(1.0, np.count_nonzero(slots == missing) / enough(len(slots)))
    if learned == 1.0 or not (slots != missing).any():
        return
    every = -(-len(slots) // _SAMPLE)
    slots, fractions = slots[::every] - start, fractions[::every].astype(np.float64)
    shares = np.bincount(slots, 1.0 - fractions, minlength=missing - start + 1)
    shares[1:] += np.bincount(slots, fractions, minlength=missing - start + 1)[:-1]
    known = shares[: missing - start] / shares[: missing - start].sum()
    usual = function.calibration[:, start:missing] @ known
    function.calibration[:, missing] = usual + learned * (function.calibration[:, missing] - usual)
