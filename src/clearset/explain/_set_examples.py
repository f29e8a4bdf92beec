"""Sets with features, as a document shows them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clearset.estimators._input import read_more_sets
from clearset.explain._examples import Examples, FloatArray, IntArray
from clearset.explain._histogram import histogram
from clearset.explain._plain import number, numbers
from clearset.sets import SIZE


class SetExamples(Examples):
    """Sets of `SetRegressor` and `SetClassifier`."""

    def __init__(self, model: Any, X: Any, y: Any, names: Sequence[str | None] | None = None) -> None:
        super().__init__(model, X, y, names)
        self._sets = read_more_sets(model, X)
        self.sizes = self._sets.sizes * len(self._sets.feature_names)
        self.check_names()
        self.labels = None if y is None else model._numbers(y, len(self._sets), reset=False)

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

    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Give the values of some sets; categories by their places."""
        columns = self._columns
        found = []
        for row in rows.tolist():
            start, end = self._sets.offsets[row], self._sets.offsets[row + 1]
            of_tokens = [
                [None] * int(end - start) if per_set else numbers(values[start:end], 12)
                for values, per_set in columns
            ]
            found.append(
                self._about(row)
                | {
                    "tokens": [list(values) for values in zip(*of_tokens, strict=True)],
                    "set": [number(values[row], 12) if per_set else None for values, per_set in columns],
                }
            )
        return found

    def outputs(self) -> FloatArray:
        """Apply the set function."""
        return np.asarray(self._model._applied(self._model.set_function_, self._sets)[0])

    @cached_property
    def _columns(self) -> list[tuple[FloatArray, bool]]:
        return [self._column(d) for d in range(len(self._model.features_))]

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
