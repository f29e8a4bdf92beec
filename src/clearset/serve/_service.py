"""What a server can answer, as plain data: it knows the model, but no HTTP."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearset.explain import render_report
from clearset.explain._document import described_model, read_examples
from clearset.explain._examples import MOST_VALUES
from clearset.serve._classes import Classes
from clearset.serve._compare import check_alike, comparison
from clearset.serve._features import FeatureSets
from clearset.serve._items import ItemSets, OwnSets
from clearset.serve._kinds import named
from clearset.serve._limits import (
    MOST_EXPLAINED,
    TooLargeError,
    check_explanation,
    check_prediction,
    most_predicted,
)
from clearset.serve._search import MOST_ITEMS, MOST_ROWS, ORDERS, TokenSearch
from clearset.serve._sets import SetReader
from clearset.tokens import OwnTokeniser

EXPLORER = Path(__file__).parent / "templates" / "explorer.js"
_OF_MODEL = ("estimator", "semantic", "loss", "trusts", "certificate", "parameters")
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
    names
        What to call the examples; by default by their rows.
    other, name
        A model to compare it with on X, one that was in use before, and what to call it.
    """

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        names: Sequence[str | None] | None = None,
        other: Any = None,
        name: str = "the other model",
    ) -> None:
        if X is None and (y is not None or names is not None):
            raise ValueError("There are labels or names of examples, but no examples. Give these as well.")
        if other is not None and X is None:
            raise ValueError("Two models are compared on examples, but there are none. Give some.")
        if other is not None:
            check_alike(other, model, name)
        check_is_fitted(model)
        self._model, self._sets, self._classes = model, set_reader(model), Classes(model)
        self._examples = None if X is None else read_examples(model, X, y, names)
        document = described_model(model, self._examples, tokens=False)
        if other is not None and self._examples is not None:
            document["comparison"] = comparison(other, model, self._examples, name)
        self._about = {key: document[key] for key in _OF_MODEL}
        self._about["classes"] = self._classes.values
        self._about["set"] = self._sets.schema()
        self._about["width"] = document["function"]["width"]
        self._about["features"] = [{key: f[key] for key in _OF_FEATURE} for f in document["features"]]
        if document["semantic"]:
            self._about["tokens"] = {key: document["tokens"][key] for key in _OF_TOKENS}
        self._search = TokenSearch(model) if document["semantic"] else None
        self.page = render_report(document, script=EXPLORER, connect="'self'")
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
        X = self._sets.read(asked.get("sets"), most_predicted(self._model))
        check_prediction(self._model, X)
        with self._lock:
            if not hasattr(self._model, "predict"):
                return {"estimates": np.asarray(self._model.transform(X)).tolist()}
            found = {"predictions": np.asarray(self._model.predict(X)).tolist()}
            if hasattr(self._model, "predict_proba"):
                found["classes"] = self._classes.values
                found["probabilities"] = self._model.predict_proba(X).tolist()
        return found

    def explain(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take predictions apart."""
        effects = asked.get("effects", False)
        if not isinstance(effects, bool):
            raise ValueError(f"'effects' must be true or false; received {named(effects)}.")
        label = self._classes.explained(asked.get("label"))
        X = self._sets.read(asked.get("sets"), MOST_EXPLAINED)
        check_explanation(self._model, X, effects)
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
        column = self._classes.column(asked.get("label"))
        return search(asked.get("search", ""), by, column, offset, limit)

    def items(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Search the items that tokens are made of."""
        limit = _whole("limit", asked.get("limit", "12"), 1, MOST_ITEMS)
        return self._table().items(asked.get("search", ""), limit)

    def example(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Give one of the examples."""
        examples = self._examples
        if examples is None:
            raise ValueError("This server was started without data, so it has no examples.")
        if "row" not in asked:
            raise ValueError(
                f"'row' is missing; give a whole number from 0 to {len(examples) - 1:,}, as digits."
            )
        row = _whole("row", asked["row"], 0, len(examples) - 1)
        if examples.sizes[row] > MOST_VALUES:
            raise TooLargeError(
                f"{examples.name(row)} has {examples.sizes[row]:,} numbers or items; at most {MOST_VALUES:,} are sent."
            )
        (found,) = examples.at(np.array([row]))
        return found

    def known(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the tokens of one set, as the page holds tokens."""
        items = asked.get("items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError('\'items\' must be a list of texts, such as ["salt", "water"].')
        return self._table().known(items)

    def _table(self) -> TokenSearch:
        if self._search is None:
            raise ValueError("This model reads sets of numbers and categories; it has no token table.")
        return self._search


def set_reader(model: Any) -> SetReader:
    """Give what reads the sets of a model."""
    if not hasattr(model, "token_table_"):
        return FeatureSets(model)
    return OwnSets(model) if isinstance(model.token_table_.tokeniser, OwnTokeniser) else ItemSets(model)


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not low <= int(text) <= high:
        raise ValueError(
            f"'{name}' is {text[:100]!r}; it must be a whole number from {low:,} to {high:,}, as digits."
        )
    return int(text)
