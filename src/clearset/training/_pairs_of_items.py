"""What pairs of items would add to a model of single items, found without training it anew."""

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from clearset.training._examples import LabelledExamples
from clearset.training._one_thread import on_one_thread
from clearset.training._try_setting import Trial

FloatArray = npt.NDArray[np.float64]

# So many of the most frequent items are looked at, and pairs that so many examples have.
MOST_ITEMS, LEAST_COUNT = 40, 10
# How many standard deviations above chance the pairs have to be.
BEYOND_CHANCE = 3.0
# What is added to the information of each column: corrections are pulled to 0.
RIDGE = 2.0


@on_one_thread
def gain_of_pairs(trial: Trial, examples: LabelledExamples, loss: str, n_training: int, threads: int) -> float:
    """Return by what share of the loss pairs of items would lower it, were they trained on so many examples.

    The outputs of the trial are kept, and a step of Newton's method is made in the effects of the items and of their
    pairs. Half of its decrement is the likelihood that it gains. By chance it would be half the number of pairs, and
    as much is lost again on other examples, shared by all that are trained on.

    Parameters
    ----------
    trial : Trial
        A model of single items, with one output.
    examples : LabelledExamples
        Some examples in memory, of which most were not trained on.
    loss : {"log_loss", "squared_error"}
        What the trial minimises.
    n_training : int
        The number of examples that pairs would be trained on.
    threads : int
        Threads of whatever can use several.

    Returns
    -------
    float
        The share; 0 where it may be chance.
    """
    outputs = trial.outputs(examples.X, threads)[:, 0]
    if loss == "log_loss":
        shares = expit(outputs)
        residuals, information = examples.labels - shares, np.maximum(shares * (1.0 - shares), 1e-6)
        level = float(np.logaddexp(0.0, np.where(examples.labels > 0, -outputs, outputs)).mean())
    else:
        residuals = examples.labels - outputs
        variance = float(np.average(residuals**2, weights=examples.weights))
        residuals, information, level = residuals / variance, np.full(len(examples), 1.0 / variance), 0.5
    weights = examples.weights / examples.weights.mean()
    items, pairs = _indicators(trial, examples, threads)
    if not pairs.shape[1]:
        return 0.0
    columns = np.concatenate([items, pairs], axis=1)
    slopes = (columns.T @ (weights * residuals).astype(np.float32)).astype(np.float64)
    curvature = ((columns.T * (weights * information).astype(np.float32)) @ columns).astype(np.float64)
    curvature[np.diag_indices_from(curvature)] += RIDGE
    n_items, n_pairs = items.shape[1], pairs.shape[1]
    gained = _decrement(curvature, slopes) - _decrement(curvature[:n_items, :n_items], slopes[:n_items])
    beyond = gained - n_pairs / 2
    if beyond < BEYOND_CHANCE * np.sqrt(n_pairs / 2):
        return 0.0
    return float((beyond / len(examples) - n_pairs / 2 / n_training) / level)


def _decrement(curvature: FloatArray, slopes: FloatArray) -> float:
    return float(slopes @ np.linalg.solve(curvature, slopes)) / 2


def _indicators(
    trial: Trial, examples: LabelledExamples, threads: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return which examples have which of the most frequent items, after a column of ones, and which of their pairs."""
    found = trial.found(examples.X, threads)
    tokens = found.found.tokens
    frequent = np.argsort(-np.bincount(tokens, minlength=1), kind="stable")[:MOST_ITEMS]
    places = np.full(int(tokens.max(initial=0)) + 1, -1)
    places[frequent] = np.arange(len(frequent))
    rows, columns = np.repeat(np.arange(len(examples)), found.counts), places[tokens]
    items = np.zeros((len(examples), 1 + len(frequent)), np.float32)
    items[:, 0] = 1.0
    items[rows[columns >= 0], 1 + columns[columns >= 0]] = 1.0
    one, other = np.triu_indices(len(frequent), 1)
    together = items[:, 1:].T @ items[:, 1:]
    often = together[one, other] >= LEAST_COUNT
    return items, items[:, 1 + one[often]] * items[:, 1 + other[often]]
