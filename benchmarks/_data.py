"""The data sets that semantic benchmarks read, and how they are split."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(os.environ.get("CLEARSET_DATA", Path(__file__).parents[2] / "shared" / "data"))


class Labelled(NamedTuple):
    """Examples and their labels."""

    X: pa.Array
    y: npt.NDArray[np.generic]

    def take(self, rows: npt.NDArray[np.int64]) -> Labelled:
        """Return some of the examples."""
        return Labelled(self.X.take(pa.array(rows)), self.y[rows])


def split(data: Labelled, seed: int) -> tuple[Labelled, Labelled, Labelled]:
    """Split 70/10/20 at random."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    ends = np.cumsum([int(0.7 * len(order)), int(0.1 * len(order))])
    training, validation, test = (data.take(np.sort(part)) for part in np.split(order, ends))
    return training, validation, test


def read(name: str, columns: list[str] | None = None) -> pa.Table:
    """Read a Parquet file of the data folder."""
    path = FOLDER / name
    if not path.exists():
        sys.exit(f"{path} is missing; set CLEARSET_DATA to the folder of the data sets.")
    return pq.read_table(path, columns=columns)


def recipes(*, words: bool = False) -> Labelled:
    """Read recipes as sets of lower-cased, stemmed ingredients; with `words` each ingredient's words beside them."""
    import snowballstemmer

    table = read("recipes/recipes.parquet")
    stemmer = snowballstemmer.stemmer("english")
    lists = table["ingredients"].combine_chunks()
    names = lists.values.dictionary_encode()
    stems = [
        " ".join(stemmer.stemWords(re.findall(r"\w+", name.lower()))) for name in names.dictionary.to_pylist()
    ]
    ingredients = pa.array(stems).take(names.indices)
    sets = pa.ListArray.from_arrays(lists.offsets, ingredients)
    labels = np.asarray(table["cuisine"].to_pylist())
    if not words:
        return Labelled(sets, labels)
    # "sugar" as an ingredient says something else than as a word of one.
    both = [
        [*recipe, *{f"{word} (word)" for name in recipe for word in name.split()}]
        for recipe in sets.to_pylist()
    ]
    return Labelled(pa.array(both), labels)


def faces(*, values: bool = False) -> Labelled:
    """Read CelebA's faces as sets of present attributes, or with `values` of attribute=value; attractive or not."""
    table = read("celeba/celeba_attributes.parquet")
    names = [name for name in table.column_names if name not in ("image_id", "Attractive")]
    present = np.stack([table[name].to_numpy() for name in names], axis=1) == 1
    label = (table["Attractive"].to_numpy() == 1).astype(np.int64)
    if values:
        vocabulary = pa.array([f"{name}={value}" for name in names for value in ("no", "yes")])
        codes = 2 * np.arange(len(names)) + present
        sizes = np.full(len(label), len(names))
    else:
        vocabulary, codes, sizes = pa.array(names), np.nonzero(present)[1], present.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Labelled(
        pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), vocabulary.take(pa.array(codes.ravel()))),
        label,
    )


def queries() -> Labelled:
    """Read web queries as texts; after government information or not."""
    table = read("intent/intent.parquet", ["query", "label"])
    return Labelled(table["query"].combine_chunks(), table["label"].to_numpy())


def wine_labels(n: int = 40_000) -> Labelled:
    """Read wines as sets of column=value; 90 points or more, or fewer."""
    columns = ["country", "province", "region", "variety", "winery", "taster_name"]
    table = _some(read("wine/wine.parquet", [*columns, "points"]), n)
    rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
    sets = [[f"{name}={value}" for name, value in zip(columns, row, strict=True) if value] for row in rows]
    return Labelled(pa.array(sets), (table["points"].to_numpy() >= 90).astype(np.int64))


def wine_words(n: int = 20_000) -> Labelled:
    """Read reviews of wines as sets of words; 90 points or more, or fewer."""
    table = _reviews(n)
    return Labelled(_words(table), (table["points"].to_numpy() >= 90).astype(np.int64))


def wine_countries(n: int = 20_000) -> Labelled:
    """Read reviews of wines as sets of words; the ten most frequent countries."""
    table = _reviews(3 * n)
    labels = np.asarray([country or "" for country in table["country"].to_pylist()])
    names, counts = np.unique(labels[labels != ""], return_counts=True)
    chosen = np.flatnonzero(np.isin(labels, names[np.argsort(-counts)[:10]]))[:n]
    return Labelled(_words(table).take(pa.array(chosen)), labels[chosen])


def additive(n: int = 5_000, seed: int = 0) -> Labelled:
    """Make sets of up to 15 of 2,000 items, each with its own weight; the label's log-odds are their sum."""
    rng = np.random.default_rng(seed)
    weights, frequency = 0.8 * rng.normal(size=2000), 1 / np.arange(1, 2001) ** 0.8
    sets = [
        rng.choice(2000, rng.integers(1, 16), replace=False, p=frequency / frequency.sum()) for _ in range(n)
    ]
    odds = np.array([weights[items].sum() for items in sets])
    labels = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return Labelled(pa.array([[f"item {item}" for item in items] for items in sets]), labels)


def _reviews(n: int) -> pa.Table:
    table = read(
        "wine/wine_texts.parquet", ["description", "points", "country", "in_kaggle", "score_selected"]
    )
    usable = table["in_kaggle"].to_numpy() & ~table["score_selected"].to_numpy()
    return _some(table.take(pa.array(np.flatnonzero(usable))), n)


def _some(table: pa.Table, n: int) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(0).permutation(len(table))[:n]))


def _words(table: pa.Table) -> pa.Array:
    texts = table["description"].to_pylist()
    return pa.array([sorted(set(re.findall(r"\w+", text.lower()))) for text in texts])
