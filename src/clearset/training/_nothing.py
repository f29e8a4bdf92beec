"""What is expected of an example of which nothing is known."""

import numpy as np
import numpy.typing as npt

from clearset.functions import REGRESSION_LOSSES, Loss

FloatArray = npt.NDArray[np.float64]

# So many examples without tokens count as much as what is usual.
STRENGTH = 50.0
# How far from the usual what is said of them may be: in standard deviations of a number, and as the share of a class.
FURTHEST, FURTHEST_SHARE = 0.19, 0.049
# From this share of all examples on, those that are empty say for themselves.
COMMON = 0.25


def expected_of_nothing(
    loss: Loss,
    labels: FloatArray,
    weights: FloatArray,
    empty: npt.NDArray[np.bool_],
    n_classes: int,
    n_itemless: int = 0,
) -> FloatArray:
    """Return the expected label of an example without a known token.

    It is what such training examples were labelled, shrunk to what is usual: where a few or none of them were seen, a
    set function has learned nothing about them, and would say anything. What was unknown in training and what will be
    unknown later are not the same, so that it is never further from the usual than a probability of 0.049, or 0.19
    standard deviations, unless a quarter of the training examples had nothing that could be known.

    Parameters
    ----------
    loss : Loss
        Which constant is the best guess: the mean, the median or another quantile.
    labels : ndarray of shape (n,)
        Numbers, or numbers of classes.
    weights : ndarray of shape (n,)
        Their weights, all positive.
    empty : ndarray of bool, shape (n,)
        Which examples have no token.
    n_classes : int
        1 for a number or two classes, else the number of classes.
    n_itemless : int, default=0
        The number of examples that have not even unknown items.

    Returns
    -------
    ndarray of shape (n_classes,)
        The expected label; the shares of several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.functions import Loss
    >>> from clearset.training import expected_of_nothing
    >>> labels, empty = np.repeat([0.0, 1.0], 50), np.arange(100) >= 90
    >>> expected_of_nothing(Loss("log_loss"), labels, np.ones(100), empty, 1).round(3)
    array([0.549])
    """
    usual = _best_guess(loss, labels, weights, n_classes)
    if not empty.any():
        return usual
    seen = _best_guess(loss, labels[empty], weights[empty], n_classes)
    n_seen = np.count_nonzero(empty)
    shift = n_seen / (n_seen + STRENGTH) * (seen - usual)
    if n_itemless >= COMMON * len(labels):
        return np.asarray(usual + shift)
    most = FURTHEST * float(labels.std()) if loss.name in REGRESSION_LOSSES else FURTHEST_SHARE
    return np.asarray(usual + shift * min(1.0, most / max(float(np.abs(shift).max()), 1e-300)))


def _best_guess(loss: Loss, labels: FloatArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the constant of the least loss."""
    if n_classes > 1:
        shares = np.bincount(labels.astype(np.intp), weights, minlength=n_classes)
        return np.asarray(shares / shares.sum())
    if loss.name not in ("absolute_error", "quantile"):
        return np.array([np.average(labels, weights=weights)])
    order = np.argsort(labels, kind="stable")
    reached = np.cumsum(weights[order])
    quantile = loss.quantile if loss.name == "quantile" else 0.5
    return labels[order[[min(int(np.searchsorted(reached, quantile * reached[-1])), len(order) - 1)]]]
