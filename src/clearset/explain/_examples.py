"""What given data add to a document: histograms of the features, and examples to begin with."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.estimators._input import read_more_sets
from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._details import read_details
from clearset.estimators.semantic._sources import count_examples, take_examples
from clearset.estimators.semantic._trial import occurrences
from clearset.explain._plain import number, numbers
from clearset.sets import SIZE
from clearset.tokens import PER_SET, read_labels

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MOST_EXAMPLES = 50
MOST_VALUES = 20_000
"""Numbers or items of all examples together; sets that would exceed it are left out."""

_BINS = 30
_MOST_SAMPLED = 200_000


class Examples(ABC):
    """Sets and their labels, as a document shows them."""

    labels: npt.NDArray[Any] | None

    @abstractmethod
    def __len__(self) -> int:
        """Give the number of sets."""

    def scope(self, _name: str) -> str:
        """Say whether a feature belongs to each ``token`` or to the whole ``set``."""
        return "token"

    @abstractmethod
    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature."""

    @abstractmethod
    def examples(self) -> list[dict[str, Any]]:
        """Give some of the sets."""

    @abstractmethod
    def outputs(self) -> FloatArray:
        """Give the model's outputs, ``(B, C)``."""

    def tokens_shown(self) -> IntArray:
        """Give the tokens, by their numbers in the token table, that the examples have."""
        return np.empty(0, np.int64)

    def _label(self, row: int, classes: npt.NDArray[Any] | None) -> Any:
        if self.labels is None:
            return None
        return number(self.labels[row]) if classes is None else str(classes[int(self.labels[row])])


class SetExamples(Examples):
    """Sets of `SetRegressor` and `SetClassifier`."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self._model = model
        self._sets = read_more_sets(model, X)
        self.labels = None if y is None else model._numbers(y, len(self._sets), reset=False)

    def __len__(self) -> int:
        return len(self._sets)

    def scope(self, name: str) -> str:
        """See whether there is a value for each token."""
        return "set" if self._sets.column(name)[1] else "token"

    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature, over tokens or sets."""
        values, _ = self._sets.column(self._model.features_[d].name)
        keypoints = self._model.binning_.keypoints[d]
        if keypoints is not None:
            return histogram(values, keypoints)
        places = self._places(d, values)
        counts = np.bincount(places, minlength=len(self._model.binning_.categories[d]) + 1).tolist()
        return {"edges": None, "counts": counts[:-1], "missing": counts[-1]}

    def examples(self) -> list[dict[str, Any]]:
        """Choose sets at random, and give their values; categories by their places."""
        sizes = self._sets.sizes
        classes = getattr(self._model, "classes_", None)
        rows = choose_rows(sizes * len(self._sets.feature_names))
        columns = [self._column(d) for d in range(len(self._model.features_))]
        found = []
        for row in rows.tolist():
            tokens = slice(self._sets.offsets[row], self._sets.offsets[row + 1])
            of_tokens = [
                [None] * int(sizes[row]) if per_set else numbers(values[tokens], 12)
                for values, per_set in columns
            ]
            found.append(
                {
                    "name": f"Set {row}",
                    "tokens": [list(values) for values in zip(*of_tokens, strict=True)],
                    "set": [number(values[row], 12) if per_set else None for values, per_set in columns],
                    "label": self._label(row, classes),
                }
            )
        return found

    def outputs(self) -> FloatArray:
        """Apply the set function."""
        return np.asarray(self._model._applied(self._model.set_function_, self._sets)[0])

    def _column(self, d: int) -> tuple[FloatArray, bool]:
        """Give a feature's values, categories as places of the model's, and whether there is one per set."""
        name = self._model.features_[d].name
        values, per_set = self._sets.column(name)
        if name == SIZE:
            return np.full(len(values), np.nan), True  # the page counts
        if self._model.binning_.categories[d] is None:
            return values, per_set
        places = self._places(d, values).astype(np.float64)
        return np.where(places == len(self._model.binning_.categories[d]), np.nan, places), per_set

    def _places(self, d: int, codes: FloatArray) -> IntArray:
        known = {category: place for place, category in enumerate(self._model.binning_.categories[d])}
        categories = self._sets.categories[self._model.features_[d].name]
        table = np.array([*(known.get(category, len(known)) for category in categories), len(known)])
        return table[np.where(np.isnan(codes), len(categories), codes).astype(np.int64)]


