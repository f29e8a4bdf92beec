"""Contributions: how the way from the base rate to a prediction is divided among tokens and features of the set.

The prediction is a function of mean scores, which are sums over tokens, so that it is enough to say what one unit of
each mean is worth on the way from the base to the set; tokens then count by the distances of their scores from the
base. It is said in three steps, none of which leaves a rest:

1. An output of rho is divided among its K means by their Shapley values: what each adds, averaged over all orders.
2. Of several classes, the log-odds of the class explained are its own output less the logarithm of the sum of the
   others' exponentials. That is divided among the other classes by integrating along the straight line from the base,
   which has a closed form: logarithmic means.
3. A probability follows from log-odds, or a count from its logarithm, by one rising curve: the line between its two
   ends turns the one unit into the other.

Rho and the curve rise, so nothing that speaks for a prediction can come out as lowering it.
"""

from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from clearset.runtime._support import Support

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# A mean score nearer to its base than this has the slope of the curve there, not that of a line from the base.
_TOUCHING = 1e-11
# The step by which such slopes are found.
_STEP = 1e-6
# Less than this share of an output is nothing: where rho is flat, rounding must not decide on a sign.
_ROUNDING = 1e-15


class ScoredTokenSets(Protocol):
    """B sets of T tokens whose scores are known; a set without tokens has one that is not `present`."""

    names: list[str]  # of the features
    told_apart: Sequence[bool]  # the features whose own contributions are named
    support: Support
    link: Any  # has the `name` of the link, and `nothing`: the outputs without a known token, or None
    counts: IntArray  # (B,): tokens that are known
    columns: IntArray  # (B,): the output that is explained

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """``(T,)``: whether a token is there."""

    @property
    def set_of(self) -> IntArray:
        """``(T,)``: the set of each token."""

    @property
    def as_they_are(self) -> FloatArray:
        """``(T, C, K)``: the scores."""

    @property
    def means(self) -> FloatArray:
        """``(B, C, K)``: their means."""

    @property
    def weights(self) -> FloatArray:
        """``(B,)``: what the score of one token counts in the mean score of its set."""

    @property
    def prediction(self) -> FloatArray:
        """``(B,)``: the predictions."""

    @property
    def base(self) -> FloatArray:
        """``(B,)``: the base rate."""

    def total(self, values: FloatArray) -> FloatArray:
        """Add up what the tokens of each set have."""

    def outputs(self, means: FloatArray) -> FloatArray:
        """Apply rho to ``(N, C, K)`` mean scores: ``(N, C)``."""

    def usual_scores(self, place: int) -> FloatArray:
        """Score all tokens, ``(T, C, K)``, the feature at a place as it is on average."""


class Contributions(NamedTuple):
    """What each token and each feature of B whole sets adds to the prediction, for the class explained.

    Scores are distances from the base; of several classes, log-odds of the class explained against all others. The
    contributions of a set's tokens and features add up to its prediction less the base rate.
    """

    scores: FloatArray  # (T, K), or (T, 1) of several classes: of tokens, features of sets as they are on average
    tokens: FloatArray  # (T,)
    of_sets: Mapping[str, tuple[FloatArray, FloatArray]]  # by feature: what it adds to the scores (B, K), and (B,)


class Worth(NamedTuple):
    """What one unit of each mean score is worth on the way from the base to each set."""

    to_log_odds: FloatArray  # (B, C, K): in the unit of outputs, or of log-odds
    to_prediction: FloatArray  # (B,): what one of those is worth in the unit of predictions


def contributions(sets: ScoredTokenSets, worth: Worth) -> Contributions:
    """Return what each token and each feature of whole sets adds to the predictions.

    A feature of the whole set is part of every token's score. What it adds to these is their difference from what they
    would be if the feature were as it is on average; the rest is the tokens' own.
    """
    own, added = sets.as_they_are - sets.support.base, {}
    for place in np.flatnonzero(sets.told_apart).tolist():
        change = sets.as_they_are - sets.usual_scores(place)
        own = own - change
        added[sets.names[place]] = sets.total(change) * sets.weights[:, None, None]
    counted = own * worth.to_log_odds[sets.set_of]
    of_tokens = counted.sum(axis=(1, 2)) * (worth.to_prediction * sets.weights)[sets.set_of]
    of_sets = {}
    for name, change in added.items():
        # Of a set without a known token, features do not say anything.
        counts = np.where((worth.to_prediction != 0)[:, None, None], change, 0.0)
        spoken = counts * worth.to_log_odds
        of_sets[name] = _shown(counts, spoken), spoken.sum(axis=(1, 2)) * worth.to_prediction
    # What is said of a set without a known token is not made of scores.
    rest = sets.prediction - sets.base - sets.total(of_tokens) - sum(part for _, part in of_sets.values())
    scores = _shown(own, counted)
    if sets.link.nothing is not None:
        scores = np.where(sets.present[:, None], scores, 0.0)
    return Contributions(scores, np.where(sets.present, of_tokens, of_tokens + rest[sets.set_of]), of_sets)


def _shown(scores: FloatArray, counted: FloatArray) -> FloatArray:
    """Return scores ``(n, C, K)`` as they are shown: one output's as they are, of several classes what they count."""
    return scores[:, 0] if scores.shape[1] == 1 else counted.sum(axis=(1, 2))[:, None]


