"""Losses: how far the outputs of a set function are from the labels."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

REGRESSION_LOSSES = ("squared_error", "absolute_error", "quantile", "poisson")
CLASSIFICATION_LOSSES = ("log_loss", "hinge")
CROSSED_LOSSES = ("log_loss", "binary_log_loss")


@dataclass(frozen=True)
class Loss:
    """A loss by its name.

    Targets are numbers for regression and class indices for classification. With one output, classes 0 and 1 are told
    apart by its sign; with C outputs there is one for each class. Under ``poisson`` the output is the logarithm of
    the expected label.

    Parameters
    ----------
    name
        One of `REGRESSION_LOSSES`, `CLASSIFICATION_LOSSES` or `CROSSED_LOSSES`.
    quantile
        The quantile that ``quantile`` aims at.

    Examples
    --------
    >>> Loss("absolute_error")(torch.tensor([[1.0], [5.0]]), torch.tensor([2.0, 2.0]))
    tensor([1., 3.])
    """

    name: str
    quantile: float = 0.5

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Give the loss of each of B sets from ``(B, C)`` outputs and ``(B,)`` targets."""
        if self.name == "log_loss" and outputs.shape[1] > 1:
            return functional.cross_entropy(outputs, targets.long(), reduction="none")
        if self.name == "hinge":
            # One class against the rest: +1 for the label's own output, -1 for every other.
            if outputs.shape[1] > 1:
                signs = 2.0 * functional.one_hot(targets.long(), outputs.shape[1]).to(outputs.dtype) - 1.0
            else:
                signs = (2.0 * targets - 1.0).unsqueeze(1)
            return (1.0 - signs * outputs).clamp(min=0.0).sum(dim=1)
        if self.name == "binary_log_loss" and outputs.shape[1] > 1:
            # Each class on its own: is it the label or not?
            mine = outputs.gather(1, targets.long().unsqueeze(1)).squeeze(1)
            return functional.softplus(outputs).sum(dim=1) - mine
        output = outputs.squeeze(1)
        if self.name in ("log_loss", "binary_log_loss"):
            return functional.softplus(output) - targets * output
        if self.name == "poisson":
            # Half the deviance: 0 where the output is right.
            return output.exp() - targets * output + torch.xlogy(targets, targets) - targets
        error = targets - output
        if self.name == "squared_error":
            return error.square()
        if self.name == "absolute_error":
            return error.abs()
        return torch.where(error > 0, self.quantile * error, (self.quantile - 1.0) * error)

    def scaling(self, targets: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """Give centre and scale of the outputs, so that a model of outputs near [-1, 1] starts in the right place.

        Training works with ``(output - centre) / scale``; the output calibrator takes both up afterwards.
        """
        if self.name not in REGRESSION_LOSSES:
            return 0.0, 1.0
        mean = float(np.average(targets, weights=weights))
        if self.name == "poisson":
            return float(np.log(mean)), 1.0
        spread = float(np.abs(targets - mean).max())
        if spread == 0.0:
            return mean, 1.0
        # Divided first: the squares of very large or small labels would leave the range of floats.
        return mean, spread * float(np.sqrt(np.average(((targets - mean) / spread) ** 2, weights=weights)))

    def scaled(self, targets: np.ndarray, centre: float, scale: float) -> np.ndarray:
        """Bring labels to the unit of scaled outputs."""
        if self.name not in REGRESSION_LOSSES:
            return targets
        if self.name == "poisson":
            return np.asarray(targets / np.exp(centre))
        return (targets - centre) / scale

    def in_units(self, value: float, centre: float, scale: float) -> float:
        """Bring the mean loss of scaled labels back to the labels' own unit."""
        if self.name == "poisson":
            return value * float(np.exp(centre))
        return value * (scale * scale if self.name == "squared_error" else scale)
