"""What a calibrator says of a missing value where training had none."""

import numpy as np
import torch

from clearset.setfunction._module import SetFunction
from clearset.sets import Binning, Positions


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
    calibration = model.phi.calibration.numpy()
    for d in range(len(binning.features)):
        slots, fractions = positions.slots[d], positions.fractions[d].astype(np.float64)
        start, missing = int(binning.slot_offsets[d]), int(binning.slot_offsets[d + 1]) - 1
        shares = np.bincount(slots - start, 1.0 - fractions, minlength=missing - start + 2)
        shares[1:] += np.bincount(slots - start, fractions, minlength=missing - start + 2)[:-1]
        known = shares[: missing - start]
        if shares[missing - start] == 0.0 and known.sum() > 0.0:
            calibration[:, missing] = calibration[:, start:missing] @ (known / known.sum())
