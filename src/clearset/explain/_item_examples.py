"""Sets of items and texts, as a document shows them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._details import read_details
from clearset.estimators.semantic._sources import count_examples, take_examples
from clearset.estimators.semantic._trial import occurrences
from clearset.explain._examples import Examples, FloatArray, IntArray
from clearset.explain._histogram import histogram
from clearset.explain._plain import number
from clearset.tokens import PER_SET, read_labels, refined_values

_MOST_SAMPLED = 200_000


class ItemExamples(Examples):
    """Sets of strings and texts, of semantic estimators."""

    def __init__(self, model: Any, X: Any, y: Any, names: Sequence[str | None] | None = None) -> None:
        super().__init__(model, X, y, names)
        self.labels = None if y is None else self._numbers(y)
        self._found = self._occurrences(X)
        self.sizes = self._found.n_items
        self.check_names()

    def _numbers(self, y: Any) -> npt.NDArray[Any]:
        classes = getattr(self._model, "classes_", None)
        labels = read_labels(y, count_examples(self.X), "number" if classes is None else "classes")
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
        return np.asarray(refined_values(self._model.token_table_, crossing.rows.values, tokens))

    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Give the items of some examples, and what is told of these."""
        items, columns = read_details(take_examples(self.X, rows), self._model.setting_.details)
        parts = self._model.token_table_.tokeniser.parts(items).to_pylist()
        details = {name: column.to_pylist() for name, column in columns.items()}
        return [
            self._about(row)
            | {
                "items": part,
                "details": {
                    name: [None if value is None else number(value, 12) for value in column[place] or ()]
                    for name, column in details.items()
                },
            }
            for place, (row, part) in enumerate(zip(rows.tolist(), parts, strict=True))
        ]

    def tokens_shown(self) -> IntArray:
        """Give the tokens of the examples."""
        if not len(self.chosen):
            return np.empty(0, np.int64)
        return np.unique(self._occurrences(take_examples(self.X, self.chosen)).found.tokens).astype(np.int64)

    def outputs(self) -> FloatArray:
        """Apply the set function."""
        return np.asarray(self._model._outputs(self.X))
