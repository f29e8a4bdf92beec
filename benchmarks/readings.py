"""What is said of sets that training has not shown: of unknown items, and of one token where training had many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import clearset as cs
from benchmarks._data import additive, wine_countries, wine_labels, wine_words
from benchmarks._results import write_table
from clearset.datasets import Labelled, load_celeba, load_intent, load_recipes

MOST = 6_000
TOKENS = 1_000


def made(n: int, smallest: int, classes: int | None, seed: int) -> Labelled:
    """Make sets of items with weights of their own for each class, or for a number."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(400, classes or 1))
    rows = [rng.choice(400, rng.integers(smallest, smallest + 10), replace=False) for _ in range(n)]
    scores = np.array([weights[row].sum(axis=0) for row in rows])
    labels: npt.NDArray[Any] = scores[:, 0] + rng.normal(size=n)
    if classes is not None:
        labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return Labelled(pa.array([[f"item {item}" for item in row] for row in rows]), labels)


def some(data: Labelled, n: int = MOST, seed: int = 0) -> Labelled:
    """Take some examples."""
    rows = np.random.default_rng(seed).permutation(len(data.y))[:n]
    return Labelled(data.X.take(pa.array(rows)), np.asarray(data.y)[rows])


def italian() -> Labelled:
    """Take recipes; Italian or not."""
    data = some(load_recipes())
    return Labelled(data.X, (data.y == "italian").astype(np.int64))


def points() -> Labelled:
    """Take wines' words with a number: how many of them there are, with noise."""
    data = some(wine_words())
    return Labelled(
        data.X, np.asarray(pc.list_value_length(data.X)) + np.random.default_rng(0).normal(size=len(data.y))
    )


FITS: dict[str, Callable[[], Labelled]] = {
    "recipes, 20 cuisines": lambda: some(load_recipes()),
    "recipes, 20 cuisines, 1,000": lambda: some(load_recipes(), 1_000),
    "recipes, Italian or not": italian,
    "CelebA, present attributes": lambda: some(load_celeba()),
    "wines' labels, 90 points": lambda: some(wine_labels()),
    "wines' words, 90 points": lambda: some(wine_words()),
    "wines' words, 10 countries": lambda: some(wine_countries()),
    "wines' words, their number": points,
    "queries (texts), government or not": lambda: some(load_intent()),
    "additive sets, made": additive,
    **{f"made, 2 classes, {n:,} sets": partial(made, n, 1, 2, n) for n in (300, 1_000, 5_000)},
    **{f"made, 20 classes, {n:,} sets": partial(made, n, 1, 20, n) for n in (1_000, 3_000, 5_000)},
    **{f"made, a number, {n:,} sets": partial(made, n, 1, None, n) for n in (300, 1_000, 3_000, 5_000)},
}


def distance_of_unknown(data: Labelled) -> tuple[str, float, float]:
    """Fit with no options, and return how far sets of unknown items are from the prior, and what is allowed."""
    text = pa.types.is_string(data.X.type) or pa.types.is_large_string(data.X.type)
    unknown = ["qqqq zzzz", "xxyyzz"] if text else [["qqqq"], ["zzzz", "xxyyzz"]]
    labels = np.asarray(data.y)
    if labels.dtype.kind == "f":
        model = cs.SemanticRegressor(random_state=0).fit(data.X, labels)
        return "standard deviations", float(np.abs(model.predict(unknown) - labels.mean()).max() / labels.std()), 0.2
    model = cs.SemanticClassifier(random_state=0).fit(data.X, labels)
    _, counts = np.unique(labels, return_counts=True)
    return "probability", float(np.abs(model.predict_proba(unknown) - counts / counts.sum()).max()), 0.05


def single_tokens(data: Labelled) -> tuple[float, float, float]:
    """Fit on sets of at least 5 items; ask for sets of one token.

    Return the share whose predicted class lies between the prior and the far end of the token's own interval, and the
    largest probability said of them and of the training sets.
    """
    model = cs.SemanticClassifier(random_state=0).fit(data.X, data.y).as_model()
    table = model.table
    tokens = np.random.default_rng(0).permutation(np.flatnonzero(table.sizes == 1))[:TOKENS]
    said = model.predict_proba(table.spelled(tokens))
    chosen = said.argmax(axis=1)
    rows = np.arange(len(tokens))
    prior, (low, high) = np.asarray(table.prior), table.intervals
    if len(model.classes_) == 2:
        chosen[:] = 1
        low, high = (np.stack([1 - each, each], axis=1) if each.ndim == 1 else each for each in (low, high))
    ends = low[tokens, chosen], high[tokens, chosen]
    within = (said[rows, chosen] >= np.minimum(ends[0], prior[chosen])) & (
        said[rows, chosen] <= np.maximum(ends[1], prior[chosen])
    )
    return float(within.mean()), float(said.max()), float(model.predict_proba(data.X).max())


def of_five(data: Labelled) -> Labelled:
    """Keep the sets of at least five items."""
    kept = np.flatnonzero(np.asarray(pc.list_value_length(data.X)) >= 5)
    return some(Labelled(data.X.take(pa.array(kept)), np.asarray(data.y)[kept]))


def measured() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for name, read in FITS.items():
        unit, distance, allowed = distance_of_unknown(read())
        yield (
            "unknown items only",
            name,
            f"{distance:.3f} {unit} from the prior",
            f"{allowed}",
            str(distance <= allowed),
        )
    for name, data in {
        "recipes, 20 cuisines": of_five(load_recipes()),
        "recipes, Italian or not": of_five(italian()),
        "wines' words, 90 points": of_five(wine_words()),
        "made, 2 classes": made(5_000, 5, 2, 0),
        "made, 20 classes": made(5_000, 5, 20, 0),
    }.items():
        share, largest, trained = single_tokens(data)
        yield "one token, training has 5 and more", name, f"{share:.1%} within", "95%", str(share >= 0.95)
        said = f"at most {largest:.4f}, training sets {trained:.4f}"
        yield "the same: confidence", name, said, "no larger", str(largest <= trained)


if __name__ == "__main__":
    write_table(
        "readings",
        "What is said of sets that training has not shown",
        "Default fits. A set of unknown items only should get the prior; a set of one token, where training sets have\n"
        "five and more, something between the prior and the far end of the 95% interval of the class among the\n"
        "examples that have the token (1,000 tokens, at random), and never more confidence than any training set.",
        ("question", "data", "found", "bar", "reached"),
        measured(),
    )
