"""Contributions: how the way from the base rate to a prediction is divided among tokens and features of the set."""

from collections.abc import Callable, Mapping
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.models._arrays import FloatArray
from clearset.models._scored_sets import ScoredSets

OTHER_CLASSES = "other classes"
"""What the scores of the classes that are not explained are called among features of the set."""

# A mean score nearer to its base than this has the slope of the curve there, not that of a line from the base.
_TOUCHING = 1e-11
# The step by which such slopes are found.
_STEP = 1e-6
# Less than this share of the prediction is nothing: where rho is flat, rounding must not decide on a sign.
_ROUNDING = 1e-13

Predictions = Callable[[FloatArray], FloatArray]


class Contributions(NamedTuple):
    """What each token and each feature of B whole sets adds to the prediction, for the class explained.

    Scores are distances from the base. The contributions of a set's tokens and features add up to its prediction less
    the base rate.
    """

    scores: FloatArray  # (T, K): of tokens, their sets' features as they are on average
    tokens: FloatArray  # (T,)
    of_sets: Mapping[str, tuple[FloatArray, FloatArray]]  # by feature: what it adds to the scores (B, K), and (B,)


def feature_contributions(sets: ScoredSets) -> dict[str, FloatArray]:
    """Return what each feature adds to the predictions, ``(B,)``, of tokens and of whole sets alike.

    It is what the feature adds to the scores, compared with what they would be if it were as it is on average. Features
    act together, so that these need not add up.
    """
    slopes, _ = _worth_of_means(sets)
    own, rows = sets.columns[sets.set_of], np.arange(len(sets.set_of))
    scores, found = sets.as_they_are[rows, own], {}
    for place, feature in enumerate(sets.binning.features):
        change = scores - sets.usual_scores(place)[rows, own]
        change[~sets.present & (not sets.per_set[place])] = 0.0
        found[feature.name] = (sets.total(change) * sets.weights[:, None] * slopes).sum(axis=1)
    return found


def contributions(sets: ScoredSets) -> Contributions:
    """Return what each token and each feature of whole sets adds to the predictions.

    A feature of the whole set is part of every token's score. What it adds to these is their difference from what they
    would be if the feature were as it is on average; the rest is the tokens' own.
    """
    columns, rows = sets.columns[sets.set_of], np.arange(len(sets.set_of))
    scores = sets.as_they_are[rows, columns]
    own, added = scores - sets.support.base[columns], {}
    for place in np.flatnonzero(sets.per_set).tolist():
        change = scores - sets.usual_scores(place)[rows, columns]
        own = own - change
        added[sets.binning.features[place].name] = sets.total(change) * sets.weights[:, None]
    slopes, others = _worth_of_means(sets)
    of_tokens = (own * (slopes * sets.weights[:, None])[sets.set_of]).sum(axis=1)
    of_sets = {name: (change, (slopes * change).sum(axis=1)) for name, change in added.items()}
    if others is not None:
        of_sets[OTHER_CLASSES] = np.full((len(others), own.shape[1]), np.nan), others
    # What is said of a set without a known token is not made of scores.
    rest = sets.prediction - sets.base - sets.total(of_tokens) - sum(part for _, part in of_sets.values())
    if sets.link.nothing is not None:
        own = np.where(sets.present[:, None], own, 0.0)
    return Contributions(own, np.where(sets.present, of_tokens, of_tokens + rest[sets.set_of]), of_sets)


def _worth_of_means(sets: ScoredSets) -> tuple[FloatArray, FloatArray | None]:
    means, everything = sets.support.drawn(sets.means, sets.counts), np.arange(len(sets.counts))
    return divide_means(lambda mixed: sets.given(mixed, everything), sets.support.base, means, sets.columns)


def shapley_values(value: Callable[[npt.NDArray[np.bool_]], FloatArray], n_players: int) -> FloatArray:
    """Divide what all players reach together among them: by what each adds, averaged over all orders.

    Parameters
    ----------
    value : callable
        What some of the players reach, ``(B,)``; they are given as a mask ``(n_players,)``.
    n_players : int
        How many there are; `value` is called for each of the ``2 ** n_players`` groups.

    Returns
    -------
    ndarray of shape (n_players, B)
        One part for each player. They add up to the value of all less the value of none.
    """
    total: FloatArray = np.zeros((n_players, 1))
    for number in range(2**n_players):
        mask = (number >> np.arange(n_players)) & 1 == 1
        size = int(mask.sum())
        # So often, among all orders, a player that is in the group came last, or one that is not comes next.
        joined = 1.0 / (n_players * comb(n_players - 1, size - 1)) if size else 0.0
        missing = 1.0 / (n_players * comb(n_players - 1, size)) if size < n_players else 0.0
        total = total + np.where(mask, joined, -missing)[:, None] * value(mask)
    return total


def divide_means(
    predictions: Predictions, base: FloatArray, means: FloatArray, columns: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray | None]:
    """Divide the way from the base rate to the predictions of sets among their mean scores.

    The players are the K mean scores of the class that is explained and, of several classes, the scores of all others
    together. Within one of the K, tokens count by the distances of their scores from the base: a function of a mean
    cannot tell tokens apart otherwise.

    Parameters
    ----------
    predictions : callable
        From mean scores ``(B, C, K)`` to predictions ``(B,)`` of the class explained.
    base : ndarray of shape (C, K)
        The mean scores of the base rate.
    means : ndarray of shape (B, C, K)
        The mean scores of the sets.
    columns : ndarray of shape (B,)
        The class explained.

    Returns
    -------
    slopes : ndarray of shape (B, K)
        What one unit of a mean score is worth on the way; never negative, because rho rises.
    others : ndarray of shape (B,), or None
        What the scores of the other classes make of it; None where there is one output.
    """
    n_sets, n_classes, width = means.shape
    rows = np.arange(n_sets)
    starts = np.broadcast_to(base, means.shape)

    def value(mask: npt.NDArray[np.bool_]) -> FloatArray:
        mixed = (means if mask[width:].any() else starts).copy()
        mixed[rows, columns] = np.where(mask[:width], means[rows, columns], starts[rows, columns])
        return predictions(mixed)

    parts = shapley_values(value, width + (n_classes > 1))
    parts[np.abs(parts) <= _ROUNDING * np.abs(predictions(means))] = 0.0
    distances = means[rows, columns] - starts[rows, columns]
    touching = np.abs(distances) < _TOUCHING
    slopes = np.where(touching, 0.0, parts[:width].T / np.where(touching, 1.0, distances))
    for k in np.flatnonzero(touching.any(axis=0)):
        before, after = means.copy(), means.copy()
        before[rows, columns, k] -= _STEP
        after[rows, columns, k] += _STEP
        steps = (predictions(after) - predictions(before)) / (2 * _STEP)
        slopes[:, k] = np.where(touching[:, k], steps, slopes[:, k])
    return slopes, parts[width] if n_classes > 1 else None
