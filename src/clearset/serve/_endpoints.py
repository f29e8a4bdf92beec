"""The JSON interface as one table of endpoints, from which it is served and described."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearset.serve._answer_schemas import (
    CLASS,
    EDIT,
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
    members,
)
from clearset.serve._edit_trials import MOST_EDITS
from clearset.serve._errors import ERRORS
from clearset.serve._limits import MOST_NUMBERS, Limits
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
        "lists if they read two columns; or objects with their columns."
    ),
    "items": {"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "string"}]},
    "examples": [[{"stars": [5, 4, None], "price": 12.5}], [["salt", "water"]], ["a text"]],
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
        body={"items": {"type": "array", "items": {"type": "string"}}},
        required=("items",),
    ),
    Endpoint(
        "POST",
        "/api/edit",
        "edit",
        "Try edits on a copy of the model, which is verified; the model that is served stays as it is.",
        answer=EDITED,
        body={
            "edits": array(EDIT, f"At most {MOST_EDITS} edits, made one after the other."),
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


def describe(version: str, needs_key: bool, limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of all endpoints, of which all but one may need a key."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        operation: dict[str, Any] = {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "responses": {
                "200": _content("The answer.", endpoint.answer),
                "default": {"$ref": "#/components/responses/Error"},
            },
        }
        if endpoint.query:
            operation["parameters"] = [
                {"name": name, "in": "query", "required": name in endpoint.required, "schema": schema}
                for name, schema in endpoint.query.items()
            ]
        if endpoint.body:
            schema = {
                "type": "object",
                "properties": dict(endpoint.body),
                "required": list(endpoint.required),
                "additionalProperties": False,
            }
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        if needs_key and endpoint.path != OPEN_PATH:
            operation["security"] = [{"key": []}]
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    error = members({"code": {"enum": list(ERRORS)}, "message": TEXT, "request_id": TEXT})
    components: dict[str, Any] = {"responses": {"Error": _content("What was wrong, in a sentence.", error)}}
    if needs_key:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "clearset",
            "summary": "Predictions of a model of sets, and their explanations.",
            "description": _about(limits),
            "version": version,
        },
        "paths": paths,
        "components": components,
    }


def _content(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _about(limits: Limits) -> str:
    return (
        f"Requests with a body are JSON, as application/json, of {limits.body:,} bytes at most; pages of other sites "
        f"may not send any. A prediction has at most {limits.sets:,} sets, {MOST_NUMBERS:,} numbers and "
        f"{limits.tokens:,} tokens; an explanation, and the tokens of a set, at most {limits.rows:,} rows: one for "
        "each set, each token and, with effects, each feature of each token. Larger requests get status 413. "
        "Every error is an object with a code, a message of one sentence, and the identifier of the request, which is "
        "also the header X-Request-ID of every answer; requests may bring their own, of up to 64 letters, digits, "
        "dots, dashes and underscores."
    )
