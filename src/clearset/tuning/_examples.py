"""The examples that settings are fitted on, and those that they are compared on."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from clearset.estimators import check_pair
from clearset.sets import numbers_of_objects, take_examples
from clearset.tuning._checksum import checksum

# A fifth of the examples validates; from this many on a tenth is enough.
_MANY = 5000


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Examples with their labels, and weights where there are some."""

    X: Any
    y: Any
    weights: npt.NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def size(self) -> float:
        """The number of examples, or the sum of their weights."""
        return len(self) if self.weights is None else float(self.weights.sum())

    def take(self, rows: npt.NDArray[np.int64]) -> "LabelledRows":
        """Return some of the examples."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledRows(take_examples(self.X, rows), take_examples(self.y, rows), weights)

    def fingerprint(self) -> str:
        """Return a text that differs for other examples."""
        labels = zlib.crc32("\n".join(map(str, np.asarray(self.y).tolist())).encode())
        weights = "" if self.weights is None else f", weights {zlib.crc32(self.weights.tobytes()):08x}"
        return f"{len(self)} examples (X {checksum(self.X):08x}, labels {labels:08x}{weights})"


@dataclass(frozen=True, eq=False)
class Folds:
    """Examples dealt to folds, numbered from 0; those of number -1 are in none, and always trained on."""

    examples: LabelledRows
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.numbers.max()) + 1

    def __iter__(self) -> Iterator[tuple[LabelledRows, LabelledRows]]:
        """Yield the examples without each fold, and those of the fold."""
        for fold in range(len(self)):
            inside = self.numbers == fold
            yield self.examples.take(np.flatnonzero(~inside)), self.examples.take(np.flatnonzero(inside))


def read_examples(
    X: Any, y: Any, sample_weight: Any, validation_data: Any, folds: int | None, seed: int, *, stratify: bool
) -> tuple[LabelledRows, LabelledRows | Folds]:
    """Return the examples to train on and those to validate on."""
    # The latter are the validation data given, or a random share of every class, or all examples in folds.
    rows = _check_lengths(X, y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None and weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape} but X has {rows} rows; give one for each.")
    examples = LabelledRows(X, y, weights)
    if validation_data is not None:
        other, theirs = check_pair(validation_data)
        theirs = read_labels_of(theirs, "y of validation_data", classes=stratify)
        _check_lengths(other, theirs, " of validation_data")
        return examples, LabelledRows(other, theirs, None)
    if folds is None and rows < 2:
        raise ValueError(f"X has {rows} rows, too few to set some aside. Pass validation_data.")
    if folds is not None:
        return examples, _dealt(examples, folds, seed, stratify=stratify)
    held = _held(examples, seed, stratify=stratify)
    return examples.take(np.flatnonzero(~held)), examples.take(np.flatnonzero(held))


def read_labels_of(y: Any, name: str, *, classes: bool) -> Any:
    """Return labels; those of classes as one column, numbers among objects as numbers, as scorers need them."""
    if y is None:
        raise ValueError(f"{name} is None, but settings are compared by it. Pass one label for each example.")
    if not classes:
        return y
    column = column_or_1d(y, warn=True) if np.ndim(y) == 2 else y
    if getattr(getattr(column, "dtype", None), "kind", None) != "O":
        return column
    plain = numbers_of_objects(np.asarray(column))
    return column if plain.dtype == object else plain


def _check_lengths(X: Any, y: Any, of: str = "") -> int:
    """Return the number of rows; raise an error unless each has a label."""
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(y) != rows:
        raise ValueError(f"y{of} has {len(y)} labels but X{of} has {rows} rows; give one label for each.")
    return int(rows)


def _held(examples: LabelledRows, seed: int, *, stratify: bool) -> npt.NDArray[np.bool_]:
    n = len(examples)
    size = max(round(n * (0.2 if n < _MANY else 0.1)), 1)
    order = np.random.default_rng(seed).permutation(n)
    held = np.zeros(n, dtype=bool)
    if not stratify:
        held[order[:size]] = True
        return held
    codes = np.unique(np.asarray(examples.y), return_inverse=True)[1]
    order = order[np.argsort(codes[order], kind="stable")]
    # Every n-th example of the sorted classes: each class is held out in proportion to its size.
    held[order[(np.arange(size) * n + n // 2) // size]] = True
    # A class of a single example is trained on, not validated on.
    held &= np.isin(codes, codes[~held])
    if not held.any():
        raise ValueError("No class has two examples, so that none can be set aside. Pass validation_data.")
    return held


def _dealt(examples: LabelledRows, n_folds: int, seed: int, *, stratify: bool) -> Folds:
    order = np.random.default_rng(seed).permutation(len(examples))
    numbers = np.full(len(examples), -1)
    if stratify:
        _, codes, counts = np.unique(np.asarray(examples.y), return_inverse=True, return_counts=True)
        # A class of a single example is trained on, not validated on.
        order = order[counts[codes[order]] > 1]
        order = order[np.argsort(codes[order], kind="stable")]
    if len(order) < n_folds:
        few = f"X has {len(order)} rows"
        if stratify:
            few = f"only {len(order)} examples have another of their class"
        raise ValueError(f"folds is {n_folds}, but {few}. Use fewer folds, or pass validation_data.")
    # Dealt in turn, class after class: each fold gets its share of a class, and never all of it.
    numbers[order] = np.arange(len(order)) % n_folds
    return Folds(examples, numbers)
