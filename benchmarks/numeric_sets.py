"""Sets of numbers with interactions and order, made up: the defaults beside boosting on summaries, and their luck."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

import clearset as cs
from benchmarks._results import write_table

FloatArray = npt.NDArray[np.float64]

LAWS = ("main effects", "interactions", "order", "largest")
# Features and training sets of each row, and from how many seeds of training the spread is told.
SETTINGS: tuple[tuple[int, int, int], ...] = (
    (4, 1000, 5),
    (7, 1000, 5),
    (10, 1000, 5),
    (14, 1000, 5),
    (4, 4500, 5),
    (7, 4500, 5),
    (10, 4500, 5),
)
SETTINGS += ((14, 4500, 5), (10, 20_000, 2), (10, 100_000, 1))
N_TEST = 4000
NOISE = 0.5
FORMS: tuple[Callable[[FloatArray], FloatArray], ...] = (
    np.tanh,
    lambda values: np.abs(values) - 0.8,
    lambda values: values,
    lambda values: np.minimum(values, 0.0),
)


class Made(NamedTuple):
    """Sets that are made up."""

    sets: cs.SetData
    numbers: FloatArray
    classes: npt.NDArray[np.int64]


def scores(base: FloatArray, law: str, rng: np.random.Generator) -> FloatArray:
    """Return what tokens are worth: two thirds of the features matter, some as pairs."""
    n_features = base.shape[1]
    used = rng.permutation(n_features)[: max(3, n_features * 2 // 3)]
    weights = rng.normal(size=len(used))
    alone = np.zeros(len(base))
    for place, (d, weight) in enumerate(zip(used, weights, strict=True)):
        alone += weight * FORMS[place % len(FORMS)](base[:, d])
    alone /= alone.std()
    if law == "main effects":
        return alone
    together = np.zeros(len(base))
    for place in range(max(2, n_features // 3)):
        one, other = rng.choice(used, 2, replace=False)
        factor = base[:, other] if place % 2 == 0 else (base[:, other] > 0).astype(np.float64)
        together += rng.choice([-1, 1]) * base[:, one] * factor
    return np.asarray(alone + together / together.std())


def made(law: str, n_features: int, n: int) -> Made:
    """Make sets of 1 to 12 tokens, whose columns go together in several distributions, and two kinds of labels."""
    rng = np.random.default_rng([n_features, LAWS.index(law)])
    sizes = rng.integers(1, 13, n)
    offsets = np.concatenate([[0], sizes.cumsum()])
    base = rng.normal(size=(offsets[-1], n_features))
    base[:, 1:] += 0.4 * base[:, :-1]
    values = base.copy()
    values[:, 1::4] = np.exp(values[:, 1::4])
    values[:, 2::4] = np.round(2 * values[:, 2::4])
    worth = scores(base / base.std(axis=0), law, rng)
    starts = offsets[:-1]
    if law == "order":
        place = np.repeat(offsets[1:], sizes) - 1 - np.arange(offsets[-1])
        total = np.add.reduceat(worth * 0.7**place, starts)
    elif law == "largest":
        total = np.maximum.reduceat(worth, starts)
    else:
        total = np.add.reduceat(worth, starts) / np.sqrt(sizes)
    total = total / total.std()
    clean = np.tanh(total) + 0.5 * total
    clean = (clean - clean.mean()) / clean.std()
    classes = (rng.random(n) < 1 / (1 + np.exp(-2 * clean))).astype(np.int64)
    sets = cs.SetData(values, offsets, [f"x{d}" for d in range(n_features)])
    return Made(sets, clean + NOISE * rng.normal(size=n), classes)


def summaries(sets: cs.SetData) -> FloatArray:
    """Return mean, least, largest and last value of each feature, and the number of tokens."""
    values, starts, sizes = sets.values, sets.offsets[:-1], np.diff(sets.offsets)
    least, largest = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    means = np.add.reduceat(values, starts) / sizes[:, None]
    return np.column_stack([means, least, largest, values[sets.offsets[1:] - 1], sizes])


def root_mean_square(labels: FloatArray, predicted: FloatArray) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((labels - predicted) ** 2)))


def compared(law: str, n_features: int, n: int, seeds: int) -> tuple[object, ...]:
    """Fit the defaults with several seeds, and boosting, on one task."""
    data = made(law, n_features, n + N_TEST)
    train, test = slice(0, n), slice(n, None)
    rows = summaries(data.sets)
    features: list[Any] = [*data.sets.feature_names, cs.SIZE, cs.PLACE]
    boosting = HistGradientBoostingRegressor(random_state=0).fit(rows[train], data.numbers[train])
    theirs = root_mean_square(data.numbers[test], boosting.predict(rows[test]))
    errors, seconds = [], []
    for seed in range(seeds):
        began = time.process_time()
        model = cs.SetRegressor(features, random_state=seed, n_jobs=1).fit(data.sets[train], data.numbers[train])
        seconds.append(time.process_time() - began)
        errors.append(root_mean_square(data.numbers[test], model.predict(data.sets[test])))
    classifier = cs.SetClassifier(features, random_state=0, n_jobs=1).fit(data.sets[train], data.classes[train])
    trees = HistGradientBoostingClassifier(random_state=0).fit(rows[train], data.classes[train])
    ours, others = (
        roc_auc_score(data.classes[test], shares[:, 1])
        for shares in (classifier.predict_proba(data.sets[test]), trees.predict_proba(rows[test]))
    )
    return (
        *(n_features, f"{n:,}", law, f"{np.mean(errors) / theirs:.3f}"),
        f"{100 * np.std(errors) / np.mean(errors):.1f}%" if seeds > 1 else "",
        *(f"{NOISE / theirs:.3f}", f"{ours:.3f}", f"{others:.3f}", f"{np.median(seconds):.1f}"),
    )


def measured() -> Iterator[tuple[object, ...]]:
    """Go through all settings and laws."""
    for n_features, n, seeds in SETTINGS:
        for law in LAWS:
            yield compared(law, n_features, n, seeds)


def main() -> None:
    """Compare the defaults with boosting."""
    write_table(
        "numeric_sets",
        "Sets of numbers, made up",
        f"""
`SetRegressor` and `SetClassifier` with the features, the number of tokens and their places from the end, all else by
default, beside scikit-learn's gradient boosting on mean, least, largest and last value of each feature and number of
tokens; {N_TEST:,} fresh sets. Share: root mean squared error divided by boosting's; the best possible is what the noise
of the labels leaves. Spread: standard deviation over seeds of training, as a share of the error. Seconds of the
processor, one thread. The laws: a sum of effects of single features over the tokens, with products of pairs, with
the latest tokens counting most, and the largest token instead of a sum.
""",
        ("features", "sets", "law", "share", "spread", "best possible", "AUC", "boosting's AUC", "fit"),
        measured(),
    )


if __name__ == "__main__":
    main()
