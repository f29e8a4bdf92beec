"""Data that only benchmarks use; the others have loaders in `clearset.datasets`."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clearset.datasets import Labelled, Source, find_file


def read(file: str, columns: list[str]) -> pa.Table:
    """Read columns of one of the files on wines."""
    public = "It is put together from public copies of Kaggle's data set zynicide/wine-reviews."
    return pq.read_table(find_file(Source("wine", (file,), public), None), columns=columns)


def wine_labels(n: int = 40_000) -> Labelled:
    """Read wines as sets of column=value; 90 points or more, or fewer."""
    columns = ["country", "province", "region", "variety", "winery", "taster_name"]
    table = _some(read("wine.parquet", [*columns, "points"]), n)
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
    sets = [rng.choice(2000, rng.integers(1, 16), replace=False, p=frequency / frequency.sum()) for _ in range(n)]
    odds = np.array([weights[items].sum() for items in sets])
    labels = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return Labelled(pa.array([[f"item {item}" for item in items] for items in sets]), labels)


def _reviews(n: int) -> pa.Table:
    table = read("wine_texts.parquet", ["description", "points", "country", "in_kaggle", "score_selected"])
    usable = table["in_kaggle"].to_numpy() & ~table["score_selected"].to_numpy()
    return _some(table.take(pa.array(np.flatnonzero(usable))), n)


def _some(table: pa.Table, n: int) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(0).permutation(len(table))[:n]))


def _words(table: pa.Table) -> pa.Array:
    texts = table["description"].to_pylist()
    return pa.array([sorted(set(re.findall(r"\w+", text.lower()))) for text in texts])
