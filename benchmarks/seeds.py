"""Whether training ever gets stuck: five seeds and three widths on the demo's data."""

from __future__ import annotations

import numpy as np

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import make_reviews

SEEDS = range(5)
FEATURES = (
    cs.Feature("star_rating", monotonic="increasing"),
    cs.Feature("word_count"),
    cs.Feature("num_helpful"),
    cs.Feature("photo"),
    cs.Feature("price"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
)


def main() -> None:
    """Compare test errors with a constant's and with the true function's."""
    reviews = make_reviews(3000, random_state=0)
    train, test = np.arange(2400), np.arange(2400, 3000)
    sales, truth = reviews.sales[test], reviews.truth[test]

    def error(predictions: np.ndarray | float) -> float:
        return float(np.sqrt(np.mean((sales - predictions) ** 2)))

    constant = error(float(reviews.sales[train].mean()))
    rows = []
    for width in (1, 2, 4):
        shares = []
        for seed in SEEDS:
            model = cs.SetRegressor(FEATURES, width, random_state=seed)
            model.fit(reviews.frame.take(train), reviews.sales[train])
            shares.append(error(model.predict(reviews.frame.take(test))) / constant)
        rows.append((width, *(f"{share:.3f}" for share in shares)))
    rows.append(("the true function", *[f"{error(truth) / constant:.3f}"] * len(SEEDS)))
    write_table(
        "seeds",
        "Seeds and widths",
        "Root mean squared error on 600 products of the demo's data, as a share of the error of a constant.",
        ("width", *(f"seed {seed}" for seed in SEEDS)),
        rows,
    )


if __name__ == "__main__":
    main()
