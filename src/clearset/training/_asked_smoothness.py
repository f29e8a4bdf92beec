"""How smooth a function the labels ask for, found by least squares before any training."""

from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtri, softmax

from clearset.engines import TrainingSets
from clearset.functions import REGRESSION_LOSSES, Loss
from clearset.sets import Binning
from clearset.training._looks import Looks, some_sets

FloatArray = npt.NDArray[np.float64]

# The strength of the penalty where bends and interactions explain `USUAL_RATIO` times as much as is left to chance. The
# more they explain the less it is, from a multiple down to a share. With more sets than so many the multiple is less:
# what is not looked at, as products of three features, shows among them in training, and noise does not.
USUAL_SMOOTHNESS, USUAL_RATIO = 100.0, 0.6
LEAST, MOST, MOST_UP_TO = 0.25, 30.0, 1000.0
# What is expected of that before the labels have said anything, and the standard deviation of its logarithm.
EXPECTED, UNCERTAINTY = 0.2, 1.0
RATIOS = np.geomspace(1e-3, 30.0, 40)
# Sets that are looked at, at most, and fewer where there are many pairs; pairs of more features are not.
MOST_SETS, MOST_SETS_OF_MANY, MANY = 3000, 1000, 300
MOST_FEATURES = 50
# Linear models of classes: what is added to the squares of each slope, steps, and how far a label may be from them.
RIDGE, STEPS, FURTHEST = 1.0, 100, 3.0
# Losses that hardly care how far away a few labels are, which would hide what all others say of bends: these labels are
# drawn to within so many standard deviations of a linear model, and the model is found again, so many times in all.
ROBUST, WITHIN, TIMES = ("absolute_error", "quantile"), 2.0, 5
OF_NORMAL = 1.4826  # the standard deviation of normal noise in units of its median distance
DENSITY = 0.398942  # of normal noise of variance 1 at its mean


class Asked(NamedTuple):
    """What the labels ask for."""

    strength: float  # of the penalty on bends and interactions
    scatter: float  # what chance leaves of the labels, as a mean loss; 0 where that is not known


def asked_smoothness(
    binning: Binning, sample: TrainingSets, loss: Loss, outputs: int, n_sets: float, repetitions: float = 1.0
) -> Asked:
    """Return how strong the penalty on bends and interactions should be, and what the labels scatter by.

    A set is described by its tokens' means: of each feature's place on a line that is smooth, and then of what bends at
    some of its keypoints or follows its ranks, and of products of pairs. What the first explain by a linear model is
    taken away. Of what is left the others explain a part as random effects of one variance do. The ratio of that
    variance to the variance of what stays unexplained is the one of greatest likelihood, times what was expected of it.
    The penalty is a prior for the same effects: it counts less the more they explain. The variance that stays
    unexplained is what numbers scatter by: a function that comes nearer to those it was trained on follows chance.

    Parameters
    ----------
    binning : Binning
        Keypoints of the features.
    sample : TrainingSets
        Labelled sets.
    loss : Loss
        What will be minimised; of classes the linear model is that of logistic regression.
    outputs : int
        Set functions side by side: 1, or one for each class.
    n_sets : float
        How many sets will be trained on.
    repetitions : float, default=1.0
        How many sets a weight of 1 stands for.

    Returns
    -------
    Asked
        The strength, and the scatter.
    """
    many = comb(len(binning.features), 2) > MANY
    some = sample.take(some_sets(len(sample), MOST_SETS_OF_MANY if many else MOST_SETS))
    looks, repeated = Looks.at(binning, some), some.weights * repetitions
    lines = _standard(looks.means(looks.lines), repeated)
    straight = np.vstack([np.ones(len(some)), lines]).T
    bends, products = looks.bends(), np.empty((0, len(some)))
    most = max(MOST * min(1.0, MOST_UP_TO / n_sets), 1.0)
    if len(looks.places) <= MOST_FEATURES:
        products = np.array(list(looks.products(looks.places, looks.distances))).reshape(-1, len(some))
    else:
        most = 1.0  # whatever they tell is not seen
    logarithms, scatter, known = [], 0.0, loss.name not in REGRESSION_LOSSES
    if known:
        labels = _of_classes(straight, some.targets, repeated, outputs)
    else:
        labels = [(_drawn(straight, some.targets, repeated) if loss.name in ROBUST else some.targets, repeated)]
    for residuals, weights in labels:
        roots = np.sqrt(weights)[:, None]
        basis = np.linalg.qr(straight * roots)[0]
        bent = [_effects(group.T * roots, basis, float(weights.sum())) for group in (bends, products)]
        bent = [group / np.sqrt(group.shape[1]) for group in bent if group.shape[1]]
        rest = residuals * roots[:, 0]
        rest -= basis @ (basis.T @ rest)
        freedom = repeated.sum() - basis.shape[1]
        if bent and freedom > 2:
            effects = np.concatenate(bent, axis=1) / np.sqrt(len(bent))
            ratio, variance = _ratio(effects, rest, freedom, known=known)
            logarithms.append(np.log(ratio))
            # Training makes much of the last bits.
            scatter = float(f"{_mean_loss(loss, variance):.4g}")
    ratio = np.exp(np.mean(logarithms)) if logarithms else EXPECTED
    return Asked(float(USUAL_SMOOTHNESS * np.clip(USUAL_RATIO / ratio, LEAST, most)), scatter)


