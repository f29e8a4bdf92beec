"""The promise of monotonicity, tried out through `predict`: 100,000 pairs of sets a model."""

from __future__ import annotations

import itertools

import numpy as np

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import make_reviews
from clearset.sets import SetData, read_sets

PAIRS = 100_000
FEATURES = (
    cs.Feature("star_rating", monotonic="increasing"),
    cs.Feature("word_count", monotonic="increasing"),
    cs.Feature("num_helpful"),
    cs.Feature("price", monotonic="decreasing"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
)


def largest_steps(
    model: cs.SetRegressor, data: SetData, name: str, sign: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Raise one feature of one token of random sets: the largest steps against and along the declared way."""
    sets = data[rng.integers(len(data), size=PAIRS)]
    values, set_values = sets.values.copy(), sets.set_values.copy()
    if name in sets.feature_names:
        column = values[:, sets.feature_names.index(name)]
        places = rng.integers(sets.offsets[:-1], sets.offsets[1:])
    else:
        column = set_values[:, sets.set_feature_names.index(name)]
        places = np.arange(PAIRS)
    known = data.column(name)[0]
    low, high = np.nanmin(known), np.nanmax(known)
    lower, higher = np.sort(rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), size=(2, PAIRS)), axis=0)

    def outputs(new: np.ndarray) -> np.ndarray:
        column[places] = new
        changed = SetData(
            values, sets.offsets, sets.feature_names, set_values=set_values, set_feature_names=sets.set_feature_names
        )
        return model.predict(changed)

    before = outputs(lower)
    gain = sign * (outputs(higher) - before)
    spread = float(np.ptp(before))
    return max(0.0, -float(gain.min())) / spread, float(gain.max()) / spread


def main() -> None:
    """Train 12 models and try each declared feature."""
    reviews = make_reviews(800, random_state=0)
    whole = read_sets(reviews.frame, FEATURES)
    rng = np.random.default_rng(0)
    rows = []
    for width, lattice_size, missing in itertools.product((1, 3, 8), (2, 3), (False, True)):
        values = np.nan_to_num(whole.values)
        if missing:
            values[rng.uniform(size=values.shape) < 0.15] = np.nan
        data = SetData(
            values,
            whole.offsets,
            whole.feature_names,
            set_values=whole.set_values,
            set_feature_names=whole.set_feature_names,
        )
        model = cs.SetRegressor(FEATURES, width, lattice_size=lattice_size, epochs=40, random_state=0)
        model.fit(data, reviews.sales)
        steps = [
            largest_steps(model, data, feature.name, feature.direction, rng)
            for feature in FEATURES
            if feature.direction and feature.name != cs.SIZE
        ]
        against, along = np.array(steps).max(axis=0)
        share = "15%" if missing else "none"
        rows.append((width, lattice_size, share, f"{against:.1e}", f"{along:.2f}", bool(model.verify(data))))
    write_table(
        "monotone",
        "Monotonicity, tried out",
        "The largest steps of the prediction against and along a declared direction, as shares of its range, over\n"
        f"{PAIRS:,} random (set, token, larger value) pairs for each of three declared features.",
        ("width", "lattice size", "missing values", "against", "along", "verify()"),
        rows,
    )


if __name__ == "__main__":
    main()
