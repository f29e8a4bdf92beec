"""`SemanticClassifier()` with no options against logistic regression and boosting on the items, on several data."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import clearset as cs
from benchmarks._data import additive, histories, wine_countries, wine_labels, wine_words
from benchmarks._results import write_table
from clearset.datasets import Labelled, load_celeba, load_intent, load_recipes


def italian(n: int = 1_500) -> Labelled:
    """Take some recipes; Italian or not."""
    data = load_recipes()
    some = data.take(np.random.default_rng(6).permutation(len(data.y))[:n])
    return Labelled(some.X, (some.y == "italian").astype(np.int64))


# Recipes, faces, wines' labels, few recipes and what is made here were looked at while the defaults were made.
DATA: dict[str, tuple[Callable[[], Labelled], bool]] = {
    "recipes, 20 cuisines": (load_recipes, False),
    "recipes, Italian or not, 1,500": (italian, False),
    "CelebA, present attributes": (load_celeba, False),
    "wines: country, variety, winery, ...; 90 points": (wine_labels, False),
    "additive sets, made": (additive, False),
    "histories, made": (histories, False),
    "queries (texts), government or not": (load_intent, True),
    "wines: words of reviews; 90 points": (wine_words, True),
    "wines: words of reviews; country": (wine_countries, True),
}


def multi_hot(X: pa.Array, vocabulary: dict[str, int] | None = None) -> tuple[sparse.csr_array, dict[str, int]]:
    """Write sets, or the words of texts, as rows of zeros and ones."""
    rows = X.to_pylist()
    sets = [set(re.findall(r"\w+", row.lower()) if isinstance(row, str) else row) for row in rows]
    if vocabulary is None:
        vocabulary = {item: place for place, item in enumerate(sorted(set().union(*sets)))}
    known = [[vocabulary[item] for item in items if item in vocabulary] for items in sets]
    offsets = np.cumsum([0, *map(len, known)])
    columns = np.fromiter((place for places in known for place in places), np.int64)
    matrix = sparse.csr_array((np.ones(len(columns)), columns, offsets), shape=(len(sets), len(vocabulary)))
    return matrix, vocabulary


def quality(
    y: npt.NDArray[np.generic], classes: npt.NDArray[np.generic], shares: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """Return accuracy, and AUC (of several classes each against the rest, averaged)."""
    accuracy = float((classes[shares.argmax(axis=1)] == y).mean())
    if len(classes) == 2:
        return accuracy, float(roc_auc_score(y, shares[:, 1]))
    return accuracy, float(roc_auc_score(y, shares, multi_class="ovr"))


def main() -> None:
    """Fit all on three quarters, and score the rest."""
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    rows: list[tuple[object, ...]] = []
    aucs = []
    for name, (load, untouched) in DATA.items():
        data = load()
        order = np.random.default_rng(0).permutation(len(data.y))
        cut = int(0.75 * len(order))
        training, test = data.take(order[:cut]), data.take(order[cut:])
        begun = time.perf_counter()
        matrix, vocabulary = multi_hot(training.X)
        regression = LogisticRegression(max_iter=500).fit(matrix, training.y)
        its_seconds = time.perf_counter() - begun
        unseen = multi_hot(test.X, vocabulary)[0]
        linear = quality(test.y, regression.classes_, regression.predict_proba(unseen))
        boosting = LGBMClassifier(n_jobs=2, verbose=-1).fit(matrix.astype(np.float32), training.y)
        shares: Any = boosting.predict_proba(unseen.astype(np.float32))
        boosted = quality(test.y, boosting.classes_, shares)
        begun = time.perf_counter()
        model = cs.SemanticClassifier(random_state=0).fit(training.X, training.y)
        seconds = time.perf_counter() - begun
        ours = quality(test.y, model.classes_, model.predict_proba(test.X))
        aucs.append((linear[1], boosted[1], ours[1]))
        rows.append(
            (
                name + (" *" if untouched else ""),
                len(data.y),
                f"{linear[0]:.4f} / {linear[1]:.4f}",
                f"{boosted[0]:.4f} / {boosted[1]:.4f}",
                f"{ours[0]:.4f} / {ours[1]:.4f}",
                f"{ours[0] - max(linear[0], boosted[0]):+.4f} / {ours[1] - max(linear[1], boosted[1]):+.4f}",
                f"{its_seconds:.1f} s",
                f"{seconds:.1f} s",
                f"{seconds / its_seconds:.1f}",
                model.setting_,
            )
        )
        print(*rows[-1], sep=" | ", file=sys.stderr)
    means = ", ".join(
        f"{name} {mean:.4f}"
        for name, mean in zip(("logistic regression", "LightGBM", "no options"), np.mean(aucs, axis=0), strict=True)
    )
    write_table(
        "defaults",
        "No options against logistic regression and boosting",
        "Three quarters train, a quarter tests; accuracy / AUC. scikit-learn's LogisticRegression and LightGBM, with\n"
        "their defaults, on the multi-hot items (of texts their words); the difference is that to the better of both.\n"
        "The time of logistic regression is with that of the multi-hot matrix. Data marked * were not looked at\n"
        f"while the defaults were made. Mean AUC: {means}.",
        (
            "data",
            "examples",
            "logistic regression",
            "LightGBM",
            "no options",
            "difference",
            "its fit",
            "our fit",
            "ratio",
            "chosen",
        ),
        rows,
    )


if __name__ == "__main__":
    main()
