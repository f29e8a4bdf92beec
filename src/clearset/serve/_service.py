"""What a server can answer, as plain data: it knows the model, but no HTTP."""

from collections.abc import Mapping
from importlib.resources import files
from threading import Lock
from typing import Any

import numpy as np

from clearset.explain import render_report, report_document
from clearset.serve._compare import comparison
from clearset.serve._search import MOST_ROWS, ORDERS, TokenSearch
from clearset.serve._sets import read_json_sets

_OF_MODEL = ("estimator", "semantic", "loss", "classes", "trusts", "certificate", "parameters")
_OF_FEATURE = ("name", "keypoints", "categories", "monotonic", "shape", "scope")
_OF_TOKENS = ("tokeniser", "setting", "cover", "value", "n_tokens", "n_examples")


class Service:
    """A fitted model that answers questions.

    Parameters
    ----------
    model
        The model.
    X, y
        Examples to show it on, and their labels.
    other, name
        A model to compare it with on X, one that was in use before, and what to call it.
    """

    def __init__(
        self, model: Any, X: Any = None, y: Any = None, other: Any = None, name: str = "the other model"
    ) -> None:
        if other is not None and X is None:
            raise ValueError("Two models are compared on examples, but there are none. Give some.")
        self._model = model
        document = report_document(model, X, y) | {"served": True}
        if other is not None:
            document["comparison"] = comparison(other, model, X, y, name)
        self._about = {key: document[key] for key in _OF_MODEL}
        self._about["width"] = document["function"]["width"]
        self._about["features"] = [{key: f[key] for key in _OF_FEATURE} for f in document["features"]]
        if document["semantic"]:
            self._about["tokens"] = {key: document["tokens"][key] for key in _OF_TOKENS}
        self._search = TokenSearch(model) if document["semantic"] else None
        script = (files("clearset.serve") / "templates" / "explorer.js").read_text(encoding="utf-8")
        self.page = render_report(document, scripts=[script], connect="'self'")
        # How many threads torch uses is a setting of the whole process, which models change while they work.
        self._lock = Lock()

    def model(self, _asked: Mapping[str, Any]) -> dict[str, Any]:
        """Say what the model is."""
        return self._about

    def health(self, _asked: Mapping[str, Any]) -> dict[str, Any]:
        """Say that all is well."""
        return {"status": "ok"}

    def predict(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Predict sets."""
        X = read_json_sets(self._model, asked.get("sets"))
        with self._lock:
            if not hasattr(self._model, "predict"):
                return {"estimates": np.asarray(self._model.transform(X)).tolist()}
            found = {"predictions": np.asarray(self._model.predict(X)).tolist()}
            if hasattr(self._model, "predict_proba"):
                found["classes"] = self._model.classes_.tolist()
                found["probabilities"] = self._model.predict_proba(X).tolist()
        return found

    def explain(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take predictions apart."""
        effects = asked.get("effects", False)
        if not isinstance(effects, bool):
            raise ValueError(f"'effects' must be true or false; received {str(effects)[:100]!r}.")
        label = self._class(asked.get("label"))
        X = read_json_sets(self._model, asked.get("sets"))
        with self._lock:
            explanation = self._model.explain(X, label, effects=effects)
        document: dict[str, Any] = explanation.to_json()
        return document

    def tokens(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Search the token table."""
        search = self._table()
        by = asked.get("by") or ORDERS[0]
        if by not in ORDERS:
            raise ValueError(f"'by' is {by[:100]!r}; choose one of: {', '.join(ORDERS)}.")
        offset = _whole("offset", asked.get("offset", "0"), 0, 2**31 - 1)
        limit = _whole("limit", asked.get("limit", "20"), 1, MOST_ROWS)
        column = 0
        classes = self._classes()
        if len(classes) > 2:
            column = 0 if asked.get("label") is None else classes.index(self._class(asked["label"]))
        return search(asked.get("search", ""), by, column, offset, limit)

    def known(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the tokens of one set, as the page holds tokens."""
        items = asked.get("items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError("'items' must be a list of texts.")
        return self._table().known(items)

    def _table(self) -> TokenSearch:
        if self._search is None:
            raise ValueError("This model reads sets of numbers and categories; it has no token table.")
        return self._search

    def _classes(self) -> list[Any]:
        return self._model.classes_.tolist() if hasattr(self._model, "classes_") else []

    def _class(self, label: Any) -> Any:
        """Return the class that is written so."""
        if label is None:
            return None
        names = {str(each): each for each in self._classes()}
        if str(label) not in names:
            known = f"The classes are: {', '.join(names)[:1000]}." if names else "The model has no classes."
            raise ValueError(f"There is no class {str(label)[:100]!r}. {known}")
        return names[str(label)]


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not low <= int(text) <= high:
        raise ValueError(
            f"'{name}' is {text[:100]!r}; it must be a whole number from {low:,} to {high:,}, as digits."
        )
    return int(text)
