"""What a server can answer, as plain data: it knows the model, but no HTTP."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from clearset.artifact import check_target
from clearset.display import render_report
from clearset.models import FittedJointModel, FittedModel, Model, Reading, SemanticModel
from clearset.models.documents import MOST_VALUES, described_model
from clearset.serve._answer_schemas import edit_schema
from clearset.serve._classes import Classes
from clearset.serve._comparison import check_alike, comparison
from clearset.serve._edit_trials import described, edited
from clearset.serve._errors import AbsentError, TooLargeError
from clearset.serve._feature_sets import FeatureSets
from clearset.serve._item_sets import ItemSets, OwnSets
from clearset.serve._joint_sets import JointSets
from clearset.serve._json_columns import kind_of
from clearset.serve._limits import Limits
from clearset.serve._query_parameters import ITEMS_LIMIT, OFFSET, ORDER, ROW, TOKENS_LIMIT
from clearset.serve._set_reader import SetReader
from clearset.serve._token_search import TokenSearch
from clearset.tokens import OwnTokenizer

NOT_TAKEN: Mapping[str, Any] = {"not": {}}
"""The schema of a parameter that a model does not take."""

EXPLORER = Path(__file__).parent / "templates" / "explorer.js"
_OF_MODEL = ("estimator", "semantic", "loss", "trusts", "certificate", "edits", "parameters")
_OF_FEATURE = ("name", "keypoints", "categories", "monotonic", "shape", "scope")
_OF_TOKENS = ("tokeniser", "setting", "cover", "value", "n_tokens", "n_examples")


@dataclass
class Counts:
    """How many sets and tokens a request was computed for."""

    sets: int = 0
    tokens: int = 0

    def add(self, reading: Reading) -> None:
        """Count sets that were read."""
        self.sets += len(reading)
        self.tokens += reading.n_tokens


@dataclass(frozen=True)
class Accepted:
    """What a model accepts at an endpoint.

    Parameters
    ----------
    schemas : mapping of str to mapping
        The JSON schemas of parameters where they depend on the model; `NOT_TAKEN` for those that it does not take.
    required : tuple of str, default=()
        The parameters that this model needs besides those that all do.
    """

    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    def of(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schemas of an endpoint's parameters for this model."""
        found = {name: {**schema, **self.schemas.get(name, {})} for name, schema in parameters.items()}
        return {name: schema for name, schema in found.items() if self.schemas.get(name) != NOT_TAKEN}


