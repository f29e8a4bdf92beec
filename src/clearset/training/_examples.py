"""Labelled examples, and which of them train, validate and make the token table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import FileRows, Labels, has_missing, take_examples

IntArray = npt.NDArray[np.int64]

# Of the memory allowed, samples that are read from files may take one part in so many: what is made of them is larger.
_OF_SAMPLES = 12


@dataclass(frozen=True, eq=False)
class LabelledExamples:
    """Examples with labels (numbers, or indices of classes) and weights."""

    X: Any
    labels: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, X: Any, labels: Labels, weights: npt.NDArray[np.float64], classes: npt.NDArray[Any] | None
    ) -> "LabelledExamples":
        """Convert labels to indices of `classes`, of which they may be some; None for numbers."""
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
        """Return the labels as a token table takes them; `classes` are what their indices stand for."""
        if classes is None:
            return Labels(self.labels, None)
        return Labels(self.labels.astype(np.int32), classes, declared=True)

    def in_memory(self) -> "LabelledExamples":
        """Read the examples, if they are in files and take little of the memory allowed."""
        read = self.X.read(self.X.max_memory / _OF_SAMPLES) if isinstance(self.X, FileRows) else None
        return self if read is None else replace(self, X=read)

    def take(self, rows: IntArray) -> "LabelledExamples":
        """Return some of the examples."""
        if len(rows) == len(self) and bool((rows == np.arange(len(rows))).all()):
            return self
        return LabelledExamples(take_examples(self.X, rows), self.labels[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class Sources:
    """What a fit learns from."""

    training: LabelledExamples  # what the set function is trained on
    validation: LabelledExamples | None  # what the epoch and the setting are chosen by, or None
    folds: (
        npt.NDArray[np.uint8] | None
    )  # the fold of each training example, where the table is made of the same examples; else None
    n_folds: int  # the number of folds

    def sampled(self, size: int, rng: np.random.Generator) -> "Sources":
        """Return a random sample of the training examples, if there are more, and two thirds as many to validate."""

        def chosen(n: int, most: int) -> IntArray | None:
            return None if n <= most else np.sort(rng.permutation(n)[:most])

        training, validation, folds = self.training, self.validation, self.folds
        if (some := chosen(len(training), size)) is not None:
            training, folds = training.take(some).in_memory(), None if folds is None else folds[some]
        if validation is not None and (some := chosen(len(validation), 2 * size // 3)) is not None:
            validation = validation.take(some).in_memory()
        return Sources(training, validation, folds, self.n_folds)


def read_groups(groups: Any, n: int, kept: IntArray) -> npt.NDArray[Any] | None:
    """Return the groups of those examples that count, numbered."""
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
