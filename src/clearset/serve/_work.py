"""One request computed, from the bytes that it has sent to those that are answered."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from clearset.serve._endpoints import Endpoint
from clearset.serve._errors import RefusedError
from clearset.serve._json_bodies import parsed, written
from clearset.serve._service import Counts, Service

_WRONG = (ValueError, TypeError, ArithmeticError, RecursionError, pa.ArrowException)
_CALLS_LOGGED = 5


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    Parameters
    ----------
    content : bytes
        The answer as JSON; of an error, its sentence.
    code : str, default=""
        The code of an error; empty for answers.
    sets, tokens : int, default=0
        How many sets and tokens were computed.
    failure : str, default=""
        What the log says of an internal error. It has no values, for these may be people's data.
    """

    content: bytes
    code: str = ""
    sets: int = 0
    tokens: int = 0
    failure: str = ""


def computed(service: Service, endpoint: Endpoint, body: bytes) -> Outcome:
    """Return what a service answers to the JSON that was sent to an endpoint; errors become one sentence."""
    counts = Counts()
    try:
        asked = parsed(body)
        _check_names(endpoint, asked)
        content = written(getattr(service, endpoint.name)(asked, counts))
        return Outcome(content, "", counts.sets, counts.tokens)
    except RefusedError as error:
        code, said = error.code, str(error)
    except UnicodeError:
        code, said = "bad_request", "A text in the request is not valid Unicode."
    except _WRONG as error:
        code, said = "bad_request", str(error)
    except Exception as error:
        return failed(error)
    return Outcome(said.encode(errors="replace"), code)


def failed(error: Exception) -> Outcome:
    """Return the outcome of an error that nobody has foreseen."""
    calls = traceback.extract_tb(error.__traceback__)[-_CALLS_LOGGED:]
    where = " > ".join(f"{PurePath(each.filename).name}:{each.lineno}" for each in calls)
    return Outcome(
        b"Internal error; the server's log has it by the identifier of the request.",
        "internal_error",
        failure=f"{type(error).__name__} at {where}",
    )


def _check_names(endpoint: Endpoint, asked: Mapping[str, Any]) -> None:
    allowed = endpoint.body or endpoint.query
    if unknown := [each for each in asked if each not in allowed]:
        known = f"It knows: {', '.join(allowed)}." if allowed else "It takes nothing; leave it out."
        raise RefusedError(f"{endpoint.path} does not know {unknown[0][:100]!r}. {known}")
