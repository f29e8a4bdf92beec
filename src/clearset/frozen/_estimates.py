"""From the outputs of a set function to estimates of the label."""

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, softmax

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


def say_prior(
    outputs: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
    prior: npt.NDArray[np.float64] | float,
    loss: str,
) -> npt.NDArray[np.float64]:
    """Let the prior speak for sets without tokens, of several classes: what is missing is missing for all alike.

    Parameters
    ----------
    outputs
        ``(n, C)``; changed in place, and returned.
    sizes
        ``(n,)``: the tokens of each set.
    prior
        The classes' shares.
    loss
        What the set function was trained by.
    """
    if outputs.shape[1] > 1:
        shares = np.clip(np.asarray(prior), 1e-12, 1 - 1e-12)
        outputs[sizes == 0] = np.log(shares) if loss == "log_loss" else logit(shares)
    return outputs
