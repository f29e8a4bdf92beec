"""The features of a token that a set function reads: its value for each class, and features of its own."""

import numpy as np

from clearset.sets import Feature
from clearset.tokens._codes import Float64
from clearset.tokens._known_tokens import KnownTokens
from clearset.tokens._statistics import Statistics

VALUES = ("mean_label", "log_odds")
"""The estimate of the label; of several classes one number each. The set function rises with it."""
OWN = ("count", "size", "interval", "entropy", "lift", "kind")
"""Features of a token that do not depend on the example."""
KIND = Feature("kind", kind="categorical")
"""The kind of a token, of tables that have several."""
WHOLE = "whole"
"""1 where the token is the whole set, else 0."""
PER_SET = ("items", "tokens")
"""The same for all tokens of a set: its number of items, and of tokens."""
NAMES = (*VALUES, *OWN, WHOLE, *PER_SET)

# A share is kept this far from 0 and 1 where nothing else does: log-odds must be finite.
_SMALLEST_SHARE = 1e-6


def shrunk_means(table: KnownTokens, statistics: Statistics, shrinkage: float) -> Float64:
    """Return the mean label of every token, (T, C), mixed with the prior as if it were `shrinkage` examples."""
    # C is 1 for a number and for two classes (the share of the second), else the number of classes.
    prior = _prior(table)
    means, weights = statistics.means, statistics.weights[:, None]
    means = means[:, None] if means.ndim == 1 else means
    total = weights + shrinkage
    with np.errstate(invalid="ignore"):
        shrunk = (np.where(weights > 0, means * weights, 0.0) + shrinkage * prior) / total
    return np.where(total > 0, shrunk, prior)


def token_values(table: KnownTokens, statistics: Statistics, name: str, shrinkage: float) -> Float64:
    """Return the value of every token for each class, (T, C): one of `VALUES`.

    Log-odds are relative to the prior: they are 0 for a token that makes no difference.
    """
    return values_of_means(table, shrunk_means(table, statistics, shrinkage), name)


def means_of_values(table: KnownTokens, values: Float64, name: str) -> Float64:
    """Return the mean labels of values, (T, C); those of several classes are scaled to sum to 1."""
    if name == "mean_label":
        return values
    means = 1.0 / (1.0 + np.exp(-(values + _logit(_prior(table)))))
    return means / means.sum(axis=1, keepdims=True) if means.shape[1] > 1 else means


def values_of_means(table: KnownTokens, means: Float64, name: str) -> Float64:
    """Return the values that mean labels stand for, (T, C): the inverse of `means_of_values` but for its scaling."""
    return means if name == "mean_label" else _logit(means) - _logit(_prior(table))


def own_feature(table: KnownTokens, statistics: Statistics, name: str, shrinkage: float) -> Float64:
    """Return a feature of every token, (T,): one of `OWN`; NaN where it is not known."""
    # ``entropy`` is that of the classes' shares. ``lift`` is how far the mean label is from that of the token's items,
    # taken one by one and averaged: signed for a number or two classes, for more half the sum of the absolute
    # differences.
    if name == "count":
        return statistics.counts.astype(np.float64)
    if name == "size":
        return statistics.sizes.astype(np.float64)
    if name == "kind":  # the place of its kind among those that there are, which are the feature's categories
        return np.zeros(len(statistics)) if statistics.kinds is None else statistics.kinds.numbers.astype(np.float64)
    if name == "interval":
        widths = statistics.interval_widths()
        return np.where(np.isfinite(widths), widths, np.nan)
    means = shrunk_means(table, statistics, shrinkage)
    if name == "entropy":
        shares = means if means.shape[1] > 1 else np.hstack([means, 1.0 - means])
        shares = np.maximum(shares, _SMALLEST_SHARE)
        # Rounded: the same shares in another order give other last bits, and keypoints would stand between them.
        return np.asarray(np.round(-(shares * np.log(shares)).sum(axis=1), 12))
    return _lift(table, means)


def _lift(table: KnownTokens, means: Float64) -> Float64:
    items = table.items_of(np.arange(len(means)))
    single = table.single_tokens[items.codes]
    # Items that pass only without a fold are numbered after the tokens of the table, which does not know them.
    of_items = np.vstack([means, _prior(table)])[np.where(single < len(means), single, -1)]
    parts = np.add.reduceat(of_items, items.offsets[:-1], axis=0) / items.sizes[:, None] if len(means) else means
    if means.shape[1] == 1:
        return np.asarray((means - parts)[:, 0])
    return np.asarray(np.abs(means - parts).sum(axis=1) / 2)


def _prior(table: KnownTokens) -> Float64:
    prior = np.atleast_1d(np.asarray(table.prior, dtype=np.float64))
    return prior[1:] if table.classes is not None and len(prior) == 2 else prior


def _logit(shares: Float64) -> Float64:
    inside = np.clip(shares, _SMALLEST_SHARE, 1.0 - _SMALLEST_SHARE)
    return np.asarray(np.log(inside) - np.log1p(-inside))
