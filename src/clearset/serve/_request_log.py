"""The log of requests: a line for each, as JSON or as text, without anything that a request said."""

import json
import logging
import time
from collections.abc import Mapping
from typing import Any

_LOGGER = logging.getLogger("clearset.serve")


def log_request(record: Any) -> None:
    """Write what is known of a request that has ended; internal errors are logged as errors."""
    fields: dict[str, Any] = {
        "id": record.identifier,
        "method": record.method,
        "route": record.route,
        "status": record.status,
        "ms": round(1000 * record.seconds, 1),
        "received": record.received,
        "sent": record.sent,
    }
    if record.sets or record.tokens:
        fields |= {"sets": record.sets, "tokens": record.tokens}
    fields |= {name: value for name in ("code", "failure") if (value := getattr(record, name))}
    level = logging.ERROR if record.failure else logging.INFO
    _LOGGER.log(level, "%s", _text(fields), extra={"request": fields})


def log_to_stderr(form: str) -> None:
    """Let the log of requests go to standard error.

    Parameters
    ----------
    form : {"json", "text"}
        Lines for programs, or for people.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(form))
    _LOGGER.handlers = [handler]
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False


class _Lines(logging.Formatter):
    """Formats records of requests as lines that begin with the time."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self, form: str) -> None:
        super().__init__()
        self.converter = time.gmtime
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        begun = {"time": self.formatTime(record), "level": record.levelname.lower()}
        if self._form == "text":
            return f"{begun['time']} {record.getMessage()}"
        return json.dumps(begun | getattr(record, "request", {"message": record.getMessage()}))


def _text(fields: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in fields.items() if name not in ("method", "route", "status", "ms")}
    head = f"{fields['method']} {fields['route']} {fields['status']} {fields['ms']} ms"
    return " ".join([head, *(f"{name}={value}" for name, value in rest.items())])
