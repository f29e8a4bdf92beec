"""JSON bodies of requests and responses."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

_PIECE = 100


class _RefusedError(ValueError):
    """The body is what Python's reader accepts, but JSON does not allow."""


def parsed(body: bytes) -> dict[str, Any]:
    """Return the body of a request as a dict."""

    def refuse(word: str) -> None:
        raise _RefusedError(f"{word} is not JSON. Write null for a missing value.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            # Counted once: a long object must not take the square of its length.
            twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
            raise _RefusedError(f"An object of the body has {twice[:100]!r} more than once. Write it once.")
        return found

    try:
        asked = json.loads(body, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"The body is not JSON: {error}.") from error
    except RecursionError as error:
        raise ValueError("The body is nested too deeply.") from error
    except (_RefusedError, UnicodeError):
        raise
    except ValueError as error:  # Python's advice on the digits of whole numbers
        raise ValueError("A number of the body has too many digits. Write it shorter, as in 1e300.") from error
    if not isinstance(asked, dict):
        raise ValueError('The body must be a JSON object, such as {"sets": [...]}.')
    return asked


def written(value: dict[str, Any]) -> bytes:
    """Return plain data as JSON; values that JSON does not have, such as dates, are written as text."""
    members = (f"{_text(name)}:{_in_pieces(entry)}" for name, entry in value.items())
    return f"{{{','.join(members)}}}".encode(errors="replace")


def _in_pieces(value: Any) -> str:
    """Write long lists in pieces: the writer of JSON holds the lock of the interpreter until it is done."""
    if not isinstance(value, list) or len(value) <= _PIECE:
        return _text(value)
    pieces = (_text(value[start : start + _PIECE])[1:-1] for start in range(0, len(value), _PIECE))
    return f"[{','.join(pieces)}]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)


def answer(text: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with JSON that is already written."""
    return Response(text, status, headers, media_type="application/json")
