"""The JSON interface as one table, which is served and described from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearset.serve._answers import (
    CLASS,
    EXAMPLE,
    EXPLANATION,
    HEALTH,
    ITEMS,
    KNOWN,
    MODEL,
    PREDICTION,
    TOKENS,
)
from clearset.serve._limits import MOST_BYTES, MOST_EXPLAINED, MOST_PREDICTED, MOST_TOKENS
from clearset.serve._search import MOST_ITEMS, MOST_ROWS, ORDERS

_SETS = {
    "type": "array",
    "minItems": 1,
    "description": (
        "/api/model has the schema of one set as its 'set'. Models of sets: objects with the features, each a list "
        "with a value for each token or one value for the whole set; null or left out is missing, and a set of which "
        "nothing is given is empty. Semantic models: lists of texts; also texts where the model reads words; pairs of "
        "lists where it reads two columns; or objects with its columns."
    ),
    "items": {"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "string"}]},
    "examples": [[{"stars": [5, 4, None], "price": 12.5}], [["salt", "water"]], ["a text"]],
}
_ABOUT = f"""\
Requests with a body are JSON, as application/json, of {MOST_BYTES:,} bytes at most; pages of other sites may not send \
any. A prediction has at most {MOST_PREDICTED:,} numbers and {MOST_TOKENS:,} tokens; an explanation, and the tokens of \
a set, at most {MOST_EXPLAINED:,} rows: one for each set, each token and, with effects, each feature of each token. \
What asks for more is refused with status 413. Every error is an object with one member, error: a sentence."""


@dataclass(frozen=True)
class Endpoint:
    """One question that a server answers.

    Attributes
    ----------
    method, path
        How it is asked.
    name
        The method of `Service` that answers.
    summary
        What it gives.
    answer
        The answer, as a JSON schema.
    query, body
        Parameters in the address and members of the body, as JSON schemas.
    required
        Which of them must be there.
    works
        Whether the answer takes work.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: Mapping[str, Any]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    works: bool = True


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/predict",
        "predict",
        "Predict sets.",
        answer=PREDICTION,
        body={"sets": _SETS},
        required=("sets",),
    ),
    Endpoint(
        "POST",
        "/api/explain",
        "explain",
        "Take the predictions for sets apart: what every token is, its score, and what it adds.",
        answer=EXPLANATION,
        body={
            "sets": _SETS,
            "label": {
                "anyOf": [CLASS, {"type": "null"}],
                "description": "The class to explain, as /api/model has it; by default the one predicted.",
            },
            "effects": {"type": "boolean", "description": "Whether to find what a change would do."},
        },
        required=("sets",),
    ),
    Endpoint(
        "GET",
        "/api/model",
        "model",
        "Say what the model is: what sets it reads, features, classes, parameters, and its certificate.",
        answer=MODEL,
        works=False,
    ),
    Endpoint(
        "GET",
        "/api/example",
        "example",
        "Give one of the examples that the server was started with, as the page holds examples.",
        answer=EXAMPLE,
        query={"row": {"type": "integer", "minimum": 0, "description": "Its row in the data, from 0."}},
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
                    "Words that a token must hold, or parts of such, in any case; spaces and commas separate them."
                ),
            },
            "by": {"type": "string", "enum": list(ORDERS), "default": ORDERS[0]},
            "label": {
                "type": "string",
                "description": (
                    "The class whose values count: a text, or a number as in JSON. It must be given where the model "
                    "has more than two classes."
                ),
            },
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": 20},
        },
    ),
    Endpoint(
        "GET",
        "/api/items",
        "items",
        "Search the items that the tokens of a semantic model are made of.",
        answer=ITEMS,
        query={
            "search": {"type": "string", "description": "What an item must hold, in any case."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": 12},
        },
    ),
    Endpoint(
        "POST",
        "/api/known",
        "known",
        "Give the tokens of one set of items, with all that is known of them, as the page holds tokens.",
        answer=KNOWN,
        body={"items": {"type": "array", "items": {"type": "string"}}},
        required=("items",),
    ),
    Endpoint("GET", "/healthz", "health", "Say that the server is there.", answer=HEALTH, works=False),
)


def describe(version: str) -> dict[str, Any]:
    """Describe all endpoints as OpenAPI 3.1 does."""
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
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "clearset",
            "summary": "A model of sets, and why it says so.",
            "description": _ABOUT,
            "version": version,
        },
        "paths": paths,
        "components": {"responses": {"Error": _content("What was wrong, in a sentence.", error)}},
    }


def _content(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
