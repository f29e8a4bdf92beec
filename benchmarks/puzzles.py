"""Sales of puzzles from their reviews: the data of TensorFlow Lattice's tutorial on set functions."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_puzzles

SEEDS = range(5)
PAPER = (
    cs.Feature("star_rating", monotonic="increasing"),
    cs.Feature("word_count"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
)
FEATURES = {
    "star_rating, word_count, SIZE": PAPER,
    "all five columns, SIZE": (*PAPER, *map(cs.Feature, ("num_helpful", "is_amazon", "includes_photo"))),
}


def cross_validated(frame: pa.Table, sales: np.ndarray, features: tuple[cs.Feature, ...]) -> list[float]:
    """Five-fold error on the training products, once a seed."""
    errors = []
    for seed in SEEDS:
        folds = np.array_split(np.random.default_rng(100 + seed).permutation(len(sales)), 5)
        wrong = np.zeros(len(sales))
        for fold in folds:
            rest = np.setdiff1d(np.arange(len(sales)), fold)
            model = cs.SetRegressor(features, loss="absolute_error", random_state=seed)
            model.fit(frame.take(rest), sales[rest])
            wrong[fold] = np.abs(model.predict(frame.take(fold)) - sales[fold])
        errors.append(float(wrong.mean()))
    return errors


def main() -> None:
    """Fit five seeds with the defaults; cross-validation on the training products chooses the features."""
    puzzles = load_puzzles()
    (frame, sales), (test_frame, test_sales) = puzzles.training, puzzles.test
    rows: list[tuple[object, ...]] = []
    for name, features in FEATURES.items():
        validated = cross_validated(frame, sales, features)
        errors, seconds = [], []
        for seed in SEEDS:
            start = time.perf_counter()
            model = cs.SetRegressor(features, loss="absolute_error", random_state=seed).fit(frame, sales)
            seconds.append(time.perf_counter() - start)
            errors.append(float(np.abs(model.predict(test_frame) - test_sales).mean()))
        rows.append(
            (
                name,
                f"{np.mean(validated):.1f} ± {np.std(validated):.1f}",
                f"{np.median(errors):.1f}",
                f"{max(errors):.1f}",
                f"{np.median(seconds):.2f}",
            )
        )
    constant = float(np.abs(test_sales - np.median(sales)).mean())
    rows.append(
        (
            "a constant (training median)",
            f"{np.abs(sales - np.median(sales)).mean():.1f}",
            f"{constant:.1f}",
            "",
            "",
        )
    )
    write_table(
        "puzzles",
        "Puzzles",
        "Mean absolute error of sales, five seeds, `SetRegressor(features, loss='absolute_error')` with its defaults.",
        ("features", "5-fold on training products", "test, median", "test, worst", "seconds a fit"),
        rows,
    )


if __name__ == "__main__":
    main()
