"""What the places of tokens are worth: on lists that are made up, and on the words of real queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_intent

FloatArray = npt.NDArray[np.float64]

SEEDS = range(3)
N_SETS, N_QUERIES = 4000, 15_000
FORMS: dict[str, list[Any]] = {
    "no places": [],
    "`PLACE`": [cs.PLACE],
    "`PLACE_FROM_START`": [cs.PLACE_FROM_START],
    "both": [cs.PLACE, cs.PLACE_FROM_START],
}


def recent(a: FloatArray, b: FloatArray) -> float:
    """Return a sum in which each token counts 0.7 times as much as the next one."""
    return float(np.sum(np.sin(a) * (1 + b) * 0.7 ** np.arange(len(a))[::-1]))


def first(a: FloatArray, b: FloatArray) -> float:
    """Return what the first token says, and a little of the others."""
    return float(2 * a[0] * b[0] + a.mean())


def trend(a: FloatArray, _: FloatArray) -> float:
    """Return how much larger the last token is than the first."""
    return float(a[-1] - a[0])


def unordered(a: FloatArray, b: FloatArray) -> float:
    """Return a mean, which no order changes."""
    return float(np.mean(np.sin(a) * (1 + b)))


MADE: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "recent tokens count more": recent,
    "the first token counts": first,
    "the last less the first": trend,
    "a mean, without order": unordered,
}


def made(task: str, seed: int) -> tuple[pa.Table, FloatArray]:
    """Make lists of 1 to 12 tokens with two numbers each, and labels with noise of a fifth of their spread."""
    rng = np.random.default_rng([seed, len(task)])
    sizes = rng.integers(1, 13, 2 * N_SETS)
    a, b = ([rng.normal(size=size) for size in sizes], [rng.uniform(0, 1, size) for size in sizes])
    clean = np.array([MADE[task](*row) for row in zip(a, b, strict=True)])
    return pa.table({"a": a, "b": b}), clean + 0.2 * clean.std() * rng.normal(size=len(clean))


def summaries(X: pa.Table, names: list[str], *, ends: bool) -> FloatArray:
    """Return mean, least, largest and number of each set's tokens, and with `ends` what the first and the last have."""
    columns = []
    for name in names:
        rows = [np.array(row, np.float64) for row in X[name].to_pylist()]
        found = [np.mean, np.min, np.max, *((lambda row: row[0], lambda row: row[-1]) if ends else ())]
        columns += [[each(row) for row in rows] for each in found]
    columns.append([len(row) for row in X[names[0]].to_pylist()])
    return np.array(columns, np.float64).T


def of_made_lists() -> Iterator[tuple[object, ...]]:
    """Fit every form on every task, and boosting on summaries."""
    for task in MADE:
        scores: dict[str, list[float]] = {}
        for seed in SEEDS:
            X, y = made(task, seed)
            train, test = slice(0, N_SETS), slice(N_SETS, None)
            for form, places in FORMS.items():
                model = cs.SetRegressor(["a", "b", cs.SIZE, *places], random_state=seed).fit(X[train], y[train])
                scores.setdefault(form, []).append(model.score(X[test], y[test]))
            for ends in (False, True):
                rows = summaries(X, ["a", "b"], ends=ends)
                boosting = HistGradientBoostingRegressor(random_state=seed).fit(rows[train], y[train])
                scores.setdefault(f"boosting {ends}", []).append(float(boosting.score(rows[test], y[test])))
        yield (task, "R²", *(f"{np.mean(found):.3f} ± {np.std(found):.3f}" for found in scores.values()))


def queries(seed: int) -> tuple[pa.Table, npt.NDArray[Any], int]:
    """Return the words of queries as numbers, found on other queries: how often, and how often with the label."""
    texts, labels = load_intent(None)
    order = np.random.default_rng(seed).permutation(len(labels))
    words = [str(text).lower().split() for text in np.asarray(texts, object)[order]]
    y = (np.asarray(labels)[order] == np.unique(labels)[1]).astype(np.int64)
    n_known = len(words) // 2
    counts: dict[str, npt.NDArray[np.int64]] = {}
    for row, label in zip(words[:n_known], y[:n_known].tolist(), strict=True):
        for word in set(row):
            counts.setdefault(word, np.zeros(2, np.int64))[label] += 1
    prior = y[:n_known].mean()
    kept = [place for place in range(n_known, len(words)) if words[place]][: 2 * N_QUERIES]
    known = [np.array([counts.get(word, (0, 0)) for word in words[place]], float) for place in kept]
    share = [(found[:, 1] + 5 * prior) / (found.sum(axis=1) + 5) for found in known]
    often = [np.log1p(found.sum(axis=1)) for found in known]
    return pa.table({"share": share, "often": often}), y[kept], len(kept) // 2


def of_queries() -> Iterator[tuple[object, ...]]:
    """Fit every form on the words of queries, and boosting on summaries."""
    scores: dict[str, list[float]] = {}
    for seed in SEEDS:
        X, y, n = queries(seed)
        train, test = slice(0, n), slice(n, None)
        for form, places in FORMS.items():
            model = cs.SetClassifier(["share", "often", cs.SIZE, *places], random_state=seed).fit(X[train], y[train])
            scores.setdefault(form, []).append(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
        for ends in (False, True):
            rows = summaries(X, ["share", "often"], ends=ends)
            boosting = HistGradientBoostingClassifier(random_state=seed).fit(rows[train], y[train])
            found = roc_auc_score(y[test], boosting.predict_proba(rows[test])[:, 1])
            scores.setdefault(f"boosting {ends}", []).append(float(found))
    yield (
        "words of real queries",
        "AUC",
        *(f"{np.mean(found):.3f} ± {np.std(found):.3f}" for found in scores.values()),
    )


def main() -> None:
    """Fit with and without places."""
    rows = [*of_made_lists(), *of_queries()]
    write_table(
        "places",
        "What the places of tokens are worth",
        f"""
Set functions with the defaults of `SetRegressor` and `SetClassifier` on two features and the number of tokens, with and
without places; beside them scikit-learn's gradient boosting on mean, least and largest value and the number of tokens,
and with what the first and the last token have as well. Means over {len(SEEDS)} seeds on as many fresh sets as were
fitted, ± the standard deviation. Lists that are made up: {N_SETS:,} of 1 to 12 tokens, noise of a fifth of the labels'
spread, so that R² is at most 0.96. Real queries: {N_QUERIES:,} of the intent data; the features of a word, how often it
has the label and how often it occurs, are counted on the other half of the data.
""",
        ("task", "measure", *FORMS, "boosting", "boosting, first and last"),
        rows,
    )


if __name__ == "__main__":
    main()
