"""What a calibrator says of a missing value where training had none."""

import numpy as np
import torch

from clearset.setfunction._crossed import CrossedSets
from clearset.setfunction._module import SetFunction
from clearset.sets import Binning, Positions

_HALVINGS = 40


@torch.no_grad()
def fill_missing(model: SetFunction, binning: Binning, positions: Positions) -> None:
    """Let values that were never missing in training count as average when they are.

    The output for "missing" was not trained then; it becomes the calibrator's mean output over the training tokens.

    Parameters
    ----------
    model
        Changed in place.
    binning
        Says which slots belong to which feature.
    positions
        The training tokens.
    """
    for d in range(len(binning.features)):
        _fill(model, binning, d, positions.slots[d], positions.fractions[d])


@torch.no_grad()
def fill_missing_crossed(
    model: SetFunction, binning: Binning, crossed: CrossedSets, nothing: CrossedSets, prior: float
) -> None:
    """Do the same for tokens crossed with classes, whose first feature is the value.

    Where every training set had a token, a set without any gets as near to the prior as its one missing value can bring
    it. Of several classes all are alike then.

    Parameters
    ----------
    model, binning, crossed
        As in `fill_missing`.
    nothing
        One set without tokens, in float64.
    prior
        The output that says no more than the labels' mean.
    """
    for d in range(1, len(binning.features)):
        _fill(model, binning, d, crossed.tokens.slots[d - 1].numpy(), crossed.tokens.fractions[d - 1].numpy())
    if bool((crossed.tokens.rows < 0).any()):
        return
    column = model.phi.calibration[:, int(binning.slot_offsets[1]) - 1]
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):  # the output does not fall with the calibrated value
        column.fill_((low + high) / 2)
        if float(nothing.outputs(model, None, 1)[0, 0]) < prior:
            low = (low + high) / 2
        else:
            high = (low + high) / 2


def _fill(model: SetFunction, binning: Binning, d: int, slots: np.ndarray, fractions: np.ndarray) -> None:
    calibration, fractions = model.phi.calibration.numpy(), fractions.astype(np.float64)
    start, missing = int(binning.slot_offsets[d]), int(binning.slot_offsets[d + 1]) - 1
    shares = np.bincount(slots - start, 1.0 - fractions, minlength=missing - start + 2)
    shares[1:] += np.bincount(slots - start, fractions, minlength=missing - start + 2)[:-1]
    known = shares[: missing - start]
    if shares[missing - start] == 0.0 and known.sum() > 0.0:
        calibration[:, missing] = calibration[:, start:missing] @ (known / known.sum())
