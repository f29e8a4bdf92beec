"""Sets of items and texts, as a document shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.models._arrays import FloatArray, IntArray
from clearset.models.documents._histogram import histogram_of
from clearset.models.documents._shown_examples import ShownExamples
from clearset.sets import gather, number, take_examples
from clearset.tokens import PER_SET, read_details, refined_values

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel

_MOST_SAMPLED = 200_000


class ItemExamples(ShownExamples):
    """Sets of strings and texts of a `SemanticModel`."""

    def __init__(self, model: SemanticModel, X: Any, y: Any, names: Sequence[str | None] | None = None) -> None:
        reading = model.read(X)
        self._semantic, self._tokens, self._found = model, reading.of_tokens, reading.found
        super().__init__(model, reading, reading.found.n_items, X, y, names)

    def histogram(self, d: int) -> dict[str, Any]:
        """Count the values of a feature, over the tokens found or over examples."""
        name = self._model.binning.features[d].name
        if name in PER_SET:
            values = self._found.of_sets(name)
        elif d == 0:
            values = self._values().ravel()
        else:
            values = self._tokens(self._found, name)
        binning = self._model.binning
        return histogram_of(values, binning.keypoints[d], len(binning.categories[d] or ()))

    def _values(self) -> FloatArray:
        """Return the tokens' values for every class, with their corrections."""
        tokens = self._found.rows
        if len(tokens) > _MOST_SAMPLED:
            tokens = np.random.default_rng(0).choice(tokens, _MOST_SAMPLED, replace=False)
        return np.asarray(refined_values(self._semantic.table, self._semantic.reader.rows.values, tokens))

    def at(self, rows: IntArray) -> list[dict[str, Any]]:
        """Return the items of some examples, and the details of these."""
        items, columns = read_details(take_examples(self.X, rows), self._semantic.setting.details)
        parts = self._semantic.table.tokenizer.parts(items).to_pylist()
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
        if not len(self.chosen):
            return np.empty(0, np.int64)
        found = self._found.found
        return np.unique(found.tokens[gather(found.offsets, self.chosen)[0]]).astype(np.int64)
