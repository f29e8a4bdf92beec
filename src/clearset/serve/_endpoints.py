"""The JSON interface as one table, which is served and described from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearset.serve._search import MOST_ROWS, ORDERS

_NUMBERS = {"type": "array", "items": {"type": "number"}}
_SETS = {
    "type": "array",
    "minItems": 1,
    "description": (
        "Models of sets: objects with the features, each a list with a value for each token or one value for the "
        "whole set, null where missing. Semantic models: texts, lists of items, pairs of such lists where the model "
        "reads two columns, or objects with its columns."
    ),
    "items": {"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "string"}]},
    "examples": [[{"stars": [5, 4, None], "price": 12.5}], [["salt", "water"]], ["a text"]],
}


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
        The members of the answer, as JSON schemas.
    query
        Parameters in the address, as JSON schemas.
    body, required
        Members of the body, as JSON schemas, and which of them must be there.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: Mapping[str, Any]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/predict",
        "predict",
        "Predict sets.",
        answer={
            "predictions": {"type": "array", "description": "A class or a number for each set."},
            "classes": {"type": "array", "description": "What the columns of the probabilities are."},
            "probabilities": {"type": "array", "items": _NUMBERS},
            "estimates": {
                "type": "array",
                "items": _NUMBERS,
                "description": "In place of predictions, of a SemanticFeatureEngine.",
            },
        },
        body={"sets": _SETS},
        required=("sets",),
    ),
    Endpoint(
        "POST",
        "/api/explain",
        "explain",
        "Take the predictions for sets apart: what every token is, its score, and what it adds.",
        answer={
            "features": {"type": "array", "items": {"type": "string"}},
            "rho": {"type": "array", "items": {"type": "object"}},
            "sets": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "label": {},
                        "prediction": {"type": ["number", "null"]},
                        "output": {"type": ["number", "null"]},
                        "aggregate": _NUMBERS,
                        "tokens": {"type": "array", "items": {"type": "object"}},
                        "effects": {"type": "array", "items": {"type": "object"}},
                    },
                },
            },
        },
        body={
            "sets": _SETS,
            "label": {"description": "The class to explain; by default the one predicted."},
            "effects": {"type": "boolean", "description": "Whether to find what a change would do."},
        },
        required=("sets",),
    ),
    Endpoint(
        "GET",
        "/api/model",
        "model",
        "Say what the model is: features, classes, parameters, and its certificate.",
        answer={
            "estimator": {"type": "string"},
            "semantic": {"type": "boolean"},
            "width": {"type": "integer"},
            "features": {"type": "array", "items": {"type": "object"}},
            "classes": {"type": ["array", "null"], "items": {"type": "string"}},
            "certificate": {"type": "array", "items": {"type": "object"}},
        },
    ),
    Endpoint(
        "GET",
        "/api/tokens",
        "tokens",
        "Search the token table of a semantic model.",
        answer={
            "n": {"type": "integer", "description": "How many tokens were found."},
            "tokens": {"type": "array", "items": {"type": "object"}, "description": "One page of them."},
        },
        query={
            "search": {"type": "string", "description": "Words that a token must hold, or parts of such."},
            "by": {"type": "string", "enum": list(ORDERS), "default": ORDERS[0]},
            "label": {"type": "string", "description": "The class, of more than two, whose values count."},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": 20},
        },
    ),
    Endpoint(
        "POST",
        "/api/known",
        "known",
        "Give the tokens of one set of items, with all that is known of them, as the page holds tokens.",
        answer={"vocabulary": {"type": "array", "items": {"type": "string"}}, "items": {"type": "array"}},
        body={"items": {"type": "array", "items": {"type": "string"}}},
        required=("items",),
    ),
    Endpoint(
        "GET", "/healthz", "health", "Say that the server is there.", answer={"status": {"const": "ok"}}
    ),
)


def describe(version: str) -> dict[str, Any]:
    """Describe all endpoints as OpenAPI 3.1 does."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        operation: dict[str, Any] = {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "responses": {
                "200": _content("The answer.", {"type": "object", "properties": dict(endpoint.answer)}),
                "default": {"$ref": "#/components/responses/Error"},
            },
        }
        if endpoint.query:
            operation["parameters"] = [
                {"name": name, "in": "query", "required": False, "schema": schema}
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
        "info": {"title": "clearset", "summary": "A model of sets, and why it says so.", "version": version},
        "paths": paths,
        "components": {"responses": {"Error": _content("What was wrong, in a sentence.", error)}},
    }


def _content(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
