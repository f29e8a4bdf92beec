"""Sets with features, as a document shows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.models._arrays import FloatArray, IntArray
from clearset.models.documents._histogram import histogram
from clearset.models.documents._shown_examples import ShownExamples
from clearset.sets import BUILT_IN, Category, Feature, number, numbers

if TYPE_CHECKING:
    from clearset.models._joint_model import FittedJointModel
    from clearset.models._set_model import SetModel


class SetExamples(ShownExamples):
    """Sets of `SetRegressor` and `SetClassifier`, and rows of `JointModel` as its follow-on model reads them."""

    def __init__(
        self, model: SetModel | FittedJointModel, X: Any, y: Any, names: Sequence[str | None] | None = None
    ) -> None:
        reading = model.read(X)
        self._sets = reading.sets
        super().__init__(model, reading, self._sets.sizes * len(self._sets.feature_names), X, y, names)

    def scope(self, feature: Feature) -> str:
        return BUILT_IN.get(feature.name) or ("set" if self._sets.column(feature.name)[1] else "token")

    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature, over tokens or sets."""
        values, _ = self._sets.column(self._model.binning.features[d].name)
        keypoints = self._model.binning.keypoints[d]
        if keypoints is not None:
            return histogram(values, keypoints)
        places = self._places(d, values)
        counts = np.bincount(places, minlength=len(self._known(d)) + 1).tolist()
        return {"edges": None, "counts": counts[:-1], "missing": counts[-1]}

    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Return the values of some sets; categories by their places, -1 for one that the model does not know."""
        columns = self._columns
        found = []
        for row in rows.tolist():
            start, end = self._sets.offsets[row], self._sets.offsets[row + 1]
            of_tokens = [
                [None] * int(end - start) if per_set else numbers(values[start:end], 12) for values, per_set in columns
            ]
            found.append(
                self._about(row)
                | {
                    "tokens": [list(values) for values in zip(*of_tokens, strict=True)],
                    "set": [number(values[row], 12) if per_set else None for values, per_set in columns],
                }
            )
        return found

    @cached_property
    def _columns(self) -> list[tuple[FloatArray, bool]]:
        """The values of every feature, categories as places of the model's, and whether there is one per set."""
        columns = []
        for d, feature in enumerate(self._model.binning.features):
            values, per_set = self._sets.column(feature.name)
            if feature.name in BUILT_IN:
                values, per_set = np.full(len(self._sets), np.nan), True  # the page counts
            elif self._model.binning.categories[d] is not None:
                places = self._places(d, values).astype(np.float64)
                unknown = np.where(np.isnan(values), np.nan, -1.0)
                values = np.where(places == len(self._known(d)), unknown, places)
            columns.append((values, per_set))
        return columns

    def _known(self, d: int) -> tuple[Category, ...]:
        """Return the categories of a feature that the model knows."""
        return self._model.binning.categories[d] or ()

    def _places(self, d: int, codes: FloatArray) -> IntArray:
        """Return the places of codes among the categories that the model knows; unknown ones come after the last."""
        known = {category: place for place, category in enumerate(self._known(d))}
        categories = self._sets.categories[self._model.binning.features[d].name]
        table = np.array([*(known.get(category, len(known)) for category in categories), len(known)])
        return table[np.where(np.isnan(codes), len(categories), codes).astype(np.int64)]
