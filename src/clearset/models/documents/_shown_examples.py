"""What given data add to a document: histograms of the features, and examples to begin with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.models._arrays import IntArray
from clearset.sets import Feature, number

if TYPE_CHECKING:
    from clearset.models._model import Model, Reading

MOST_EXAMPLES = 50
MOST_VALUES = 20_000
"""Numbers or items of all examples together; sets that would exceed it are left out."""


class ShownExamples(ABC):
    """Sets and their labels, as a document shows them.

    Parameters
    ----------
    model : Model
        A fitted model.
    reading : Reading
        The sets as the model has read them.
    sizes : ndarray of shape (B,)
        The number of values, or of items, of each set.
    X : frame, SetData or array-like
        The sets as they were given.
    y : array-like or None
        Their labels, if known.
    names : sequence of str, or None
        The name of each set; by default the number of its row.

    Attributes
    ----------
    labels : ndarray of shape (B,), or None
        Numbers, or places of classes.
    """

    def __init__(self, model: Model, reading: Reading, sizes: npt.NDArray[Any], X: Any, y: Any, names: Any) -> None:
        self.X, self.y = X, y
        self._model, self.reading, self.sizes = model, reading, sizes
        # A pandas series would look up [row] by its index, and the elements of an Arrow array are no strings.
        self._names: list[Any] | None = None
        if names is not None:
            self._names = names.to_pylist() if hasattr(names, "to_pylist") else list(names)
            if len(self._names) != len(self):
                raise ValueError(
                    f"There are {len(self._names):,} names for {len(self):,} sets. Give each set one, or none at all."
                )
        self.labels = None if y is None else model.read_labels(y, len(self))

    def __len__(self) -> int:
        return len(self.sizes)

    def name(self, row: int) -> str:
        """Return the name of a set."""
        name = None if self._names is None else self._names[row]
        known = name is not None and name == name and str(name).strip()
        return str(name) if known else f"Example {row}"

    def scope(self, feature: Feature) -> str:
        """Return what a feature's value belongs to: each ``token``, the whole ``set``, or what is built in."""
        return self._model.scope(feature)

    @abstractmethod
    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature."""

    @cached_property
    def chosen(self) -> IntArray:
        """The rows of some sets to begin with, chosen at random."""
        return choose_rows(self.sizes)

    @abstractmethod
    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Return the sets of some rows."""

    def tokens_shown(self) -> IntArray:
        """Return the numbers, in the token table, of the tokens that the chosen sets have."""
        return np.empty(0, np.int64)

    def _about(self, row: int) -> dict[str, Any]:
        """Return the entries that all kinds of sets have."""
        label, classes = None, self._model.link.classes
        if self.labels is not None:
            label = number(self.labels[row]) if classes is None else str(classes[int(self.labels[row])])
        return {"row": row, "name": self.name(row), "label": label}


def choose_rows(sizes: npt.NDArray[Any]) -> IntArray:
    """Choose some sets at random, not more than can be shown."""
    order = np.random.default_rng(0).permutation(len(sizes))
    # One huge set must not leave room for no other.
    order = order[sizes[order] <= MOST_VALUES // 4][: 4 * MOST_EXAMPLES]
    fits = np.cumsum(sizes[order]) <= MOST_VALUES
    return np.sort(order[fits][:MOST_EXAMPLES]).astype(np.int64)
