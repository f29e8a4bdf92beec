"""Names, numbers and tokens as short text."""

from typing import Any

import pyarrow as pa

from clearset.display._protocols import ShownExplanation
from clearset.sets import SIZE

_MOST_FEATURES = 3


def shown(name: Any, most: int = 28) -> str:
    """Return a name as one line of text, without characters that change or hide others, shortened in the middle."""
    # Names that begin alike often differ at their end.
    if isinstance(name, str) and name == SIZE:
        return "number of tokens"
    text = str(name)
    if len(text) > 8 * most:
        text = text[: 4 * most] + text[-4 * most :]
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if len(text) > most:
        end = most // 3
        return f"{text[: most - 1 - end].rstrip()}…{text[-end:].lstrip()}"
    return text or "(blank)"


def shortened(text: str, most: int) -> str:
    """Return a text of one line, without its end if it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1].rstrip(" ,…") + "…"


def said(number: Any) -> str:
    """Return a number in a few digits."""
    return f"{number:,.0f}" if 10_000 <= abs(number) < 1e9 else f"{number:.4g}"


def counted(n: int, what: str) -> str:
    """Return a number and the thing that it counts, such as "3 tokens".

    Parameters
    ----------
    n : int
        The number.
    what : str
        The name of one thing, or of several if it ends with an s.

    Returns
    -------
    str
        The text.
    """
    return f"{n:,} {what}" if n == 1 or what.endswith("s") else f"{n:,} {what}s"


def token_texts(explanation: ShownExplanation, most: int) -> list[str]:
    """Return each token of one set in a few words: its items, or its features.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one set.
    most : int
        The largest number of characters of a token.

    Returns
    -------
    list of str
        A text for each token.
    """
    tokens = explanation.tokens["token"].to_pylist()
    if not pa.types.is_integer(explanation.tokens["token"].type):
        return ["no known token" if token is None else _items(token, most) for token in tokens]
    table = explanation.tokens
    names = [name for name in explanation.features if name != SIZE] or [SIZE]
    if len(names) > _MOST_FEATURES and len(tokens) > 1:
        # What all tokens of the set share does not tell them apart.
        names = [name for name in names if len(set(table[name].to_pylist())) > 1] or names
    columns = [table[name].to_pylist() for name in names]
    return [
        "no token" if token is None else shortened(", ".join(map(_said, names, row)), most)
        for token, row in zip(tokens, zip(*columns, strict=True), strict=True)
    ]


def _items(token: list[str], most: int) -> str:
    return shortened(" + ".join(shown(item, max(most // len(token) - 3, 12)) for item in token), most)


def _said(name: str, value: Any) -> str:
    text = "missing" if value is None else said(value) if isinstance(value, float) else shown(value, 20)
    return f"{shown(name, 16)} {text}"
