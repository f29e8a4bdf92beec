"""Contributions written out set by set, by all orders of the players: nothing shared with the package."""

import itertools
from math import prod

import numpy as np
from scipy.special import expit, softmax


def calibrated(table, slot, fraction):
    above = table[min(slot + 1, len(table) - 1)]
    return table[slot] + fraction * (above - table[slot])


def lattice(values, inputs):
    """Interpolate a lattice of two vertices along each input, corner by corner."""
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(inputs)):
        total += prod(x if high else 1 - x for x, high in zip(inputs, corner, strict=True)) * values[corner]
    return total


def phi(function, row, inputs):
    return lattice(function.vertices[row].reshape((2,) * len(inputs)), inputs)


def rho(function, output, means):
    keypoints, width = np.linspace(-1, 1, function.rho_output.shape[1]), len(means)
    rows = function.rho_calibrators[output * width : (output + 1) * width]
    inputs = [np.interp(mean, keypoints, row) for mean, row in zip(means, rows, strict=True)]
    fused = lattice(function.rho_vertices[output].reshape((2,) * width), inputs)
    return np.interp(fused, keypoints, function.rho_output[output])


def estimate(link, outputs, column):
    if link == "softmax":
        return softmax(outputs)[column]
    if link == "sigmoid":
        return expit(outputs[0])
    return np.exp(outputs[0]) if link == "exp" else outputs[column]


def contributions(function, slots, fractions, per_set, n_tokens, link, column):
    """Return base rate, prediction, contributions of tokens and of the set's features, and of other classes.

    Slots and fractions ``(D, T)`` are those of one set; all lattices are one, of two vertices along each feature.
    """
    support, width, n_outputs = function.support, function.width, function.outputs
    starts = {}
    place = 0
    for d in range(len(slots)):
        starts[d] = place
        place = starts[d] + per_set["slots"][d]
    rows = range(n_outputs * width)

    def usual(row, d):
        counts = support.counts[starts[d] : starts[d] + per_set["slots"][d] - 1]
        values = function.calibration[row, starts[d] : starts[d] + per_set["slots"][d] - 1]
        return sum(counts * values) / sum(counts)

    def score(row, token, fixed=None):
        inputs = [
            usual(row, d) if d == fixed else calibrated(function.calibration[row], slots[d, token], fractions[d, token])
            for d in range(len(slots))
        ]
        return phi(function, row, inputs)

    tokens = range(slots.shape[1])
    scores = np.array([[score(row, token) for row in rows] for token in tokens]).reshape(-1, n_outputs, width)
    share = min(1.0, n_tokens / support.tokens) if n_tokens else 1.0
    means = support.base + share * (scores.mean(axis=0) - support.base)

    def predict(mixed):
        return estimate(link, np.array([rho(function, c, mixed[c]) for c in range(n_outputs)]), column)

    players = [*range(width), *(["others"] if n_outputs > 1 else [])]
    parts = dict.fromkeys(players, 0.0)
    orders = list(itertools.permutations(players))
    for order in orders:
        mixed = support.base.copy()
        for player in order:
            before = predict(mixed)
            if player == "others":
                mixed[np.arange(n_outputs) != column] = means[np.arange(n_outputs) != column]
            else:
                mixed[column, player] = means[column, player]
            parts[player] += (predict(mixed) - before) / len(orders)
    slopes = np.array([parts[k] / (means[column, k] - support.base[column, k]) for k in range(width)])
    own = scores[:, column] - support.base[column]
    of_set = {}
    for d in np.flatnonzero(per_set["flags"]):
        change = np.array(
            [[scores[t, column, k] - score(column * width + k, t, d) for k in range(width)] for t in tokens]
        )
        own = own - change
        of_set[d] = share * (change.mean(axis=0) @ slopes)
    return {
        "base": predict(support.base),
        "prediction": predict(means),
        "tokens": share * (own @ slopes) / len(tokens),
        "scores": own,
        "of_set": of_set,
        "others": parts.get("others"),
    }
