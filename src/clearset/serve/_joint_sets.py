"""Rows of joint models: from JSON to the frames that they read."""

from typing import Any

import pyarrow as pa

from clearset.models import FittedJointModel, columns_of
from clearset.serve._feature_sets import FeatureSets
from clearset.serve._item_sets import ItemSets, OwnSets
from clearset.serve._json_columns import check_names, kind_of
from clearset.serve._set_reader import SetReader
from clearset.tokens import OwnTokenizer


class JointSets(SetReader):
    """Reads objects with the columns of the engines, items or texts, and those beside them."""

    def __init__(self, model: FittedJointModel) -> None:
        self._parts: list[tuple[tuple[str, ...], ItemSets | OwnSets | FeatureSets]] = []
        self._needed: list[str] = []
        for column, engine in model.engines.items():
            kind = OwnSets if isinstance(engine.table.tokenizer, OwnTokenizer) else ItemSets
            self._parts.append((columns_of(column), kind(engine, columns_of(column))))
            self._needed += columns_of(column)
        if model.dense_names:
            dense = FeatureSets(model.follow_on, model.dense_names)
            self._parts.append((tuple(model.dense_names), dense))
            self._needed += dense.needed
        self._names = model.feature_names_in

    def schema(self) -> dict[str, Any]:
        """Describe an object of columns."""
        return {
            "type": "object",
            "properties": {name: schema for _, part in self._parts for name, schema in part.members().items()},
            "required": list(dict.fromkeys(self._needed)),
            "additionalProperties": False,
            "description": "All columns of a row: items, texts, numbers and categories; null if missing.",
        }

    def _read(self, sets: list[Any]) -> pa.Table:
        for place, one in enumerate(sets):
            if not isinstance(one, dict):
                raise ValueError(
                    f"Set {place} is {kind_of(one)}; it must be an object with the columns "
                    f"{', '.join(map(repr, self._names))[:1000]}."
                )
            check_names(one, self._names, self._needed, place)
        columns: dict[str, Any] = {}
        for names, part in self._parts:
            table = part.read([{name: one[name] for name in names if name in one} for one in sets], len(sets))
            columns |= {name: table[name] for name in table.column_names}
        return pa.table(columns)
