"""Losses by name, and the unit in which they are minimised."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

REGRESSION_LOSSES = ("squared_error", "absolute_error", "quantile", "poisson")
CLASSIFICATION_LOSSES = ("log_loss", "hinge")
CROSSED_LOSSES = ("log_loss", "binary_log_loss")

# Of classes that a function tells apart without a remainder.
LEAST_SCATTER = 0.07


@dataclass(frozen=True)
class Loss:
    """A loss by its name.

    Targets are numbers for regression and class indices for classification. With one output, classes 0 and 1 are told
    apart by its sign; with C outputs there is one for each class. Under ``poisson`` the output is the logarithm of
    the expected label.

    Parameters
    ----------
    name : str
        One of `REGRESSION_LOSSES`, `CLASSIFICATION_LOSSES` or `CROSSED_LOSSES`.
    quantile : float, default=0.5
        The quantile that ``quantile`` aims at.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.functions import Loss
    >>> Loss("squared_error").scaling(np.array([1.0, 5.0]), np.ones(2))
    (3.0, 2.0)
    """

    name: str
    quantile: float = 0.5

    @property
    def least_scatter(self) -> float:
        """What labels scatter by at least, as a mean loss.

        Numbers that are explained without a remainder scatter by nothing. But classes that a function tells apart say
        the less of its form the better it does: almost any function that is steep enough tells a few sets apart.
        """
        return 0.0 if self.name in REGRESSION_LOSSES else LEAST_SCATTER

    def scaling(self, targets: FloatArray, weights: FloatArray) -> tuple[float, float]:
        """Return centre and scale of the outputs, so that a model of outputs near [-1, 1] starts in the right place."""
        # Training works with ``(output - centre) / scale``; the output calibrator takes both up afterwards.
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

    def scaled(self, targets: FloatArray, centre: float, scale: float) -> FloatArray:
        """Convert labels to the unit of scaled outputs."""
        if self.name not in REGRESSION_LOSSES:
            return targets
        if self.name == "poisson":
            return np.asarray(targets / np.exp(centre))
        return (targets - centre) / scale

    def in_units(self, value: float, centre: float, scale: float) -> float:
        """Convert the mean loss of scaled labels back to the labels' own unit."""
        if self.name == "poisson":
            return value * float(np.exp(centre))
        return value * (scale * scale if self.name == "squared_error" else scale)