class Service:
    """A fitted model that answers questions; `create_app` describes the parameters in full.

    Parameters
    ----------
    model : fitted model
        The model to show.
    X, y : array-like, optional
        Examples and their labels.
    names : sequence of str, optional
        The names of the examples.
    other : tuple of str and fitted model, optional
        A name, and the model of this name to compare with.
    edits_to : path-like, optional
        The file that edited models may be saved to.
    limits : Limits, optional
        How much is answered.
    """

    def __init__(
        self,
        model: FittedModel,
        X: Any = None,
        y: Any = None,
        names: Sequence[str | None] | None = None,
        other: tuple[str, FittedModel] | None = None,
        edits_to: str | PathLike[str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        if X is None and (y is not None or names is not None):
            raise ValueError("There are labels or names of examples, but no examples. Give these as well.")
        if other is not None and X is None:
            raise ValueError("Two models are compared on examples, but there are none. Give some.")
        if other is not None:
            check_alike(other[1], model, other[0])
        if edits_to is not None:
            check_target(edits_to)
        self._model, self._edits_to, self._limits = model.as_model(), edits_to, limits or Limits()
        served = self._model
        self._sets, self._classes = set_reader(served), Classes(served.link.classes)
        self._examples = None if X is None else served.examples(X, y, names)
        document = described_model(served, self._examples, tokens=False)
        if other is not None and self._examples is not None:
            document["comparison"] = comparison(other[1].as_model(), served, self._examples, other[0])
        document["editing"] = {"classes": _value_classes(served), "saves": edits_to is not None}
        self._about = {key: document[key] for key in _OF_MODEL}
        self._about["classes"] = self._classes.values
        self._about["set"] = self._sets.schema()
        self._about["width"] = served.function.width
        self._about["features"] = [{key: f[key] for key in _OF_FEATURE} for f in document["features"]]
        self._search: TokenSearch | None = None
        if isinstance(served, SemanticModel):
            self._about["tokens"] = {key: document["tokens"][key] for key in _OF_TOKENS}
            self._search = TokenSearch(served, self._limits.rows)
        self.page = render_report(document, script=EXPLORER, connect="'self'")

    def accepted(self) -> dict[str, Accepted]:
        """Return what the model accepts, by the names of the endpoints that it answers."""
        sets, explained = self._about["set"], self._classes.explained_schema()
        predicted = {"items": sets, "maxItems": self._limits.most_sets(self._model)}
        edits = {"items": edit_schema([feature["name"] for feature in self._about["features"]])}
        save = {} if self._edits_to is not None else {"const": False}
        found = {
            "predict": Accepted({"sets": predicted}),
            "explain": Accepted({"sets": {"items": sets, "maxItems": self._limits.rows}, "label": explained}),
            "edit": Accepted({"sets": predicted, "save": save, "edits": edits}),
            "model": Accepted(),
            "health": Accepted(),
        }
        if isinstance(self._model, FittedJointModel):
            del found["edit"]
        if self._examples is not None:
            found["example"] = Accepted({"row": {"maximum": len(self._examples) - 1}})
        if self._search is not None:
            label, needed = self._classes.column_schema()
            found["tokens"] = Accepted({"label": label}, ("label",) if needed else ())
            found["items"] = found["known"] = Accepted()
        return found

    @property
    def labels(self) -> dict[str, str]:
        """What the model is, in words that a metric has as labels."""
        return {"estimator": self._about["estimator"], "edits": str(len(self._about["edits"]))}

    def model(self, _asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Describe the model."""
        return self._about

    def health(self, _asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Confirm that the service works."""
        return {"status": "ok"}

    def predict(self, asked: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        """Predict sets."""
        return self._predicted(self._model, asked.get("sets"), counts)

    def edit(self, asked: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        """Try edits on a copy of the model, and save it if that is wanted and allowed."""
        if isinstance(self._model, FittedJointModel):
            raise AbsentError("A joint model is edited by its parts, in Python: with_part puts an edited one back.")
        save = asked.get("save", False)
        if not isinstance(save, bool):
            raise ValueError(f"'save' must be true or false; received {kind_of(save)}.")
        if save and self._edits_to is None:
            raise ValueError("This server was started without a file for edited models, so it saves none.")
        editor = edited(self._model, asked.get("edits"))
        found = described(editor, self._examples)
        if asked.get("sets") is not None:
            models = {"before": self._model, "after": editor.model}
            found |= {when: self._predicted(model, asked["sets"], counts) for when, model in models.items()}
        if save and self._edits_to is not None:
            editor.model.save(self._edits_to)
        return found | {"saved": save}

    def _predicted(self, model: Model, sets: Any, counts: Counts) -> dict[str, Any]:
        X = self._sets.read(sets, self._limits.most_sets(model))
        reading, link = self._limits.read_for_prediction(model, X), model.link
        counts.add(reading)
        outputs = reading.outputs()
        if not model.predicts:
            return {"estimates": link.estimates(outputs).tolist()}
        found = {"predictions": link.predictions(outputs).tolist()}
        if link.has_probabilities:
            found["classes"] = self._classes.values
            found["probabilities"] = link.probabilities(outputs).tolist()
        return found

    def explain(self, asked: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        """Explain the predictions for sets."""
        effects = asked.get("effects", False)
        if not isinstance(effects, bool):
            raise ValueError(f"'effects' must be true or false; received {kind_of(effects)}.")
        label = self._classes.explained(asked.get("label"))
        X = self._sets.read(asked.get("sets"), self._limits.rows)
        reading = self._limits.read_for_explanation(self._model, X, effects)
        counts.add(reading)
        return reading.explain(label, effects=effects, frames="pyarrow").to_json()

    def tokens(self, asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Search the token table."""
        search = self._table()
        by, offset = ORDER.read("by", asked), OFFSET.read("offset", asked)
        limit = TOKENS_LIMIT.read("limit", asked)
        column = self._classes.column(asked.get("label"))
        return search(asked.get("search", ""), by, column, offset, limit)

    def items(self, asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Search the items that tokens are made of."""
        limit = ITEMS_LIMIT.read("limit", asked)
        return self._table().items(asked.get("search", ""), limit)

    def example(self, asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Return one of the examples."""
        examples = self._examples
        if examples is None:
            raise AbsentError("This server was started without data, so it has no examples.")
        row = replace(ROW, high=len(examples) - 1).read("row", asked)
        if examples.sizes[row] > MOST_VALUES:
            raise TooLargeError(
                f"{examples.name(row)} has {examples.sizes[row]:,} numbers or items; at most {MOST_VALUES:,} are sent."
            )
        (found,) = examples.at(np.array([row]))
        return found

    def known(self, asked: Mapping[str, Any], _counts: Counts) -> dict[str, Any]:
        """Describe the tokens of one set, in the form in which the page holds tokens."""
        items = asked.get("items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError('\'items\' must be a list of texts, such as ["salt", "water"].')
        return self._table().known(items)

    def _table(self) -> TokenSearch:
        if self._search is None:
            raise AbsentError("This model reads sets of numbers and categories; it has no token table.")
        return self._search


def _value_classes(model: Model) -> list[Any] | None:
    """Return the classes that the values of tokens are shares of; None where they are numbers, or there are none."""
    return Classes(model.table.classes).values if isinstance(model, SemanticModel) else None


def set_reader(model: Model) -> SetReader:
    """Return what reads the sets of a model out of requests."""
    if isinstance(model, FittedJointModel):
        return JointSets(model)
    if not isinstance(model, SemanticModel):
        return FeatureSets(model)
    return OwnSets(model) if isinstance(model.table.tokenizer, OwnTokenizer) else ItemSets(model)
