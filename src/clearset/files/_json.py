"""JSON from files that may be damaged or hostile."""

import json
import math
from typing import Any, NoReturn


def json_object(content: bytes) -> dict[str, Any]:
    """Read a JSON object; raise a ValueError for anything else.

    NaN, numbers beyond all floats, and names that are given twice are refused as well.

    Parameters
    ----------
    content : bytes
        The text, in UTF-8.

    Returns
    -------
    dict
        The object.
    """
    try:
        document = json.loads(
            content.decode("utf-8"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("it has a number beyond all floats")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Readers differ in which of the two they take, so such a file means different things to different people.
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in document if names.count(name) > 1)!r} is there twice")
    return document
