"""The JSON interface as one table of endpoints, from which it is served, and with what a model reads described."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearset.serve._answer_schemas import (
    CLASS,
    EDITED,
    EXAMPLE,
    EXPLANATION,
    HEALTH,
    ITEMS,
    KNOWN,
    MODEL,
    PREDICTION,
    TEXT,
    TOKENS,
    array,
)
from clearset.serve._edit_trials import MOST_EDITS
from clearset.serve._query_parameters import ITEMS_LIMIT, OFFSET, ORDER, ROW, TOKENS_LIMIT
from clearset.serve._token_search import MOST_WORDS

OPEN_PATH = "/health"
"""What programs that watch the server ask for: it says nothing of the model, and needs no key."""

_SETS = {
    "type": "array",
    "minItems": 1,
    "description": (
        "The member 'set' of /api/model is the schema of one set. Models of sets read objects with all features, each "
        "a list with a value for each token or one value for the whole set; a feature that is null is missing, and a "
        "set whose features all are is empty. Semantic models read lists of texts; texts if they read words; pairs of "
        "lists if they read two columns; or objects with their columns. All sets of a request have one form."
    ),
}


@dataclass(frozen=True)
class Endpoint:
    """One kind of request that a server answers.

    `answer` is the JSON schema of the answer; `query` has those of the parameters in the address, and `body` those of
    the members of the body, by name.
    """

    method: str
    path: str
    name: str  # the method of `Service` that answers
    summary: str
    answer: Mapping[str, Any]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    works: bool = True  # otherwise the answer is ready, and needs no worker
    long: bool = False  # whether it may take seconds, also for a short request


ENDPOINTS = (
    Endpoint(
        "POST", "/api/predict", "predict", "Predict sets.", answer=PREDICTION, body={"sets": _SETS}, required=("sets",)
    ),
    Endpoint(
        "POST",
        "/api/explain",
        "explain",
        "Explain the predictions for sets: from the base rate, what every token and feature of the set adds.",
        answer=EXPLANATION,
        body={
            "sets": _SETS,
            "label": {
                "anyOf": [CLASS, {"type": "null"}],
                "description": "The class to explain, as /api/model has it; by default the one predicted.",
            },
            "effects": {"type": "boolean", "description": "Whether to compute the effects of changing features."},
        },
        required=("sets",),
        long=True,
    ),
    Endpoint(
        "GET",
        "/api/model",
        "model",
        "Describe the model: the sets that it reads, features, classes, parameters, and its certificate.",
        answer=MODEL,
        works=False,
    ),
    Endpoint(
        "GET",
        "/api/example",
        "example",
        "Return one of the examples that the server was started with, in the form of the page.",
        answer=EXAMPLE,
        query={"row": ROW.schema() | {"description": "Its row in the data, from 0."}},
        required=("row",),
    ),
    Endpoint(
        "GET",
        "/api/tokens",
        "tokens",
        "Search the token table of a semantic model.",
        answer=TOKENS,
        query={
            "search": {
                "type": "string",
                "description": (
                    f"At most {MOST_WORDS} words, or parts of words, that a token must contain, in any case; spaces "
                    "and commas separate them."
                ),
            },
            "by": ORDER.schema(),
            "label": {
                "type": "string",
                "description": (
                    "The class whose values are returned: a text, or a number as in JSON. It is required if the model "
                    "has more than two classes."
                ),
            },
            "offset": OFFSET.schema(),
            "limit": TOKENS_LIMIT.schema(),
        },
    ),
    Endpoint(
        "GET",
        "/api/items",
        "items",
        "Search the items that the tokens of a semantic model are made of.",
        answer=ITEMS,
        query={
            "search": {"type": "string", "description": "A text that an item must contain, in any case."},
            "limit": ITEMS_LIMIT.schema(),
        },
    ),
    Endpoint(
        "POST",
        "/api/known",
        "known",
        "Return the tokens of one set of items and all that is known of them, in the form of the page.",
        answer=KNOWN,
        body={"items": array(TEXT)},
        required=("items",),
    ),
    Endpoint(
        "POST",
        "/api/edit",
        "edit",
        "Try edits on a copy of the model, which is verified; the model that is served stays as it is.",
        answer=EDITED,
        body={
            "edits": array(description=f"At most {MOST_EDITS} edits, made one after the other.")
            | {"maxItems": MOST_EDITS},
            "sets": _SETS,
            "save": {
                "type": "boolean",
                "description": "Whether to save the edited model to the file that the server was started with.",
            },
        },
        required=("edits",),
        long=True,
    ),
    Endpoint("GET", OPEN_PATH, "health", "Confirm that the server is running.", answer=HEALTH, works=False),
)
