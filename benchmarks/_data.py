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


def histories(n: int = 100_000, seed: int = 0) -> Labelled:
    """Make medical histories: diagnoses and drugs of patients with several illnesses, and who was admitted.

    An illness brings some of its diagnoses and drugs. The log-odds are the sum of what illnesses weigh, of pairs of
    illnesses that make each other worse, of drugs that help those who have what they are for and harm others, and of
    age.
    """
    rng = np.random.default_rng(seed)
    n_illnesses, n_codes, n_drugs, n_common = 80, 25, 6, 400
    weights = rng.normal(0.2, 0.6, n_illnesses)
    worse = np.where(rng.random((n_illnesses, n_illnesses)) < 0.15, rng.normal(0.0, 1.0, (n_illnesses, n_illnesses)), 0)
    helps = rng.normal(-0.6, 0.4, (n_illnesses, n_drugs))
    shown = rng.beta(0.6, 3.0, (n_illnesses, n_codes + n_drugs))
    often = 1 / np.arange(1, n_illnesses + 1) ** 0.6
    common = 1 / np.arange(1, n_common + 1)
    has = rng.random((n, n_illnesses)) < np.minimum(2.5 * often / often.sum(), 0.5)
    age = rng.integers(0, 10, n)
    odds = -2.0 + has @ weights + np.einsum("ni,ij,nj->n", has, np.triu(worse, 1), has, optimize=True) + 0.15 * age
    rows, items = [], []
    for illness in range(n_illnesses):
        signs = rng.random((n, n_codes + n_drugs)) < np.where(has[:, illness, None], shown[illness], 0.004)
        drugs = signs[:, n_codes:]
        odds += np.where(has[:, illness], drugs @ helps[illness], 0.5 * drugs.sum(axis=1))
        patient, code = np.nonzero(signs)
        rows.append(patient)
        items.append(1000 * illness + code)
    chance = rng.random((n, n_common)) < 2.0 * common / common.sum()
    patient, code = np.nonzero(chance)
    rows += [patient, np.arange(n)]
    items += [1_000_000 + code, 2_000_000 + age]
    patients, codes = np.concatenate(rows), np.concatenate(items)
    order = np.lexsort([codes, patients])
    offsets = np.searchsorted(patients[order], np.arange(n + 1))
    values, which = np.unique(codes[order], return_inverse=True)
    names = pa.array([_code(value, n_codes) for value in values.tolist()]).take(pa.array(which))
    labels = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return Labelled(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names), labels)


def _code(value: int, n_codes: int) -> str:
    if value >= 1_000_000:
        return f"complaint {value - 1_000_000}" if value < 2_000_000 else f"age {10 * (value - 2_000_000)}"
    illness, sign = divmod(value, 1000)
    return f"diagnosis {illness}.{sign}" if sign < n_codes else f"drug {illness}.{sign - n_codes}"


def _reviews(n: int) -> pa.Table:
    table = read("wine_texts.parquet", ["description", "points", "country", "in_kaggle", "score_selected"])
    usable = table["in_kaggle"].to_numpy() & ~table["score_selected"].to_numpy()
    return _some(table.take(pa.array(np.flatnonzero(usable))), n)


def _some(table: pa.Table, n: int) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(0).permutation(len(table))[:n]))


def _words(table: pa.Table) -> pa.Array:
    texts = table["description"].to_pylist()
    return pa.array([sorted(set(re.findall(r"\w+", text.lower()))) for text in texts])