class ItemExamples(Examples):
    """Sets of strings and texts, of semantic estimators."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self._model, self._X = model, X
        self._n = count_examples(X)
        self.labels = None
        if y is not None:
            self.labels = self._numbers(y)
        self._found = self._occurrences(X)

    def __len__(self) -> int:
        return self._n

    def _numbers(self, y: Any) -> npt.NDArray[Any]:
        classes = getattr(self._model, "classes_", None)
        labels = read_labels(y, self._n, "number" if classes is None else "classes")
        if classes is None or labels.classes is None:
            return labels.values
        unknown = np.setdiff1d(labels.classes, classes)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()[:5]} are not among the classes fitted, {classes.tolist()[:20]}."
            )
        return np.searchsorted(classes, labels.classes)[labels.values.astype(np.int64)]

    def _occurrences(self, X: Any) -> Any:
        model = self._model
        details, threads = model.setting_.details, count_threads(model.n_jobs)
        return occurrences(model.token_table_, (), model.setting_.cover, X, None, details, threads)

    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature, over the tokens found or over examples."""
        name, found = self._model.features_[d].name, self._found
        crossing, _ = self._model._reader()
        if name in PER_SET:
            values = found.of_sets(name)
        elif d == 0:
            values = self._values(crossing).ravel()
        elif name in crossing.rows.own:
            values = crossing.rows.own[name][found.rows]
        else:
            values = found.of_tokens(name)
        return histogram(values, self._model.binning_.keypoints[d])

    def _values(self, crossing: Any) -> FloatArray:
        """Give the tokens' values for every class, with their corrections."""
        tokens = self._found.rows
        if len(tokens) > _MOST_SAMPLED:
            tokens = np.random.default_rng(0).choice(tokens, _MOST_SAMPLED, replace=False)
        values = crossing.rows.values[tokens].copy()
        corrections = self._model.token_table_.corrections
        if corrections is not None:
            places = crossing.corrected[tokens]
            values[places >= 0] += corrections.amounts[places[places >= 0]]
        return np.asarray(values)

    def examples(self) -> list[dict[str, Any]]:
        """Choose examples at random, and give their items."""
        rows, classes = self._rows, getattr(self._model, "classes_", None)
        items, columns = read_details(take_examples(self._X, rows), self._model.setting_.details)
        parts = self._model.token_table_.tokeniser.parts(items).to_pylist()
        details = {name: column.to_pylist() for name, column in columns.items()}
        return [
            {
                "name": f"Example {row}",
                "items": part,
                "details": {
                    name: [None if value is None else number(value, 12) for value in column[place] or ()]
                    for name, column in details.items()
                },
                "label": self._label(row, classes),
            }
            for place, (row, part) in enumerate(zip(rows.tolist(), parts, strict=True))
        ]

    def tokens_shown(self) -> IntArray:
        """Give the tokens of the examples."""
        if not len(self._rows):
            return np.empty(0, np.int64)
        return np.unique(self._occurrences(take_examples(self._X, self._rows)).found.tokens).astype(np.int64)

    @cached_property
    def _rows(self) -> IntArray:
        return choose_rows(self._found.n_items)

    def outputs(self) -> FloatArray:
        """Apply the set function."""
        return np.asarray(self._model._outputs(self._X))


def choose_rows(sizes: npt.NDArray[Any]) -> IntArray:
    """Choose some sets at random, not more than can be shown."""
    order = np.random.default_rng(0).permutation(len(sizes))
    # One huge set must not leave room for no other.
    order = order[sizes[order] <= MOST_VALUES // 4][: 4 * MOST_EXAMPLES]
    fits = np.cumsum(sizes[order]) <= MOST_VALUES
    return np.sort(order[fits][:MOST_EXAMPLES]).astype(np.int64)


def histogram(values: FloatArray, keypoints: FloatArray, weights: FloatArray | None = None) -> dict[str, Any]:
    """Count numbers in bins between the first and the last keypoint; those outside are in the end bins."""
    present = ~np.isnan(values)
    inside = np.clip(values[present], keypoints[0], keypoints[-1])
    low, high = float(keypoints[0]), float(keypoints[-1])
    if high - low <= _BINS and (inside == np.round(inside)).all():
        edges = np.arange(np.floor(low), np.ceil(high) + 2) - 0.5  # a bin for each whole number
    else:
        shares = np.linspace(0.0, 1.0, _BINS + 1)
        edges = low * (1.0 - shares) + high * shares  # high - low may overflow
    counts, _ = np.histogram(inside, edges, weights=None if weights is None else weights[present])
    return {
        "edges": numbers(edges, 7),
        "counts": numbers(counts, 7),
        "missing": int(np.count_nonzero(~present)),
    }
