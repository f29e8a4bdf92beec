"""Sets whose tokens have features: from JSON to the form that models read."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from clearset.models.edits import Forbid
from clearset.serve._errors import InconsistentError
from clearset.serve._json_columns import LARGEST, check_names, column, kind_of
from clearset.serve._set_reader import SetReader
from clearset.sets import PLACES, feature_columns


class FeatureSets(SetReader):
    """Reads objects with features: each a list with a value for each token, or one value for the whole set."""

    def __init__(self, model: Any, names: Sequence[str] | None = None) -> None:
        features = [feature.name for feature in model.binning.features]
        self._names = list(names or model.feature_names_in or feature_columns(model.binning.features))
        self._ordered = any(name in PLACES for name in features)
        forbidden = {logged.edit.feature for logged in model.edits if isinstance(logged.edit, Forbid)}
        self._needed = [name for name in self._names if name not in forbidden]
        fitted = zip(features, model.binning.categories, strict=True)
        # Categories are all texts or all numbers.
        self._of_texts = {name for name, found in fitted if found is not None and any(map(_is_text, found or [""]))}
        # The number of tokens of a set is not known if none of its features is a list.
        self._usual_size = 1 if model.sets_of_one else 0
        first = self._names[0]
        self._example = json.dumps(
            {first[:100]: ["a", "b"] if first in self._of_texts else [1.5, 2]}, ensure_ascii=False
        )

    @property
    def needed(self) -> list[str]:
        """The features that a set must have."""
        return self._needed

    def members(self) -> dict[str, Any]:
        """Describe each feature."""
        members = {}
        for name in self._names:
            if name in self._of_texts:
                kinds: dict[str, Any] = {"type": ["string", "null"]}
            else:
                kinds = {"type": ["number", "boolean", "null"], "minimum": -LARGEST, "maximum": LARGEST}
            members[name] = kinds | {"type": [*kinds["type"], "array"], "items": kinds}
        return members

    def schema(self) -> dict[str, Any]:
        """Describe an object of features."""
        return {
            "type": "object",
            "properties": self.members(),
            "required": self._needed,
            "additionalProperties": False,
            "description": (
                "All features: lists with a value for each token, so of one length, or one value for the whole set; "
                "null if missing. A feature has the same form in all sets. The number of tokens must be known: a set "
                f"with a value has a list.{' The order of tokens matters.' if self._ordered else ''}"
            ),
        }

    def _read(self, sets: list[Any]) -> pa.Table:
        sizes = [self._size(one, place) for place, one in enumerate(sets)]
        listed = {name for one in sets for name, value in one.items() if isinstance(value, list)}
        if not listed and not self._usual_size:
            listed = set(self._names)  # nothing is known of any set
        columns = {}
        for name in self._names:
            values = [one.get(name) for one in sets]
            if name in listed:
                values = [[None] * size if value is None else value for value, size in zip(values, sizes, strict=True)]
                self._check_lists(name, values)
            columns[name] = column(name, values, texts=name in self._of_texts, lists=name in listed)
        return pa.table(columns)

    def _size(self, one: Any, place: int) -> int:
        """Count the tokens of a set."""
        if not isinstance(one, dict):
            raise ValueError(
                f"Set {place} is {kind_of(one)}; it must be an object of features, such as {self._example}."
            )
        check_names(one, self._names, self._needed, place)
        if odd := [name for name, value in one.items() if isinstance(value, dict)]:
            raise ValueError(f"Set {place} has an object as {odd[0]!r}; give a list with a value for each token.")
        sizes = {name: len(value) for name, value in one.items() if isinstance(value, list)}
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
            raise InconsistentError(
                f"The lists of set {place} differ in length: {said}. Give one value for each token, null if missing."
            )
        if not sizes and not self._usual_size and any(value is not None for value in one.values()):
            raise InconsistentError(
                f"Set {place} has no list, so that the number of its tokens is not known. Give features of tokens as "
                f"lists, such as {self._example}; [] for a set without tokens."
            )
        return next(iter(sizes.values()), self._usual_size)

    @staticmethod
    def _check_lists(name: str, values: list[Any]) -> None:
        single = next((place for place, value in enumerate(values) if not isinstance(value, list)), None)
        if single is not None:
            raise InconsistentError(
                f"{name!r} is a single value in set {single} and a list in another. Give it one form in all sets."
            )


def _is_text(value: object) -> bool:
    return isinstance(value, str)