def worth_of_means(sets: ScoredTokenSets) -> Worth:
    """Return what one unit of each mean score is worth on the way from the base to each set."""
    means = sets.support.shrunk(sets.means, sets.counts)
    starts, ends = sets.outputs(sets.support.base[None]), sets.outputs(means)
    slopes = slopes_of_rho(sets.outputs, sets.support.base, means)
    name, rows = sets.link.name, np.arange(len(means))
    factors = np.zeros(ends.shape)
    if name in ("softmax", "shares"):
        if name == "shares":
            # A share is a sigmoid; its logarithm takes the place of the output.
            slopes = slopes * _secants(_log_expit, starts, ends, lambda output: _expit(-output))[..., None]
            starts, ends = _log_expit(starts), _log_expit(ends)
        factors = -_parts_of_others(starts, ends, sets.columns)
        start, end = (_against_others(each, sets.columns) for each in (np.repeat(starts, len(ends), axis=0), ends))
    else:
        start, end = np.repeat(starts, len(ends), axis=0)[rows, sets.columns], ends[rows, sets.columns]
    factors[rows, sets.columns] = 1.0
    if name == "exp":
        to_prediction = _secants(np.exp, start, end, np.exp)
    elif name in ("identity", "margin"):
        to_prediction = np.ones(len(means))
    else:
        to_prediction = _secants(_expit, start, end, lambda odds: _expit(odds) * _expit(-odds))
    told = sets.counts > 0 if sets.link.nothing is not None else np.ones(len(means), dtype=bool)
    return Worth(slopes * factors[..., None], np.where(told, to_prediction, 0.0))


def slopes_of_rho(outputs: Callable[[FloatArray], FloatArray], base: FloatArray, means: FloatArray) -> FloatArray:
    """Return what one unit of each mean score is worth on the way of its output from the base.

    Parameters
    ----------
    outputs : callable
        Rho: from mean scores ``(B, C, K)`` to outputs ``(B, C)``, each of the K scores of its own class.
    base : ndarray of shape (C, K)
        Where the way begins.
    means : ndarray of shape (B, C, K)
        Where it ends.

    Returns
    -------
    ndarray of shape (B, C, K)
        The Shapley value of each mean over its distance from the base; at the base the slope of rho.
    """
    width = means.shape[2]
    starts = np.broadcast_to(base, means.shape)
    parts = np.zeros(means.shape)
    for number in range(2**width):
        mask = (number >> np.arange(width)) & 1 == 1
        size = int(mask.sum())
        # So often, among all orders, a mean that is in the group came last, or one that is not comes next.
        joined = 1.0 / (width * comb(width - 1, size - 1)) if size else 0.0
        missing = 1.0 / (width * comb(width - 1, size)) if size < width else 0.0
        parts += np.where(mask, joined, -missing) * outputs(np.where(mask, means, starts))[..., None]
    parts[np.abs(parts) <= _ROUNDING * np.abs(outputs(means))[..., None]] = 0.0
    distances = means - starts
    touching = np.abs(distances) < _TOUCHING
    slopes = np.where(touching, 0.0, parts / np.where(touching, 1.0, distances))
    for k in np.flatnonzero(touching.any(axis=(0, 1))):
        step = np.where(np.arange(width) == k, _STEP, 0.0)
        tangents = (outputs(means + step) - outputs(means - step)) / (2 * _STEP)
        slopes[..., k] = np.where(touching[..., k], tangents, slopes[..., k])
    return slopes


def _expit(output: FloatArray) -> FloatArray:
    return np.asarray(np.exp(_log_expit(output)))


def _log_expit(output: FloatArray) -> FloatArray:
    return np.asarray(-np.logaddexp(0.0, -output))


def _secants(
    curve: Callable[[FloatArray], FloatArray],
    starts: FloatArray,
    ends: FloatArray,
    slope: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return the slopes of the lines between two points of a curve; of one point, the slope of the curve."""
    distances = ends - starts
    touching = np.abs(distances) < 1e-9
    lines = (curve(ends) - curve(starts)) / np.where(touching, 1.0, distances)
    return np.where(touching, slope(ends), lines)


def _against_others(logarithms: FloatArray, columns: IntArray) -> FloatArray:
    """Return the logarithm of one class's share over the sum of all others, ``(B,)``."""
    rows = np.arange(len(logarithms))
    own = logarithms[rows, columns]
    others = logarithms.copy()
    others[rows, columns] = -np.inf
    return np.asarray(own - np.logaddexp.reduce(others, axis=1))


def _parts_of_others(starts: FloatArray, ends: FloatArray, columns: IntArray) -> FloatArray:
    """Return what one unit of each other class's logarithm adds to that of the sum of all others, ``(B, C)``.

    Along the straight line from the start, the exponential of a logarithm is on average the logarithmic mean of its two
    ends. That of each class, over that of the sum, is the part; together they lead exactly from sum to sum.
    """
    rows = np.arange(len(ends))
    starts, ends = np.broadcast_to(starts, ends.shape).copy(), ends.copy()
    starts[rows, columns] = ends[rows, columns] = -np.inf
    largest = np.maximum(starts, ends).max(axis=1, keepdims=True)
    own = _logarithmic_means(starts - largest, ends - largest)
    sums = [np.logaddexp.reduce(each - largest, axis=1, keepdims=True) for each in (starts, ends)]
    parts: FloatArray = own / _logarithmic_means(*sums)
    parts[rows, columns] = 0.0
    return parts


def _logarithmic_means(logarithms: FloatArray, others: FloatArray) -> FloatArray:
    """Return the mean of ``exp`` along the line between two exponents, none of them above 0."""
    high, low = np.maximum(logarithms, others), np.minimum(logarithms, others)
    with np.errstate(invalid="ignore"):
        distances = high - low
    distances = np.where(np.isfinite(distances), distances, 0.0)
    close = distances < 1e-9
    shares = np.where(close, 1.0, -np.expm1(-distances) / np.where(close, 1.0, distances))
    return np.asarray(np.exp(high) * shares)
