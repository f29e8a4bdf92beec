"""Several kinds of tokens in one table, on recipes: ingredients, their words, and pairs, at width 1."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import Labelled, load_recipes

SPLITS = 3
SINGLE, PAIRS = [cs.MinCount(2)], [cs.MinCount(5) | (cs.MinCount(2) & cs.MaxSize(1))]
# Ingredients have corrections, and so have words; of pairs where it is said.
SETTINGS: dict[str, dict[str, Any]] = {
    "ingredients": {"tokens": cs.Items(), "filters": SINGLE, "refine": 1},
    "ingredients and pairs": {"tokens": cs.Subsets(2), "filters": PAIRS, "refine": 1},
    "ingredients and words": {"tokens": cs.Union(cs.Items(), cs.Words()), "filters": SINGLE, "refine": 1},
    "ingredients, pairs and words": {
        "tokens": cs.Union(cs.Subsets(2), cs.Words()), "filters": PAIRS, "refine": 1
    },
    "ingredients, pairs and words; pairs corrected": {
        "tokens": cs.Union(cs.Subsets(2), cs.Words()), "filters": PAIRS, "refine": 2
    },
}  # fmt: skip


def precisions(model: Any, data: Labelled) -> tuple[float, float]:
    """Return the shares of examples whose class is first, and among the first three."""
    top = model.predict_top(data.X, 3)
    right = top == data.y[:, None]
    return float(right[:, 0].mean()), float(right.any(axis=1).mean())


def main() -> None:
    """Fit on the training part of each split, with the validation part for the epoch, and measure the rest."""
    data = load_recipes()
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in SETTINGS}
    tokens: dict[str, int] = {}
    for seed in range(SPLITS):
        training, validation, test = data.split((0.7, 0.1, 0.2), random_state=seed)
        for name, options in SETTINGS.items():
            model = cs.SemanticClassifier(width=1, cover=False, random_state=seed, n_jobs=1, **options)
            begun = time.process_time()
            model.fit(training.X, training.y, validation_data=tuple(validation))
            seconds = time.process_time() - begun
            found[name].append((*precisions(model, validation), *precisions(model, test), seconds))
            tokens[name] = len(model.token_table_)
            print(seed, name, *(f"{value:.4f}" for value in found[name][-1]), file=sys.stderr, flush=True)
    rows = []
    for name, runs in found.items():
        means, spreads = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
        figures = [f"{mean:.4f} ± {spread:.4f}" for mean, spread in zip(means[:4], spreads[:4], strict=True)]
        rows.append((name, f"{tokens[name]:,}", *figures, f"{np.median([run[4] for run in runs]):.1f} s"))
    write_table(
        "unions",
        "Several kinds of tokens in one table",
        "Cuisines of 39,774 recipes, random splits 70/10/20, means and standard deviations over three. Width 1,\n"
        "all tokens, refined; the validation part chooses the epoch and how strongly corrections are pulled to 0, and\n"
        "nothing else was chosen. Seconds are those of the processor, on one thread.",
        ("tokens", "number", "validation prec@1", "prec@3", "test prec@1", "prec@3", "fit"),
        rows,
    )


if __name__ == "__main__":
    main()
