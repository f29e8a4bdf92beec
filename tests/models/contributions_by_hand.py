"""Contributions written out set by set, by all orders of the players: nothing shared with the package."""

import itertools
from math import prod

import numpy as np
from scipy.integrate import quad
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


def prediction_of(link, outputs, column):
    if link == "softmax":
        return softmax(outputs)[column]
    if link == "sigmoid":
        return expit(outputs[0])
    return np.exp(outputs[0]) if link == "exp" else outputs[column]


def shapley(function, output, base, means):
    """Return what each mean adds to an output, averaged over all orders."""
    parts = np.zeros(len(means))
    orders = list(itertools.permutations(range(len(means))))
    for order in orders:
        mixed = base.copy()
        for k in order:
            before = rho(function, output, mixed)
            mixed[k] = means[k]
            parts[k] += (rho(function, output, mixed) - before) / len(orders)
    return parts


def along_the_line(starts, ends, column):
    """Return what each class adds to the log-odds of one: the line from base to set is followed numerically."""
    others = [j for j in range(len(starts)) if j != column]

    def total(t):
        return sum(np.exp(starts[j] + t * (ends[j] - starts[j])) for j in others)

    gained = np.log(total(1)) - np.log(total(0))
    parts = np.zeros(len(starts))
    parts[column] = ends[column] - starts[column]
    for j in others:
        risen, _ = quad(lambda t, j=j: np.exp(starts[j] + t * (ends[j] - starts[j])), 0, 1, epsabs=1e-13)
        parts[j] = -risen * (ends[j] - starts[j]) * gained / (total(1) - total(0))
    return parts


def contributions(function, slots, fractions, per_set, n_tokens, link, column):
    """Return base rate, prediction, and the contributions and scores of tokens and of the set's features.

    Slots and fractions ``(D, T)`` are those of one set; all lattices are one, of two vertices along each feature.
    """
    support, width, n_outputs = function.support, function.width, function.outputs
    starts = np.cumsum([0, *per_set["slots"]])
    rows, tokens = range(n_outputs * width), range(slots.shape[1])

    def usual(row, d):
        places = slice(starts[d], starts[d + 1] - 1)
        return sum(support.counts[places] * function.calibration[row, places]) / sum(support.counts[places])

    def scores(fixed=None):
        found = np.zeros((len(tokens), len(rows)))
        for token, row in itertools.product(tokens, rows):
            table = function.calibration[row]
            inputs = [calibrated(table, slots[d, token], fractions[d, token]) for d in range(len(slots))]
            if fixed is not None:
                inputs[fixed] = usual(row, fixed)
            found[token, row] = phi(function, row, inputs)
        return found.reshape(-1, n_outputs, width)

    now = scores()
    share = 1.0
    if 0 < n_tokens < support.tokens:
        share = support.share_of_one + (n_tokens - 1) / (support.tokens - 1) * (1 - support.share_of_one)
    means = support.base + share * (now.mean(axis=0) - support.base)
    ends, begins = (np.array([rho(function, c, each[c]) for c in range(n_outputs)]) for each in (means, support.base))
    base, prediction = (prediction_of(link, outputs, column) for outputs in (begins, ends))
    # In outputs: what each class adds to the log-odds, and of that what each of its means adds.
    of_classes = along_the_line(begins, ends, column) if link == "softmax" else ends - begins
    unit = (prediction - base) / of_classes.sum()
    worth = np.zeros((n_outputs, width))
    for c in range(n_outputs):
        parts = shapley(function, c, support.base[c], means[c])
        worth[c] = parts / (means[c] - support.base[c]) * of_classes[c] / (ends[c] - begins[c])
    own, of_set = now - support.base, {}
    for d in np.flatnonzero(per_set["flags"]):
        change = now - scores(fixed=d)
        own = own - change
        of_set[d] = unit * share * (change.mean(axis=0) * worth).sum()
    spoken = (own * worth).sum(axis=(1, 2))
    return {
        "base": base,
        "prediction": prediction,
        "tokens": unit * share * spoken / len(tokens),
        "scores": own[:, 0] if n_outputs == 1 else spoken[:, None],
        "of_set": of_set,
    }
