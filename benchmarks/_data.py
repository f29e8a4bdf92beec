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
    # An ingredient of one word is that word, so it is not told twice.
    both = [[*recipe, *{word for name in recipe for word in name.split()}] for recipe in sets.to_pylist()]
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
