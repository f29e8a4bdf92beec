"""Confidence intervals of mean labels."""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from clearset.tokens._codes import Float64


def wilson(shares: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Float64, Float64]:
    """Return lower and upper ends of Wilson's interval of a probability, of which `shares` of `n` were observed."""
    # Unlike the interval of the normal distribution it is of use for few observations, and never leaves [0, 1].
    p, n = np.asarray(shares, np.float64), np.asarray(n, np.float64)
    z2 = _quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
        # The ends that are known exactly are given exactly.
        low = np.where(p <= 0, 0.0, np.maximum(middle - half, 0.0))
        high = np.where(p >= 1, 1.0, np.minimum(middle + half, 1.0))
    known = (n > 0) & ~np.isnan(p)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def student(
    mean: npt.ArrayLike, variance: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[Float64, Float64]:
    """Return lower and upper ends of Student's interval of a mean; infinite ones with fewer than 2 observations."""
    # The variance is that of the sample (by n - 1).
    mean, variance, n = (np.asarray(values, np.float64) for values in (mean, variance, n))
    enough = (n >= 2) & ~np.isnan(variance)
    freedom = np.where(enough, n - 1, 1.0)
    error = np.sqrt(variance / np.where(enough, n, 1.0))
    half = np.where(enough, stdtrit(freedom, (1 + level) / 2) * error, np.inf)
    return mean - half, mean + half


def least_n_of_wilson(width: float, level: float = 0.95) -> int:
    """Return the least number of observations with which Wilson's interval can be this narrow."""
    # It is narrowest where all agree: z² / (n + z²).
    z2 = _quantile(level) ** 2
    return max(1, math.ceil(z2 * (1 - width) / width - 1e-9))


def _quantile(level: float) -> float:
    return float(ndtri((1 + level) / 2))