def _mean_loss(loss: Loss, variance: float) -> float:
    """Return the mean loss of normal noise around what is predicted; 0 where labels are not numbers of any size."""
    of_unit = {
        "squared_error": 1.0,
        "absolute_error": 2.0 * DENSITY,
        "quantile": DENSITY * np.exp(-(ndtri(loss.quantile) ** 2) / 2.0),
    }
    return float(of_unit.get(loss.name, 0.0) * (variance if loss.name == "squared_error" else np.sqrt(variance)))


def _standard(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return rows of mean 0 and variance 1; constant ones are 0."""
    centred = values - np.average(values, axis=1, weights=weights)[:, None]
    spread = np.sqrt(np.average(centred**2, axis=1, weights=weights))[:, None]
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9))


def _drawn(straight: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """Return labels of which those far from a linear model are drawn nearer to it."""
    roots, drawn = np.sqrt(weights), labels
    for _ in range(TIMES):
        line = straight @ np.linalg.lstsq(straight * roots[:, None], drawn * roots)[0]
        line += _median(labels - line, weights)
        spread = OF_NORMAL * _median(np.abs(labels - line), weights)
        if not spread:
            return labels
        drawn = line + np.clip(labels - line, -WITHIN * spread, WITHIN * spread)
    return drawn


def _median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(reached, reached[-1] / 2)]])


def _of_classes(
    straight: FloatArray, classes: FloatArray, weights: FloatArray, outputs: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Return for each output what a linear model leaves of its class, and weights with which its variance is near 1."""
    is_class = classes[:, None] == np.arange(outputs) if outputs > 1 else np.stack([classes <= 0, classes > 0], axis=1)
    shape = (straight.shape[1], is_class.shape[1])
    pulled = np.full(shape, RIDGE)
    pulled[0] = 1e-6

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        slopes = flat.reshape(shape)
        lines = straight @ slopes
        rest = softmax(lines, axis=1) - is_class
        loss = weights @ (logsumexp(lines, axis=1) - (lines * is_class).sum(axis=1))
        return loss + (pulled * slopes**2).sum() / 2, (straight.T @ (weights[:, None] * rest) + pulled * slopes).ravel()

    found = minimize(objective, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    shares = softmax(straight @ found.x.reshape(shape), axis=1)
    of_outputs = []
    for share, labels in list(zip(shares.T, is_class.T, strict=True))[-outputs:]:
        information = np.maximum(share * (1.0 - share), 1e-6)
        roots = np.sqrt(information)
        # An unlikely label says much by itself, and nothing of bends.
        residuals = np.clip((labels - share) / roots, -FURTHEST, FURTHEST) / roots
        of_outputs.append((residuals, information * weights))
    return of_outputs


def _effects(columns: FloatArray, basis: FloatArray, total: float) -> FloatArray:
    """Return columns without what the basis explains, of weighted variance 1; those that are explained fall out."""
    left = columns - basis @ (basis.T @ columns)
    before, after = np.linalg.norm(columns, axis=0), np.linalg.norm(left, axis=0)
    told = after > 1e-3 * before
    return np.asarray(left[:, told] / after[told] * np.sqrt(total))


def _ratio(effects: FloatArray, rest: FloatArray, freedom: float, *, known: bool) -> tuple[float, float]:
    """Return the likeliest ratio of variances, of effects and noise, and that of the noise, which may be known: 1."""
    # Of the squares of singular values, by the smaller of the two products: many times as fast as those themselves.
    of_columns = effects.shape[1] <= len(effects)
    squared, vectors = np.linalg.eigh(effects.T @ effects if of_columns else effects @ effects.T)
    told = squared > 1e-10 * max(squared[-1], np.finfo(float).tiny)
    squared, vectors = squared[told], vectors[:, told]
    explained = (vectors.T @ (effects.T @ rest)) ** 2 / squared if of_columns else (vectors.T @ rest) ** 2
    unexplained = max(float(rest @ rest - explained.sum()), 0.0)
    variances = 1.0 + RATIOS[:, None] * squared
    squares = unexplained + (explained / variances).sum(axis=1)
    fit = squares if known else freedom * np.log(np.maximum(squares / freedom, np.finfo(float).tiny))
    prior = (np.log(RATIOS / EXPECTED) / UNCERTAINTY) ** 2
    likeliest = np.argmin(np.log(variances).sum(axis=1) + fit + prior)
    return float(RATIOS[likeliest]), 1.0 if known else float(squares[likeliest] / freedom)
