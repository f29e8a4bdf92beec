"""Sets of items: from JSON to the form that semantic models read."""

from collections.abc import Sequence
from typing import Any, NoReturn

import pyarrow as pa

from clearset.models import SemanticModel
from clearset.serve._errors import InconsistentError
from clearset.serve._json_columns import LARGEST, check_names, column, kind_of
from clearset.serve._set_reader import SetReader
from clearset.tokens import Words

_LIST_SCHEMA = {"type": "array", "items": {"type": "string"}}
_DETAIL_SCHEMA = {
    "type": ["array", "null"],
    "items": {"type": ["number", "boolean", "null"], "minimum": -LARGEST, "maximum": LARGEST},
}


class OwnSets(SetReader):
    """Reads what a user's own tokenizer splits: any JSON value, or objects with the model's columns."""

    def __init__(self, model: SemanticModel, names: Sequence[str] | None = None) -> None:
        self._names = list(names or model.feature_names_in or [])

    def members(self) -> dict[str, Any]:
        """Describe each column."""
        return {name: {} for name in self._names}

    def schema(self) -> dict[str, Any]:
        """Describe a set that may be any value."""
        return {"description": "What the model's own tokenizer splits into tokens."}

    def _read(self, sets: list[Any]) -> Any:
        if not self._names or not all(isinstance(one, dict) for one in sets):
            return sets
        for place, one in enumerate(sets):
            check_names(one, self._names, self._names, place)
        return pa.table({name: pa.array([one[name] for one in sets]) for name in self._names})


class ItemSets(SetReader):
    """Reads lists of items, texts or, for two columns, pairs of these; or objects with the model's columns."""

    def __init__(self, model: SemanticModel, names: Sequence[str] | None = None) -> None:
        tokenizer = model.table.tokenizer
        pair = bool(tokenizer.sides)
        self._texts = bool(tokenizer.in_order) or isinstance(tokenizer, Words)
        self._details = tuple(model.setting.details)
        sides = tokenizer.sides or (0,)
        known = list(names or model.feature_names_in or [])
        places = [side for side in sides if isinstance(side, int)]
        self._names = known or [str(place) for place in range(max(places) + 1)]
        plain = [name for name in self._names if name not in self._details]
        self._columns = [plain[side] if isinstance(side, int) else side for side in sides]
        self._needed = [*self._columns, *self._details]
        self._row_of = self._of_pair if pair else self._of_items
        self._row_of_object = self._of_object if known else self._row_of
        self._form = _form(pair, self._texts, known, self._details)
        self._schema = self._make_schema(pair, bool(known))
        parts = [f"as {name!r}" if known else f"as part {k + 1} of its pair" for k, name in enumerate(self._columns)]
        self._parts = dict(zip(self._columns, parts, strict=True))

    def schema(self) -> dict[str, Any]:
        """Describe lists, texts or pairs, and objects."""
        return self._schema

    def members(self) -> dict[str, Any]:
        """Describe each column."""
        missing = {"anyOf": [self._items_schema(), {"type": "null"}]}
        members: dict[str, Any] = {name: {} for name in self._names}
        return members | dict.fromkeys(self._columns, missing) | dict.fromkeys(self._details, _DETAIL_SCHEMA)

    def _items_schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, _LIST_SCHEMA]} if self._texts else _LIST_SCHEMA

    def _make_schema(self, pair: bool, objects: bool) -> dict[str, Any]:
        items = self._items_schema()
        named = {
            "type": "object",
            "properties": self.members(),
            "required": self._needed,
            "additionalProperties": False,
        }
        two = {"type": "array", "prefixItems": [items, items], "minItems": 2, "maxItems": 2}
        forms = [] if self._details else [two if pair else items]
        if objects:
            forms.append(named)
        return {"anyOf": forms, "description": f"The model reads {self._form}."}

    def _read(self, sets: list[Any]) -> pa.Table:
        rows = [
            self._row_of_object(one, place) if isinstance(one, dict) else self._row_of(one, place)
            for place, one in enumerate(sets)
        ]
        frame: dict[str, Any] = {name: pa.nulls(len(rows)) for name in self._names}
        for name in self._columns:
            frame[name] = self._items(name, [row.get(name) for row in rows])
        for name in self._details:
            frame[name] = self._detail(name, rows)
        return pa.table(frame)

    def _of_items(self, one: Any, place: int) -> dict[str, Any]:
        if self._details:
            self._refuse(f"Set {place} is {kind_of(one)}")
        if wrong := self._wrong(one):
            self._refuse(f"Set {place} is {wrong}")
        return {self._columns[0]: one}

    def _of_pair(self, one: Any, place: int) -> dict[str, Any]:
        if not isinstance(one, list) or len(one) != 2 or None in one:
            size = f" of {len(one)}" if isinstance(one, list) and one else ""
            self._refuse(f"Set {place} is {kind_of(one)}{size}" + (" with null" if size == " of 2" else ""))
        return self._checked(dict(zip(self._columns, one, strict=True)), place)

    def _of_object(self, one: dict[str, Any], place: int) -> dict[str, Any]:
        check_names(one, self._names, self._needed, place)
        return self._checked(one, place)

    def _checked(self, row: dict[str, Any], place: int) -> dict[str, Any]:
        for name, part in self._parts.items():
            if row.get(name) is not None and (wrong := self._wrong(row[name])):
                self._refuse(f"Set {place} has {wrong} {part}")
        return row

    def _wrong(self, value: Any) -> str | None:
        """Return what items are instead of what they should be; None if they are right."""
        if isinstance(value, str) and self._texts:
            return None
        if not isinstance(value, list):
            return kind_of(value)
        return next((f"a list with {kind_of(item)} in it" for item in value if type(item) is not str), None)

    def _refuse(self, found: str) -> NoReturn:
        raise ValueError(f"{found}; the model reads {self._form}.")

    def _items(self, name: str, values: list[Any]) -> pa.Array:
        forms = {type(value): place for place, value in reversed(list(enumerate(values))) if value is not None}
        if len(forms) > 1:
            raise InconsistentError(
                f"Set {forms[str]} is a text and set {forms[list]} a list of words. Give all sets one form."
            )
        lists = str not in forms
        nothing: Any = [] if lists else ""
        return column(name, [nothing if each is None else each for each in values], texts=True, lists=lists)

    def _detail(self, name: str, rows: list[dict[str, Any]]) -> pa.Array:
        """Return the column of a detail: for each set one number for each of its items, null where absent."""
        values = []
        for place, row in enumerate(rows):
            items, value = row.get(self._columns[0]) or [], row.get(name)
            if value is None:
                value = [None] * len(items)
            if not isinstance(value, list) or (isinstance(items, list) and len(value) != len(items)):
                found = f"{len(value)} values" if isinstance(value, list) else kind_of(value)
                raise InconsistentError(
                    f"Set {place} has {found} as {name!r}; give a list with one number for each of its "
                    f"{len(items)} items, null if missing."
                )
            values.append(value)
        return column(name, values, texts=False, lists=True)


def _form(pair: bool, texts: bool, names: list[str], details: Sequence[str]) -> str:
    objects = f"objects with {', '.join(map(repr, names))[:1000]}"
    if details:
        return objects
    form = "texts, or lists of words" if texts else 'lists of texts, such as ["salt", "water"]'
    if pair:
        form = 'pairs of lists of texts, such as [["apple"], ["pear", "plum"]]'
    return f"{form}, or {objects}" if names else form
