"""Predictions and contributions in ONNX: the formulas of `clearset.runtime`, explained in its `_contributions`."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from clearset.export._onnx_function import RhoGraph
from clearset.export._onnx_graph import Value
from clearset.export._onnx_ragged import SetsOfOne, TokenSets
from clearset.functions import Link, Support

# The same bounds as in `clearset.runtime`.
_TOUCHING, _NEAR, _ROUNDING = 1e-11, 1e-9, 1e-15
# Stands for the logarithm of nothing, so that differences stay numbers.
_NOTHING = -1e300


class Scored(NamedTuple):
    """B sets of T tokens with C outputs of width K."""

    sets: TokenSets | SetsOfOne
    counts: Value  # (B,): tokens that are known
    scores: Value  # (C, K, T)
    changes: Sequence[Value]  # (C, K, T): what each feature told apart adds to the scores
    rho: RhoGraph
    link: Link
    support: Support

    @property
    def present(self) -> Value:
        """``(T,)``: whether a token is there."""
        return self.sets.spread(self.counts) > 0

    @property
    def means(self) -> Value:
        """``(C, K, B)``: the means, those of small sets shrunk to the base."""
        means, support = self.sets.means(self.scores), self.support
        if support.tokens < 2:
            return means
        base = support.base[..., None]
        return (self.counts < support.tokens).where(self.shares * (means - base) + base, means)

    @property
    def shares(self) -> Value:
        """``(B,)``: how much mean scores count in sets of these sizes."""
        support = self.support
        if support.tokens < 2:
            return self.counts.graph.constant(1.0).expanded(self.counts.shape())
        alone = support.share_of_one
        further = (self.counts - 1).cast(np.float64) * ((1.0 - alone) / (support.tokens - 1))
        return (self.counts > 0).where((further + alone).apply("Min", 1.0), 0.0)

    def told(self, outputs: Value) -> Value:
        """Replace the outputs ``(C, B)`` of sets of which nothing is known."""
        if self.link.nothing is None:
            return outputs
        return (self.counts > 0).where(outputs, self.link.nothing[:, None])


class Explained(NamedTuple):
    """What is explained of one class of each set; see `Scored`."""

    base: Value  # (B,)
    scores: Value  # (K, T), or (1, T) of several classes
    tokens: Value  # (T,): what tokens add
    features: list[Value]  # (B,): what features told apart add
    rest: Value  # (B,): what is left where no token is known


class Chosen:
    """One of C outputs for each set.

    Parameters
    ----------
    n_outputs : int
        The number of outputs, C.
    columns : Value of shape (B,)
        Which output; all 0 of one.
    """

    def __init__(self, n_outputs: int, columns: Value) -> None:
        self._single = n_outputs == 1
        self.mask = columns.axes_added(0).equals(np.arange(n_outputs)[:, None])

    def of(self, values: Value) -> Value:
        """Return the chosen ones of ``(C, B)``, ``(B,)``."""
        return values.axes_dropped(0) if self._single else self.mask.where(values, 0.0).total(0)


def estimates(link: Link, outputs: Value) -> Value:
    """Return the expected label, or of several classes the probabilities, ``(C, B)``, of outputs."""
    if link.name == "exp":
        return outputs.apply("Exp")
    if link.name == "softmax":
        return (outputs - _log_of_sum(outputs)).apply("Exp")
    if link.name in ("sigmoid", "shares"):
        shares = _expit(outputs)
        return shares if link.name == "sigmoid" else shares / shares.total(0, keep=True)
    return outputs


def explained(scored: Scored, means: Value, prediction: Value, chosen: Chosen) -> Explained:
    """Return what each token and each feature of whole sets adds to the predictions ``(B,)`` of the outputs chosen."""
    sets, base_scores = scored.sets, scored.support.base
    corners = scored.rho.corners(base_scores, means)
    n = 2 ** base_scores.shape[1]
    starts, ends = (corners.gather(place, 1) for place in (0, n - 1))
    to_log_odds, to_prediction = _worth(scored, means, corners, starts, ends, chosen)
    weights = (scored.counts > 0).where(scored.shares, 1.0) / sets.sizes.cast(np.float64)
    own = scored.scores - base_scores[..., None]
    features = []
    for change in scored.changes:
        own = own - change
        added = sets.total(change) * weights
        features.append((added * to_log_odds).total(0, 1) * to_prediction)
    counted = own * sets.spread(to_log_odds)
    tokens = counted.total(0, 1) * sets.spread(to_prediction * weights)
    base = chosen.of(estimates(scored.link, starts))
    rest = prediction - base - sets.total(tokens)
    for part in features:
        rest = rest - part
    tokens = scored.present.where(tokens, tokens + sets.spread(rest))
    shown = own.axes_dropped(0) if len(base_scores) == 1 else counted.total(0, 1).axes_added(0)
    if scored.link.nothing is not None:
        shown = scored.present.where(shown, 0.0)
    return Explained(base, shown, tokens, features, rest)


def _worth(
    scored: Scored, means: Value, corners: Value, starts: Value, ends: Value, chosen: Chosen
) -> tuple[Value, Value]:
    """Return what one unit of each mean score is worth in log-odds ``(C, K, B)``, and these in predictions ``(B,)``."""
    slopes = _slopes(scored, means, corners, ends)
    name = scored.link.name
    if name in ("softmax", "shares"):
        if name == "shares":
            # A share is a sigmoid; its logarithm takes the place of the output.
            logarithms = _log_expit(starts), _log_expit(ends)
            slopes = slopes * _secants(starts, ends, *logarithms, _expit(-ends)).axes_added(1)
            starts, ends = logarithms
        others = [chosen.mask.where(_NOTHING, each) for each in (starts, ends)]
        factors = chosen.mask.where(1.0, -_parts_of_others(*others))
        start, end = (
            chosen.of(each) - _log_of_sum(other).axes_dropped(0)
            for each, other in zip((starts, ends), others, strict=True)
        )
        to_log_odds = slopes * factors.axes_added(1)
    else:
        start, end = chosen.of(starts), chosen.of(ends)
        single = len(scored.support.base) == 1
        to_log_odds = slopes if single else slopes * chosen.mask.cast(np.float64).axes_added(1)
    if name == "exp":
        curve = start.apply("Exp"), end.apply("Exp")
        to_prediction = _secants(start, end, *curve, curve[1])
    elif name in ("identity", "margin"):
        to_prediction = end.graph.constant(1.0).expanded(end.shape())
    else:
        to_prediction = _secants(start, end, _expit(start), _expit(end), _expit(end) * _expit(-end))
    if scored.link.nothing is not None:
        to_prediction = (scored.counts > 0).where(to_prediction, 0.0)
    return to_log_odds, to_prediction


def _slopes(scored: Scored, means: Value, corners: Value, ends: Value) -> Value:
    """Return what one unit of each mean is worth on the way of its output from the base, ``(C, K, B)``."""
    base = scored.support.base
    width = base.shape[1]
    shares = np.empty((width, 2**width))
    for number in range(2**width):
        inside = (number >> np.arange(width)) & 1 == 1
        size = int(inside.sum())
        # So often, among all orders, a mean that is in the group came last, or one that is not comes next.
        joined = 1.0 / (width * comb(width - 1, size - 1)) if size else 0.0
        missing = 1.0 / (width * comb(width - 1, size)) if size < width else 0.0
        shares[:, number] = np.where(inside, joined, -missing)
    parts = means.graph.constant(shares) @ corners
    nothing = parts.apply("Abs") <= (ends.apply("Abs") * _ROUNDING).axes_added(1)
    distances = means - base[..., None]
    touching = distances.apply("Abs") < _TOUCHING
    lines = nothing.where(0.0, parts) / touching.where(1.0, distances)
    return touching.where(scored.rho.tangents(means), lines)


def _log_expit(outputs: Value) -> Value:
    return outputs.apply("Min", 0.0) - ((-outputs.apply("Abs")).apply("Exp") + 1.0).apply("Log")


def _expit(outputs: Value) -> Value:
    return _log_expit(outputs).apply("Exp")


def _log_of_sum(logarithms: Value) -> Value:
    """Return the logarithm of the sum of exponentials over the first axis, which stays."""
    largest = logarithms.largest(0, keep=True)
    return (logarithms - largest).apply("Exp").total(0, keep=True).apply("Log") + largest


def _secants(starts: Value, ends: Value, from_: Value, to: Value, slopes: Value) -> Value:
    """Return the slopes of the lines between two points of a curve; of one point, the slope of the curve."""
    distances = ends - starts
    touching = distances.apply("Abs") < _NEAR
    return touching.where(slopes, (to - from_) / touching.where(1.0, distances))


def _parts_of_others(starts: Value, ends: Value) -> Value:
    """Return what one unit of each other class's logarithm adds to that of the sum of all others, ``(C, B)``."""
    largest = starts.apply("Max", ends).largest(0, keep=True)
    own = _logarithmic_means(starts - largest, ends - largest)
    return own / _logarithmic_means(*(_log_of_sum(each - largest) for each in (starts, ends)))


def _logarithmic_means(logarithms: Value, others: Value) -> Value:
    """Return the mean of ``exp`` along the line between two exponents."""
    high, low = logarithms.apply("Max", others), logarithms.apply("Min", others)
    distances = high - low
    close = distances < _NEAR
    # 1 - exp(-d) is tanh(d / 2) * (1 + exp(-d)), which loses nothing where d is small.
    rises = (distances * 0.5).apply("Tanh") * ((-distances).apply("Exp") + 1.0)
    return high.apply("Exp") * close.where(1.0, rises / close.where(1.0, distances))
