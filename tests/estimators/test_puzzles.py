"""The reviews of jigsaw puzzles: real data, where the defaults must do."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clearset as cs

ROOT = Path(__file__).parents[2]
PLACES = [
    Path(place) / "puzzles"
    for place in (os.environ.get("CLEARSET_DATA"), ROOT.parent / "shared/data")
    if place is not None
]
FOLDER = next((place for place in PLACES if (place / "train.csv").exists()), None)

pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"no puzzles in {', '.join(map(str, PLACES))}")


def read(name: str, label: str) -> tuple[pd.DataFrame, np.ndarray]:
    assert FOLDER is not None
    sets = cs.from_long(pd.read_csv(FOLDER / name), by="puzzle_name", set_columns=(label,))
    return sets, sets[label].to_numpy(dtype=np.float64)


def test_sales_are_predicted_by_default_settings() -> None:
    X, y = read("train.csv", "Sales12-18MonthsAgo")
    later, sales = read("test.csv", "SalesLastSixMonths")
    features = [
        cs.Feature("star_rating", monotonic="increasing"),
        cs.Feature("word_count"),
        cs.Feature(cs.SIZE, monotonic="increasing"),
    ]
    errors = []
    for seed in range(5):
        model = cs.SetRegressor(features, loss="absolute_error", random_state=seed, n_jobs=1).fit(X, y)
        assert model.certificate_
        errors.append(np.abs(model.predict(later) - sales).mean())
    assert np.median(errors) <= 48.0, errors
    assert max(errors) < 50.0, errors
