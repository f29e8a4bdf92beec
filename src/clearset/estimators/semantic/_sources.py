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

# Numbers are balanced between folds of groups by so many ranges of ranks.
RANKS = 10

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


def deal(
    labels: npt.NDArray[Any],
    groups: npt.NDArray[Any] | None,
    n_folds: int,
    rng: np.random.Generator,
    *,
    classes: bool,
) -> IntArray:
    """Deal examples to folds at random, of every class (or of numbers of every rank) alike; groups share a fold.

    Were the labels of a fold high by chance, those of all others would be low, and what is learned from the others
    would tell.
    """
    n = len(labels)
    order = rng.permutation(n)
    order = order[np.argsort(labels[order], kind="stable")]
    if groups is not None:
        return _deal_groups(labels if classes else np.argsort(order) * RANKS // n, groups, n_folds, rng)
    if not classes:
        # Neighbours in rank go one to each fold, which one at random: were it always the same, means would differ.
        order = order[np.lexsort([rng.random(n), np.arange(n) // n_folds])]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds


def _deal_groups(
    strata: npt.NDArray[Any], groups: npt.NDArray[Any], n_folds: int, rng: np.random.Generator
) -> IntArray:
    """Deal whole groups, the largest first, each to the fold that has least of what the group has."""
    _, codes, totals = np.unique(strata, return_inverse=True, return_counts=True)
    _, members, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    # With x the share of a stratum that a fold has, the sum of all x² grows by 2 x g + g² for a group with the share g.
    # All examples are one stratum more, so that folds have the same size as well.
    shares = np.zeros((n_folds, len(totals)))
    n_examples = np.zeros(n_folds)
    rows = np.split(np.argsort(members, kind="stable"), np.cumsum(sizes)[:-1])
    order = rng.permutation(len(sizes))
    folds = np.empty(len(groups), dtype=np.int64)
    for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
        mine = codes[rows[group]]
        fold = np.argmin(
            shares[:, mine] @ (1 / totals[mine]) + n_examples * (sizes[group] / len(groups) ** 2)
        )
        np.add.at(shares[fold], mine, 1 / totals[mine])
        n_examples[fold] += sizes[group]
        folds[rows[group]] = fold
    return folds


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
