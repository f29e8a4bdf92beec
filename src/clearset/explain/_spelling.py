"""Names, numbers and tokens as short text."""

from typing import Any

from clearset.sets import SIZE

_MOST_FEATURES = 3


def shown(name: Any, most: int = 28) -> str:
    """Give a name as text of one line: shortened, and without characters that turn or hide others."""
    if isinstance(name, str) and name == SIZE:
        return "number of tokens"
    text = str(name)[: 4 * most]
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if len(text) > most or len(str(name)) > 4 * most:
        return text[: most - 1].rstrip() + "…"
    return text


def said(number: Any) -> str:
    """Give a number in a few digits."""
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.4g}"


def token_texts(explanation: Any, most: int) -> list[str]:
    """Say each token of one set in a few words: its items, or its features."""
    tokens = explanation.tokens["token"].to_pylist()
    if any(isinstance(token, list) for token in tokens):
        return ["no known token" if token is None else shown(" + ".join(token), most) for token in tokens]
    table = explanation.tokens
    names = [name for name in explanation.features if name != SIZE] or [SIZE]
    if len(names) > _MOST_FEATURES and len(tokens) > 1:
        # What all tokens of the set share does not tell them apart.
        names = [name for name in names if len(set(table[name].to_pylist())) > 1] or names
    columns = [table[name].to_pylist() for name in names]
    return [
        "no token" if token is None else shown(", ".join(map(_said, names, row)), most)
        for token, row in zip(tokens, zip(*columns, strict=True), strict=True)
    ]


def _said(name: str, value: Any) -> str:
    text = "missing" if value is None else said(value) if isinstance(value, float) else shown(value, 20)
    return f"{shown(name, 16)} {text}"
