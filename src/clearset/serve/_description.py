"""The OpenAPI description of the endpoints that a model answers: what is accepted, and every answer."""

from collections.abc import Mapping
from typing import Any

from clearset.serve._answer_schemas import TEXT, members
from clearset.serve._endpoints import ENDPOINTS, OPEN_PATH, Endpoint
from clearset.serve._errors import ERRORS
from clearset.serve._limits import MOST_NUMBERS, Limits
from clearset.serve._service import Accepted

_OF_BODIES = ("foreign_page", "upload_too_slow", "not_json")
_NAMED = {"X-Request-ID": {"schema": TEXT, "description": "The identifier of the request in the server's log."}}
_LATER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait, where it is worth while."}}


def describe(version: str, needs_key: bool, limits: Limits, accepted: Mapping[str, Accepted]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the endpoints, by their names, for which it is known what is accepted."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        if endpoint.name in accepted:
            operation = _operation(endpoint, accepted[endpoint.name], needs_key and endpoint.path != OPEN_PATH)
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    components = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}} if needs_key else {}
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


def _operation(endpoint: Endpoint, accepted: Accepted, needs_key: bool) -> dict[str, Any]:
    required = (*endpoint.required, *accepted.required)
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "responses": {"200": _response("The answer.", endpoint.answer), **_errors(endpoint, needs_key)},
    }
    if endpoint.query:
        operation["parameters"] = [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in accepted.of(endpoint.query).items()
        ]
    if endpoint.body:
        body = accepted.of(endpoint.body)
        schema = members(body, *(name for name in body if name not in required))
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if needs_key:
        operation["security"] = [{"key": []}]
    return operation


def _errors(endpoint: Endpoint, needs_key: bool) -> dict[str, Any]:
    """Describe all errors that an endpoint may answer, by status."""
    codes = [
        code for code in ERRORS if (endpoint.body or code not in _OF_BODIES) and (needs_key or code != "key_needed")
    ]
    found = {}
    for status in dict.fromkeys(ERRORS[code].status for code in codes):
        these = [code for code in codes if ERRORS[code].status == status]
        meaning = " ".join(f"{code}: {ERRORS[code].meaning}" for code in these)
        response = _response(meaning, members({"code": {"enum": these}, "message": TEXT, "request_id": TEXT}))
        if status == 503:
            response["headers"] = _NAMED | _LATER
        found[str(status)] = response
    return found


def _response(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "headers": _NAMED, "content": {"application/json": {"schema": schema}}}


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
