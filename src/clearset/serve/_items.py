"""Sets of items as JSON has them, in the form that semantic models read."""

from typing import Any

import pyarrow as pa

from clearset.serve._kinds import check_names, column, named
from clearset.tokens import Cross, Difference, OwnTokeniser

_LIST_SCHEMA = {"type": "array", "items": {"type": "string"}}
_DETAIL_SCHEMA = {"type": ["array", "null"], "items": {"type": ["number", "boolean", "null"]}}


class ItemSets:
    """Reads the sets of a semantic model.

    Parameters
    ----------
    model
        A fitted one.
    """

    def __init__(self, model: Any) -> None:
        tokeniser = model.token_table_.tokeniser
        self._own, self._texts = isinstance(tokeniser, OwnTokeniser), bool(tokeniser.in_order)
        self._pair = isinstance(tokeniser, Cross | Difference)
        self._details = tuple(model.setting_.details)
        sides = (tokeniser.left, tokeniser.right) if isinstance(tokeniser, Cross | Difference) else (0,)
        self._known = list(getattr(model, "feature_names_in_", []))
        places = [side for side in sides if isinstance(side, int)]
        self._names = self._known or [str(place) for place in range(max(places) + 1)]
        plain = [name for name in self._names if name not in self._details]
        self._columns = [plain[side] if isinstance(side, int) else side for side in sides]

    def schema(self) -> dict[str, Any]:
        """Describe one set as a JSON schema."""
        if self._own:
            return {"description": "What the model's own tokeniser takes apart."}
        items: dict[str, Any] = {"anyOf": [{"type": "string"}, _LIST_SCHEMA]} if self._texts else _LIST_SCHEMA
        pair = {"type": "array", "prefixItems": [items, items], "minItems": 2, "maxItems": 2}
        forms = [pair if self._pair else items]
        if self._known:
            missing = {"anyOf": [items, {"type": "null"}]}
            members: dict[str, Any] = {name: {} for name in self._names} | dict.fromkeys(
                self._columns, missing
            )
            members |= dict.fromkeys(self._details, _DETAIL_SCHEMA)
            forms.append({"type": "object", "properties": members, "additionalProperties": False})
        return {"anyOf": forms, "description": f"The model reads {self._form()}."}

    def read(self, sets: list[Any]) -> Any:
        """Give sets as a frame; those of a tokeniser of one's own as they are, unless they have columns."""
        if self._own and not (self._known and all(isinstance(one, dict) for one in sets)):
            return sets
        rows = [self._row(one, place) for place, one in enumerate(sets)]
        if self._own:
            return pa.table({name: pa.array([row.get(name) for row in rows]) for name in self._names})
        frame: dict[str, Any] = {name: pa.nulls(len(rows)) for name in self._names}
        for name in self._columns:
            frame[name] = self._items(name, [row.get(name) for row in rows])
        for name in self._details:
            frame[name] = self._detail(name, rows)
        return pa.table(frame)

    def _row(self, one: Any, place: int) -> dict[str, Any]:
        """Give a set by its columns."""
        if isinstance(one, dict) and self._known:
            check_names(one, self._names, place)
            row = one
        elif self._pair:
            if not isinstance(one, list) or len(one) != 2 or None in one:
                size = f" of {len(one)}" if isinstance(one, list) and one else ""
                self._refuse(f"Set {place} is {named(one)}{size}" + (" with null" if size == " of 2" else ""))
            row = dict(zip(self._columns, one, strict=True))
        else:
            if wrong := self._wrong(one):
                self._refuse(f"Set {place} is {wrong}")
            return {self._columns[0]: one}
        if not self._own:
            for name in self._columns:
                if row.get(name) is not None and (wrong := self._wrong(row[name])):
                    side = (
                        f"as {name!r}"
                        if self._known
                        else f"as part {self._columns.index(name) + 1} of its pair"
                    )
                    self._refuse(f"Set {place} has {wrong} {side}")
        return row

    def _wrong(self, value: Any) -> str | None:
        """Say what is wrong with items."""
        if isinstance(value, str) and self._texts:
            return None
        if not isinstance(value, list):
            return named(value)
        return next((f"a list with {named(item)} in it" for item in value if type(item) is not str), None)

    def _refuse(self, found: str) -> None:
        raise ValueError(f"{found}; the model reads {self._form()}.")

    def _form(self) -> str:
        form = "texts, or lists of words" if self._texts else 'lists of texts, such as ["salt", "water"]'
        if self._pair:
            form = 'pairs of lists of texts, such as [["apple"], ["pear", "plum"]]'
        return form + (f", or objects with {', '.join(map(repr, self._names))[:1000]}" if self._known else "")

    def _items(self, name: str, values: list[Any]) -> pa.Array:
        forms = {
            type(value): place for place, value in reversed(list(enumerate(values))) if value is not None
        }
        if len(forms) > 1:
            raise ValueError(
                f"Set {forms[str]} is a text and set {forms[list]} a list of words. Give all sets one form."
            )
        lists = str not in forms
        nothing: Any = [] if lists else ""
        return column(name, [nothing if each is None else each for each in values], texts=True, lists=lists)

    def _detail(self, name: str, rows: list[dict[str, Any]]) -> pa.Array:
        """Give what sets tell of each of their items, null where they do not."""
        values = []
        for place, row in enumerate(rows):
            items, value = row.get(self._columns[0]) or [], row.get(name)
            if value is None:
                value = [None] * len(items)
            if not isinstance(value, list) or (isinstance(items, list) and len(value) != len(items)):
                found = f"{len(value)} values" if isinstance(value, list) else named(value)
                raise ValueError(
                    f"Set {place} has {found} as {name!r}; give a list with one number for each of its "
                    f"{len(items)} items, null if missing."
                )
            values.append(value)
        return column(name, values, texts=False, lists=True)
