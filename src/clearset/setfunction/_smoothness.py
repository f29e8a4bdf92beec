"""Smoothness: a penalty on bends that few sets speak for."""

import numpy as np
import torch
from torch import Tensor

from clearset.setfunction._module import SetFunction
from clearset.sets import Binning


class Smoothness:
    """The squared bends of all calibrators, weighed against the loss as a prior would be.

    A bend is the second difference of neighbouring values, v[i - 1] - 2 v[i] + v[i + 1]: 0 for a straight line. If labels
    scatter around the function by a mean loss of s, and bends around 0, then the likeliest function minimises the mean loss over
    n sets plus ``strength * s / n`` times the sum of squared bends. So the penalty fades with more sets, and with labels
    that the function explains without a remainder.

    Parameters
    ----------
    binning
        Says which columns of phi's calibration are neighbours.
    strength
        0 for no penalty.
    n_sets
        Number of training sets.
    """

    def __init__(self, binning: Binning, strength: float, n_sets: int) -> None:
        self._strength = strength / n_sets
        self._level = float("nan")
        middles = [
            np.arange(slots.start + 1, slots.stop - 1)
            for feature, keypoints in zip(binning.features, binning.keypoints, strict=True)
            if keypoints is not None
            for slots in (binning.slots_of(feature.name),)
        ]
        self._middles = torch.from_numpy(np.concatenate([np.empty(0, dtype=np.int64), *middles]))

    def __call__(self, model: SetFunction, loss: float) -> Tensor:
        """Give the penalty of one step whose loss is given."""
        self._level = loss if np.isnan(self._level) else self._level + 0.05 * (loss - self._level)
        calibration, middles = model.phi.calibration, self._middles
        bends = calibration[:, middles - 1] - 2.0 * calibration[:, middles] + calibration[:, middles + 1]
        total = bends.square().sum()
        for values in (model.rho.calibrators, model.rho.output):
            total = total + values.diff(n=2, dim=1).square().sum()
        return self._strength * self._level * total
