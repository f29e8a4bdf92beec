"""What a fit learns from: rows for the token table, for training, and for validation."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.utils import _safe_indexing

from clearset.estimators._fitting import SMALLEST_VALIDATION
from clearset.estimators._input import has_missing
from clearset.tokens import Labels

# Rows that a choice between settings should rest on, at least.
USUAL_VALIDATION = 1000

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Examples with labels (numbers, or indices of classes) and weights."""

    X: Any
    labels: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, X: Any, labels: Labels, weights: npt.NDArray[np.float64], classes: npt.NDArray[Any] | None
    ) -> "Rows":
        """Bring labels to indices of `classes`, of which they may be some; None for numbers."""
        if labels.classes is None or classes is None:
            return cls(X, labels.values.astype(np.float64), weights)
        places = np.searchsorted(classes, labels.classes)
        known = classes[np.minimum(places, len(classes) - 1)] == labels.classes
        if not np.all(known):
            unknown = labels.classes[~known].tolist()[:5]
            raise ValueError(f"Labels {unknown} are not among the classes fitted, {classes.tolist()[:20]}.")
        return cls(X, places[labels.values].astype(np.float64), weights)

    def __len__(self) -> int:
        return len(self.labels)

    def as_labels(self, classes: npt.NDArray[Any] | None) -> Labels:
        """Give the labels as a token table takes them; `classes` are what their indices stand for."""
        if classes is None:
            return Labels(self.labels, None)
        return Labels(self.labels.astype(np.int32), classes, declared=True)

    def take(self, rows: IntArray) -> "Rows":
        """Return some of the examples."""
        return Rows(take_examples(self.X, rows), self.labels[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class Sources:
    """What a fit learns from.

    Attributes
    ----------
    training
        What the set function is trained on.
    validation
        What the epoch and the setting are chosen by, or None.
    folds
        The fold of each training example, where the table is made of the same examples; else None.
    n_folds
        The number of folds.
    """

    training: Rows
    validation: Rows | None
    folds: IntArray | None
    n_folds: int

    def sampled(self, size: int, rng: np.random.Generator) -> "Sources":
        """Return a random sample of the training examples, if there are more, and a third as many to validate."""

        def chosen(n: int, most: int) -> IntArray | None:
            return None if n <= most else np.sort(rng.permutation(n)[:most])

        training, validation, folds = self.training, self.validation, self.folds
        if (some := chosen(len(training), size)) is not None:
            training, folds = training.take(some), None if folds is None else folds[some]
        if validation is not None and (some := chosen(len(validation), size // 3)) is not None:
            validation = validation.take(some)
        return Sources(training, validation, folds, self.n_folds)


def count_examples(X: Any) -> int:
    """Give the number of examples, at least one."""
    if not hasattr(X, "__len__") or isinstance(X, str | bytes | Mapping | AbstractSet):
        raise TypeError(
            f"X must be a column of lists or strings, a frame, or a list; received {type(X).__name__}."
        )
    if not len(X):
        raise ValueError("X holds no examples: 0 samples, while at least 1 is required.")
    return len(X)


def column_names(X: Any) -> npt.NDArray[Any] | None:
    """Give the names of a frame's columns, or of a series that has one; None for what has none."""
    data = nw.from_native(X, allow_series=True, pass_through=True)
    names = list(data.columns) if isinstance(data, nw.DataFrame) else []
    if isinstance(data, nw.Series) and data.name:
        names = [data.name]
    strings = all(isinstance(name, str) for name in names)
    return np.array(names, dtype=object) if names and strings else None


def read_groups(groups: Any, n: int, kept: IntArray) -> npt.NDArray[Any] | None:
    """Give the groups of those examples that count, numbered."""
    if groups is None:
        return None
    column = np.asarray(groups)
    if column.shape != (n,):
        raise ValueError(f"groups has shape {column.shape} but X has {n} examples; give one group for each.")
    if has_missing(column):
        raise ValueError("groups has missing values; give every example a group.")
    try:
        return np.unique(column[kept], return_inverse=True)[1]
    except TypeError:
        raise TypeError("groups holds values of several types; give groups of one type.") from None


def take_examples(X: Any, rows: IntArray) -> Any:
    """Return some rows of examples in any form."""
    if isinstance(X, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return X.take(pa.array(rows))
    if type(X).__module__.startswith("polars"):
        return X[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return _safe_indexing(X, rows)


def deal(groups: npt.NDArray[Any] | None, n: int, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Deal examples to folds at random, as evenly as can be; those of one group share a fold."""
    if groups is None:
        return rng.permutation(np.arange(n) % n_folds)
    _, members, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    middles = np.cumsum(sizes[order]) - sizes[order] / 2
    fold_of_group = np.empty(len(sizes), dtype=np.int64)
    fold_of_group[order] = (middles * n_folds / n).astype(np.int64)
    return fold_of_group[members]


def hold_out(
    labels: npt.NDArray[np.float64],
    groups: npt.NDArray[Any] | None,
    fraction: float | None,
    rng: np.random.Generator,
    *,
    stratify: bool,
) -> tuple[IntArray, IntArray]:
    """Choose rows for validation at random, of every class alike, or whole groups; of too few rows none.

    Without a fraction it is a tenth, and more of few rows: `USUAL_VALIDATION` of them, but at most a quarter.
    """
    n = len(labels)
    usual = max(round(0.1 * n), min(USUAL_VALIDATION, n // 4))
    size = usual if fraction is None else min(round(fraction * n), n - 1)
    everything = np.arange(n)
    if size < SMALLEST_VALIDATION:
        return everything, everything[:0]
    if groups is not None:
        _, members, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        order = rng.permutation(len(sizes))
        middles = np.cumsum(sizes[order]) - sizes[order] / 2
        held = np.isin(members, order[middles < max(size, middles[0] + 1)])
    else:
        order = rng.permutation(n)
        if stratify:
            order = order[np.argsort(labels[order], kind="stable")]
        held = np.zeros(n, dtype=bool)
        held[order[np.arange(size) * n // size]] = True
    if held.all() or not held.any():
        return everything, everything[:0]
    return np.flatnonzero(~held), np.flatnonzero(held)
