"""The classes of a model as JSON values: numbers, truth values or texts, the same in all answers."""

import json
from typing import Any

import numpy.typing as npt


class Classes:
    """Finds the classes that requests name; `values` are the classes as JSON values, None for a model of numbers."""

    def __init__(self, classes: npt.NDArray[Any] | None) -> None:
        self._classes: list[Any] = [] if classes is None else classes.tolist()
        self.values: list[Any] | None = [_as_json(each) for each in self._classes] or None
        # Two classes share one output, and the values of the token table are those of the second.
        self._several = len(self._classes) > 2

    def explained(self, label: Any) -> Any:
        """Return the class that a request wants explained; None where it names none."""
        if label is None:
            return None
        place = self._place(label)
        if place == 0 and not self._several:
            second = json.dumps((self.values or [])[1], ensure_ascii=False)
            raise ValueError(
                f"'label' is the first of two classes, but explanations speak for the second, {second[:100]}: what is "
                "added to the one is taken from the other. Leave 'label' out."
            )
        return self._classes[place]

    def explained_schema(self) -> dict[str, Any]:
        """Describe the classes that `explained` takes as a JSON schema."""
        allowed = (self.values or []) if self._several else (self.values or [])[1:]
        return {"enum": [*allowed, None]}

    def column_schema(self) -> tuple[dict[str, Any], bool]:
        """Describe the classes that `column` takes as a JSON schema, and whether one is needed."""
        texts = [each if isinstance(each, str) else json.dumps(each) for each in self.values or []]
        return ({"enum": texts} if texts else {"not": {}}), self._several

    def column(self, text: str | None) -> int:
        """Return the column of the class that a query names, where each class has a column; 0 otherwise."""
        if text is None and self._several:
            raise ValueError(
                f"'label' is missing: the values of tokens differ by class. The classes are {self._listed()}; give one."
            )
        place = 0 if text is None else self._place(self._spelled(text))
        return place if self._several else 0

    def _spelled(self, text: str) -> Any:
        """Read a class from a query: texts as they are, other values as in JSON."""
        if self.values is None or text in self.values:
            return text
        try:
            return json.loads(text.lower())  # Python's True as well
        except (ValueError, RecursionError):
            return text

    def _place(self, label: Any) -> int:
        for place, value in enumerate(self.values or []):
            # To Python, but not in JSON, true is 1.
            if value == label and isinstance(value, bool) == isinstance(label, bool):
                return place
        allowed = "The model has no classes; leave 'label' out."
        if self.values is not None:
            allowed = f"The classes are {self._listed()}; write one of them just so."
        raise ValueError(f"There is no class {json.dumps(label, ensure_ascii=False)[:100]}. {allowed}")

    def _listed(self) -> str:
        return json.dumps(self.values, ensure_ascii=False)[:1000]


def _as_json(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)
