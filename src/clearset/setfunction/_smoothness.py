"""Smoothness: a penalty on bends that few sets speak for."""

import numpy as np
import torch
from torch import Tensor

from clearset.setfunction._module import SetFunction
from clearset.sets import Binning


class Smoothness:
    """The squared bends of all calibrators, weighed against the loss as a prior would be.

    A bend is the second difference of neighbouring values, v[i - 1] - 2 v[i] + v[i + 1]: 0 for a straight line. If
    labels scatter around the function by a mean loss of s, and bends around 0, then the likeliest function minimises
    the mean loss over n sets plus ``strength * s / n`` times the sum of squared bends. So the penalty fades with more
    sets, and with labels that the function explains without a remainder.

    Parameters
    ----------
    binning
        Says which columns of phi's calibration are neighbours.
    strength
        0 for no penalty.
    n_sets
        Number of training sets, or the sum of their weights.
    rho_keypoints
        Keypoints of rho's calibrators.
    """

    def __init__(self, binning: Binning, strength: float, n_sets: float, rho_keypoints: int) -> None:
        self._strength = strength / n_sets
        self._level = float("nan")
        middles = [
            np.arange(slots.start + 1, slots.stop - 1)
            for feature, keypoints in zip(binning.features, binning.keypoints, strict=True)
            if keypoints is not None
            for slots in (binning.slots_of(feature.name),)
        ]
        self._middles = torch.from_numpy(np.concatenate([np.empty(0, dtype=np.int64), *middles]))
        self._inner = torch.arange(1, rho_keypoints - 1)

    @torch.no_grad()
    def add_gradient(self, model: SetFunction, loss: float) -> None:
        """Add the penalty's gradient to that of a step whose loss is given."""
        self._level = loss if np.isnan(self._level) else self._level + 0.05 * (loss - self._level)
        strength = 2.0 * self._strength * self._level
        _add_bends(model.phi.calibration, self._middles, strength)
        for values in (model.rho.calibrators, model.rho.output):
            _add_bends(values, self._inner, strength)


def _add_bends(values: Tensor, middles: Tensor, strength: float) -> None:
    """Add the gradient of half the strength times the squared bends at the middles."""
    left, right = middles - 1, middles + 1
    bends = strength * (values[:, left] - 2.0 * values[:, middles] + values[:, right])
    gradient = values.grad
    if gradient is not None:
        gradient.index_add_(1, left, bends).index_add_(1, middles, bends, alpha=-2).index_add_(
            1, right, bends
        )
