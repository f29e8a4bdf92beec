"""Generated data: sets of numeric tokens, and sets of items; anyone can make the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST_SET = 19
N_ITEMS = 5_000
# Sets that no contender is fitted on, and that quality is measured on.
N_TEST = 5_000


class NumericSets(NamedTuple):
    """Sets of tokens with numeric features, one after the other."""

    values: Floats
    offsets: Integers
    y: Floats

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all sets."""
        return len(self.values)

    @property
    def n_features(self) -> int:
        """The number of features of a token."""
        return int(self.values.shape[1])

    def head(self, n: int) -> NumericSets:
        """Return the first `n` sets."""
        return NumericSets(self.values[: self.offsets[n]], self.offsets[: n + 1], self.y[:n])


class ItemSets(NamedTuple):
    """Sets of strings, and the class of each."""

    items: pa.ListArray
    y: Integers


def write_numeric(folder: Path, n_sets: int, n_features: int, seed: int = 0) -> None:
    """Make sets to train on and to test with.

    A token's score rises with the first feature and bends with the others; pairs of neighbouring features act together.
    The label is a curve of the mean score, and noise: the best R² possible is about 0.95.
    """
    rng = np.random.default_rng(seed)
    n_all = n_sets + N_TEST
    sizes = rng.integers(1, LARGEST_SET + 1, n_all)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = rng.normal(size=(offsets[-1], n_features))
    values[:, ::2] = np.exp(0.5 * values[:, ::2])  # skewed, as counts and prices are
    score = np.log(values[:, 0])
    for feature in range(1, n_features):
        score += np.sin(values[:, feature] + feature) * (1 + 0.5 * np.tanh(values[:, feature - 1])) / feature
    mean = np.add.reduceat(score, offsets[:-1]) / sizes
    truth = np.tanh(mean - mean.mean()) + 0.3 * mean
    y = truth + np.sqrt(0.05) * truth.std() * rng.normal(size=n_all)
    cut = offsets[n_sets]
    np.savez(folder / "train.npz", values=values[:cut], offsets=offsets[: n_sets + 1], y=y[:n_sets])
    np.savez(folder / "test.npz", values=values[cut:], offsets=offsets[n_sets:] - cut, y=y[n_sets:])


def read_numeric(folder: str, part: str) -> NumericSets:
    """Read what `write_numeric` wrote: ``train`` or ``test``."""
    with np.load(Path(folder) / f"{part}.npz") as stored:
        return NumericSets(stored["values"], stored["offsets"], stored["y"])


def write_items(folder: Path, n_sets: int, n_classes: int, seed: int = 0) -> None:
    """Make sets of items whose frequency follows Zipf's law, to train on and to test with.

    Each item speaks for some classes and against others. What a set says grows with its items but less than their sum,
    and two frequent items together say something else than each alone; so no contender's form is quite the truth.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    n_all = n_sets + N_TEST
    sizes = rng.integers(1, LARGEST_SET + 1, n_all)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    frequency = 1 / np.arange(1, N_ITEMS + 1)
    items = np.searchsorted(np.cumsum(frequency) / frequency.sum(), rng.random(offsets[-1]))
    items = np.minimum(items, N_ITEMS - 1)
    n_columns = 1 if n_classes == 2 else n_classes
    weights = rng.normal(size=(N_ITEMS, n_columns))
    pairs = rng.normal(size=(4, n_columns))
    y = np.empty(n_all, np.int64)
    for begin in range(0, n_all, 50_000):
        end = min(begin + 50_000, n_all)
        some, starts = items[offsets[begin] : offsets[end]], offsets[begin:end] - offsets[begin]
        said = np.add.reduceat(weights[some], starts) / np.sqrt(sizes[begin:end])[:, None]
        for pair, weight in enumerate(pairs):
            both = np.logical_and(
                np.logical_or.reduceat(some == 2 * pair, starts), np.logical_or.reduceat(some == 2 * pair + 1, starts)
            )
            said += both[:, None] * weight
        if n_classes == 2:
            y[begin:end] = rng.random(end - begin) < 1 / (1 + np.exp(-2 * said[:, 0]))
        else:  # the largest of the sums and Gumbel noise: a draw from their softmax
            y[begin:end] = (2 * said + rng.gumbel(size=said.shape)).argmax(axis=1)
    names = pa.array([f"item {item}" for item in range(N_ITEMS)])
    column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names.take(pa.array(items)))
    table = pa.table({"items": column, "label": y})
    pq.write_table(table.slice(0, n_sets), folder / "train.parquet")
    pq.write_table(table.slice(n_sets), folder / "test.parquet")


def read_items(folder: str, part: str) -> ItemSets:
    """Read what `write_items` wrote: ``train`` or ``test``."""
    import pyarrow.parquet as pq

    table = pq.read_table(Path(folder) / f"{part}.parquet")
    return ItemSets(table["items"].combine_chunks(), table["label"].to_numpy())
