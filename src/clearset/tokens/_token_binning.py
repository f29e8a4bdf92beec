"""Keypoints of the features of tokens."""

from collections.abc import Sequence

import numpy as np

from clearset.sets import Binning, Feature, choose_keypoints
from clearset.tokens._codes import Float64
from clearset.tokens._features import PER_SET
from clearset.tokens._stored_occurrences import AnyOccurrences
from clearset.tokens._token_rows import TokenRows

# Occurrences of tokens, drawn at random, by which keypoints are chosen.
SAMPLE = 200_000


def fit_token_binning(
    features: Sequence[Feature],
    occurrences: AnyOccurrences,
    rows: TokenRows,
    *,
    keypoints: int,
    unit: float,
    rng: np.random.Generator,
) -> Binning:
    """Choose keypoints by the tokens that occur in examples; `unit` is a meaningful difference of values.

    Returns
    -------
    Binning
        The keypoints: of the value at even distances, of other features at quantiles.
    """
    n_tokens = occurrences.n_tokens
    chosen = np.arange(n_tokens) if n_tokens <= SAMPLE else np.sort(rng.integers(n_tokens, size=SAMPLE))
    sets = np.searchsorted(occurrences.offsets, chosen, side="right") - 1
    value, *plain = features
    some = occurrences.at(chosen)
    places: list[Float64 | None] = [_even_keypoints(rows.values[some.rows], value, keypoints, unit)]
    for feature in plain:
        if feature.kind == "categorical":
            places.append(None)
            continue
        if feature.name in rows.own:
            sample = rows.own[feature.name][some.rows]
        elif feature.name in PER_SET:
            sample = occurrences.of_sets(feature.name)[sets]
        else:
            sample = some.of_tokens(feature.name)
        sample = sample[~np.isnan(sample)]
        places.append(choose_keypoints(sample, None, feature.keypoints or keypoints, feature.bounds))
    return Binning(tuple(features), tuple(places), tuple(rows.kinds if each is None else None for each in places))


def _even_keypoints(values: Float64, feature: Feature, keypoints: int, unit: float) -> Float64:
    """Return keypoints of the value at even distances: corrections move values to where quantiles would have none."""
    first, last = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    further = first + max(unit, 1e-9 * abs(first))
    ends = choose_keypoints(np.array([first, last if last > first else further]), None, 2, feature.bounds)
    points = np.linspace(ends[0], ends[-1], feature.keypoints or keypoints)
    if (np.diff(points) > 0).all():
        return points
    # Values that differ by rounding only are one.
    return np.linspace(first, further, feature.keypoints or keypoints)
