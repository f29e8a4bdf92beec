"""From the outputs of a set function to estimates of the label."""

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

_OF_CLASSES = ("log_loss", "binary_log_loss")


def estimates(outputs: npt.NDArray[np.float64], loss: str) -> npt.NDArray[np.float64]:
    """Give the expected label: ``(n, 1)`` for a number or the second of two classes, ``(n, classes)`` for more.

    Parameters
    ----------
    outputs
        ``(n, C)``.
    loss
        What the set function was trained by.
    """
    if loss not in _OF_CLASSES:
        return np.exp(outputs) if loss == "poisson" else outputs
    if outputs.shape[1] == 1:
        return np.asarray(expit(outputs))
    if loss == "log_loss":
        return np.asarray(softmax(outputs, axis=1))
    shares = expit(outputs)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
