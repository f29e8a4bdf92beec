"""Errors as they are answered: one table of codes."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of error: its status in HTTP, and what it means."""

    status: int
    meaning: str


ERRORS: Mapping[str, Kind] = {
    "bad_request": Kind(400, "The request is not what is described here."),
    "unknown_host": Kind(400, "The server is not called by the name that it was asked by."),
    "key_needed": Kind(401, "The API key is missing or wrong."),
    "foreign_page": Kind(403, "Pages of other sites may not ask."),
    "not_found": Kind(404, "There is no such address, or this model has nothing to answer there."),
    "method_not_allowed": Kind(405, "The address is asked by another method."),
    "upload_too_slow": Kind(408, "The body did not arrive in time."),
    "too_large": Kind(413, "The request asks for more than is answered at once."),
    "not_json": Kind(415, "The body is not declared as application/json."),
    "inconsistent": Kind(422, "The parts of the request do not fit each other, such as lists of a set, or the model."),
    "internal_error": Kind(500, "The server failed; its log has the request by its identifier."),
    "busy": Kind(503, "Too many requests are waiting. Ask again after the seconds of the header Retry-After."),
    "took_too_long": Kind(503, "The computation was given up. Ask for less at a time."),
    "ending": Kind(503, "The server is ending."),
}
"""The codes of errors."""


class RefusedError(ValueError):
    """A request is not answered, for the reason that `code` names."""

    code = "bad_request"


class TooLargeError(RefusedError):
    """A request asks for more than is answered."""

    code = "too_large"


class InconsistentError(RefusedError):
    """A request is as described, but its parts do not fit each other, or the model."""

    code = "inconsistent"


class AbsentError(RefusedError):
    """The served model has nothing to answer to a request."""

    code = "not_found"


class BusyError(RefusedError):
    """Too many requests are waiting."""

    code = "busy"


class TookTooLongError(RefusedError):
    """A computation was given up."""

    code = "took_too_long"
