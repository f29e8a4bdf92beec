"""What given data add to a document: histograms of the features, and examples to begin with."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.explain._plain import number

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MOST_EXAMPLES = 50
MOST_VALUES = 20_000
"""Numbers or items of all examples together; sets that would exceed it are left out."""


class Examples(ABC):
    """Sets and their labels, as a document shows them.

    Parameters
    ----------
    model
        A fitted model.
    X, y
        Sets as it reads them, and their labels, or None.
    names
        What to call each; by default by its row.

    Attributes
    ----------
    sizes
        Numbers or items of each set.
    labels
        Numbers, or places of classes.
    """

    sizes: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None

    def __init__(self, model: Any, X: Any, y: Any, names: Sequence[str | None] | None) -> None:
        self.X, self.y = X, y
        self._model = model
        # Of a pandas series, [row] would look for its label; what is Arrow's is no text yet.
        listed: Any = names
        self._names: list[Any] | None = None
        if names is not None:
            self._names = listed.to_pylist() if hasattr(names, "to_pylist") else list(listed)

    def __len__(self) -> int:
        return len(self.sizes)

    def name(self, row: int) -> str:
        """Say what a set is called."""
        name = None if self._names is None else self._names[row]
        known = name is not None and name == name and str(name).strip()
        return str(name) if known else f"Example {row}"

    def check_names(self) -> None:
        """Refuse names that are not those of the sets."""
        if self._names is not None and len(self._names) != len(self):
            raise ValueError(
                f"There are {len(self._names):,} names for {len(self):,} sets. Give each set one, or none at all."
            )

    def scope(self, _name: str) -> str:
        """Say whether a feature belongs to each ``token`` or to the whole ``set``."""
        return "token"

    @abstractmethod
    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature."""

    def examples(self) -> list[dict[str, Any]]:
        """Give some of the sets, chosen at random."""
        return self.at(self.chosen)

    @cached_property
    def chosen(self) -> IntArray:
        """The rows of some sets."""
        return choose_rows(self.sizes)

    @abstractmethod
    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Give the sets of some rows."""

    @abstractmethod
    def outputs(self) -> FloatArray:
        """Give the model's outputs, ``(B, C)``."""

    def tokens_shown(self) -> IntArray:
        """Give the tokens, by their numbers in the token table, that the examples have."""
        return np.empty(0, np.int64)

    def _about(self, row: int) -> dict[str, Any]:
        """Give what does not depend on the kind of the sets."""
        return {"row": row, "name": self.name(row), "label": self._label(row)}

    def _label(self, row: int) -> Any:
        if self.labels is None:
            return None
        classes = getattr(self._model, "classes_", None)
        return number(self.labels[row]) if classes is None else str(classes[int(self.labels[row])])


def choose_rows(sizes: npt.NDArray[Any]) -> IntArray:
    """Choose some sets at random, not more than can be shown."""
    order = np.random.default_rng(0).permutation(len(sizes))
    # One huge set must not leave room for no other.
    order = order[sizes[order] <= MOST_VALUES // 4][: 4 * MOST_EXAMPLES]
    fits = np.cumsum(sizes[order]) <= MOST_VALUES
    return np.sort(order[fits][:MOST_EXAMPLES]).astype(np.int64)
