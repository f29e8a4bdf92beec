"""Set functions and sets with what lies on borders, and what they give when written out token by token."""

import itertools

import numpy as np

from clearset.functions import Layout, SetFunction
from clearset.sets import CrossedPositions, Positions

from .brute_force import brute_force, brute_force_rho

RHO_KEYPOINTS = 5


def plain_case(seed, layout, *, width=1, outputs=1, set_sizes=(1, 4, 1, 17, 2), most_slots=5):
    """Draw a set function, and sets with fractions 0 and 1, missing values, and values at 0 and 1 and beyond."""
    rng = np.random.default_rng(seed)
    n_slots = rng.integers(2, most_slots + 1, layout.n_features)  # the last of each feature is "missing"
    slots, fractions = _positions(rng, n_slots, int(np.sum(set_sizes)))
    function = _function(rng, layout, width, outputs, int(n_slots.sum()))
    return function, Positions(slots, fractions, _offsets(set_sizes))


def crossed_case(seed, n_features, *, classes=2, width=1, keypoints=4, set_sizes=(1, 4, 7, 2), corrected=0):
    """Draw a set function, and sets with values on keypoints and outside, and some missing."""
    rng = np.random.default_rng(seed)
    n_tokens, n_rows, layout = int(np.sum(set_sizes)), 40, Layout.full((2,) * n_features)
    n_slots = np.array([keypoints + 1, *rng.integers(2, 8, n_features - 1)])
    slots, fractions = _positions(rng, n_slots, n_tokens)
    function = _function(rng, layout, width, 1, int(n_slots.sum()))
    # Quarters are exact, so that sums of values and corrections can meet keypoints.
    points = np.cumsum(rng.choice([1, 2, 4], keypoints)) / 4
    if corrected:
        amounts = rng.integers(-3, 4, (corrected, classes)) / 4
        function = SetFunction(layout, *function.tables.values(), amounts)
    return function, CrossedPositions(
        slots[1:],
        fractions[1:],
        _offsets(set_sizes),
        np.where(rng.random(n_tokens) < 0.15, -1, rng.integers(0, n_rows, n_tokens)).astype(np.int32),
        rng.integers(-1, max(corrected, 1), n_tokens).astype(np.int32),
        rng.integers(-4, int(points[-1] * 4) + 8, (n_rows, classes)) / 4,
        points,
    )


def _offsets(set_sizes):
    return np.concatenate([[0], np.cumsum(set_sizes)]).astype(np.int64)


def _positions(rng, n_slots, n_tokens):
    shape = (len(n_slots), n_tokens)
    slots = rng.integers(0, n_slots[:, None], shape)
    fractions = np.where(rng.random(shape) < 0.5, rng.choice([0.0, 1.0, 0.25], shape), rng.random(shape))
    fractions[slots >= n_slots[:, None] - 2] = 0.0
    first = np.cumsum(n_slots) - n_slots
    return (slots + first[:, None]).astype(np.int32), fractions


def _function(rng, layout, width, outputs, n_slots):
    def table(low, high, *shape):
        """Numbers in between, a third of them on quarters and beyond the ends."""
        special = low + (high - low) * rng.integers(-1, 6, shape) / 4
        return np.where(rng.random(shape) < 0.3, special, rng.uniform(low, high, shape))

    rows = outputs * width
    return SetFunction(
        layout,
        table(0, 1, rows, n_slots),
        rng.uniform(-1, 1, (rows, layout.n_vertices)),
        table(0, 1, rows, RHO_KEYPOINTS),
        table(-1, 1, outputs, 2**width),
        table(-3, 3, outputs, RHO_KEYPOINTS),
    )


def written_out(crossed, corrections, c):
    """Write the tokens of one class out as a plain set function takes them."""
    keypoints, n_keypoints = crossed.keypoints, len(crossed.keypoints)
    slots, fractions = [], []
    for row, correction in zip(crossed.rows, crossed.corrected, strict=True):
        slot, fraction = n_keypoints, 0.0
        if row >= 0:
            value = crossed.values[row, c]
            if corrections is not None and correction >= 0:
                value += corrections[correction, c]
            value = min(max(value, keypoints[0]), keypoints[-1])
            slot = max(j for j in range(n_keypoints) if keypoints[j] <= value)
            if slot < n_keypoints - 1:
                fraction = (value - keypoints[slot]) / (keypoints[slot + 1] - keypoints[slot])
        slots.append(slot)
        fractions.append(fraction)
    return Positions(
        np.concatenate([np.array([slots], np.int32), crossed.slots]),
        np.concatenate([[fractions], crossed.fractions]),
        crossed.offsets,
    )


def expected_scores(function, sets):
    """Phi of every token, (T, C, K), corner by corner."""
    if isinstance(sets, CrossedPositions):
        classes = [written_out(sets, function.corrections, c) for c in range(sets.n_classes)]
        return np.concatenate([expected_scores(function, plain) for plain in classes], axis=1)
    alone = np.arange(sets.n_tokens + 1)
    tables = (function.calibration, function.vertices, function.layout.sizes, function.layout.subsets)
    upstream = np.zeros((sets.n_tokens, len(function.calibration)))
    scores, _, _ = brute_force(sets.slots, sets.fractions, alone, *tables, upstream)
    return scores.reshape(-1, function.outputs, function.width)


def expected_means(function, sets):
    """The mean over each set's tokens of phi, (B, C, K)."""
    scores, offsets = expected_scores(function, sets), sets.offsets
    means = [scores[start:stop].mean(axis=0) for start, stop in itertools.pairwise(offsets)]
    return np.stack(means)


def expected_rho(rho, means):
    """Outputs of means, (B, C)."""
    return brute_force_rho(
        means.reshape(-1, rho.outputs * rho.width), rho.calibrators, rho.vertices, rho.output
    ).reshape(means.shape[:2])
