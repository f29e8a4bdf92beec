"""What is declared of features, tried out on predictions and scores alone."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from tests.properties.declarations import Case
from tests.properties.sets_drawn import CATEGORIES, Sets

import clearset as cs

EXTREMES = [-1.7e308, -1.0, 0.0, 5e-324, 1.0, 1.7e308]


def rounding(function: Any, values: np.ndarray) -> np.ndarray:
    """Return how far rounding may move numbers: an output is interpolated between parameters, which may cancel out."""
    return 1e-12 * np.maximum(np.abs(values), np.abs(function.rho.output).max())


def outputs(model: Any, X: Any) -> np.ndarray:
    """Return the number that declarations speak of, for each set."""
    return np.asarray(getattr(model, "decision_function", model.predict)(X))


def assert_promises_kept(model: Any, case: Case, sets: Sets) -> None:
    """Compare sets that differ in one feature."""
    for feature in case.features:
        if feature.monotonic is not None:
            before, after = raised(case, sets, feature)
            if len(before):
                lower, higher = (outputs(model, changed.frame(case.library)) for changed in (before, after))
                assert_follows(model.set_function_, feature, lower, higher)
        if feature.shape is not None and (feature.lattice_size or case.options["lattice_size"]) == 2:
            assert_bends(model, case, feature)
    for trust in case.trusts:
        assert_trusted(model, case, trust)


def raised(case: Case, sets: Sets, feature: cs.Feature) -> tuple[Sets, Sets]:
    """Return sets, and the same with a larger value of one token of each set, or of the whole set."""
    if feature.name == cs.SIZE:
        # The same tokens twice over leave every mean alone, so only the size has grown.
        some = sets.take(np.flatnonzero(sets.sizes > 0))
        return some, some.doubled()
    column = next(column for column in case.columns if column.name == feature.name)
    places = np.arange(len(sets))
    if not column.of_sets:
        sets = sets.take(np.flatnonzero(sets.sizes > 0))
        places = sets.offsets[:-1] + case.rng.integers(sets.sizes)
    if column.categorical:
        pairs = [[CATEGORIES.index(name) for name in pair] for pair in feature.pairs if "nowhere" not in pair]
        low, high = np.array(pairs)[case.rng.integers(len(pairs), size=len(places))].T
    else:
        drawn = np.stack([column.values(case.rng, len(places), later=True) for _ in range(2)])
        low, high = np.sort(np.nan_to_num(drawn, nan=1.0), axis=0)
    before, after = (sets.with_values(feature.name, places, values) for values in (low, high))
    return before, after


def assert_follows(function: Any, feature: cs.Feature, lower: np.ndarray, higher: np.ndarray) -> None:
    """See that what is predicted of larger values goes the declared way."""
    sign = -1.0 if feature.monotonic == "decreasing" else 1.0
    assert (sign * (higher - lower) >= -rounding(function, lower)).all(), feature


def scores(model: Any, case: Case, rows: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Return the scores (n, width) of tokens; each stands in a set of copies of itself, as many as its size says."""
    sizes = [int(row.get(cs.SIZE, 1)) for row in rows]
    table = {}
    for column in case.columns:
        values = [row[column.name] for row in rows]
        kind = pa.string() if column.categorical else pa.float64()
        if column.of_sets:
            table[column.name] = pa.array(values, kind)
        else:
            lists = [[value] * size for value, size in zip(values, sizes, strict=True)]
            table[column.name] = pa.array(lists, pa.list_(kind))
    found = model.phi(pa.table(table))
    return found.scores[found.offsets[:-1]]


def drawn_tokens(case: Case, n: int) -> list[dict[str, Any]]:
    """Draw tokens, each as a row of values."""
    values: dict[str, list[Any]] = {cs.SIZE: case.rng.integers(1, 7, n).tolist()}
    for column in case.columns:
        drawn = column.values(case.rng, n)
        known = [None if np.isnan(value) else value for value in drawn.tolist()]
        if column.categorical:
            known = [None if value is None else CATEGORIES[int(value)] for value in known]
        values[column.name] = known
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def drawn_values(case: Case, name: str, n: int) -> np.ndarray:
    """Draw values of a numeric feature, extreme ones among them; of a set's size, sizes."""
    if name == cs.SIZE:
        return case.rng.integers(1, 9, n).astype(float)
    column = next(column for column in case.columns if column.name == name)
    drawn = np.nan_to_num(column.values(case.rng, n, later=True), nan=1.0)
    return np.where(case.rng.uniform(size=n) < 0.2, case.rng.choice(EXTREMES, n), drawn)


def assert_bends(model: Any, case: Case, feature: cs.Feature) -> None:
    """Compare the score between two values with those at the two."""
    keypoints = model.binning_.keypoints[[f.name for f in model.features_].index(feature.name)]
    ends = keypoints[[0, -1]]  # beyond them values count as the ends, so that the curve bends there
    rows = drawn_tokens(case, 20)
    if feature.name == cs.SIZE:
        ends = np.array([max(np.ceil(ends[0]), 1), max(np.floor(ends[1]), 1)])
    x = np.sort(np.clip(np.stack([drawn_values(case, feature.name, 20) for _ in range(3)]), *ends), axis=0)
    low, middle, high = (
        scores(model, case, [{**row, feature.name: value} for row, value in zip(rows, values.tolist(), strict=True)])
        for values in x
    )
    spread = x[2] / 4 - x[0] / 4
    share = np.divide(x[1] / 4 - x[0] / 4, spread, out=np.zeros(20), where=spread > 0)[:, None]
    excess = middle.reshape(20, -1) - ((1 - share) * low.reshape(20, -1) + share * high.reshape(20, -1))
    sign = -1.0 if feature.shape == "convex" else 1.0
    assert (sign * excess[spread > 0] >= -1e-9).all(), feature


def assert_trusted(model: Any, case: Case, trust: cs.Trust) -> None:
    """Compare the scores of tokens with two values of the one feature and two of the other."""
    features = {feature.name: feature for feature in case.features}
    sign = -1.0 if features[trust.feature].monotonic == "decreasing" else 1.0
    rows, name = drawn_tokens(case, 20), trust.feature
    less, more = np.sort(np.stack([drawn_values(case, trust.by, 20) for _ in range(2)]), axis=0)
    low, high = np.sort(np.stack([drawn_values(case, name, 20) for _ in range(2)]), axis=0)
    if trust.shape == "trapezoid":
        keypoints = model.binning_.keypoints[[f.name for f in model.features_].index(name)]
        low, high = np.full(20, keypoints[0]), np.full(20, keypoints[-1])
        if name == cs.SIZE:
            low, high = np.ones(20), np.full(20, max(np.ceil(keypoints[-1]), 1.0))
            if keypoints[0] < 1:
                return  # no set with tokens is as small as the range's end
    found = {
        (a, b): sign
        * scores(
            model,
            case,
            [{**row, name: x, trust.by: z} for row, x, z in zip(rows, first.tolist(), second.tolist(), strict=True)],
        )
        for (a, first), (b, second) in product((("low", low), ("high", high)), (("less", less), ("more", more)))
    }
    if trust.shape == "trapezoid":
        gain = np.minimum(found["high", "more"] - found["high", "less"], found["low", "less"] - found["low", "more"])
    else:
        gain = (found["high", "more"] - found["low", "more"]) - (found["high", "less"] - found["low", "less"])
    assert (gain >= -1e-9).all(), trust
