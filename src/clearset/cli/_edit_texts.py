"""Edits as they are written on the command line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clearset.cli._options import CSV_SEPARATOR
from clearset.models import Model, SemanticModel
from clearset.models.edits import Cap, DropToken, Edit, Flatten, Forbid, PinToken

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})?:({_NUMBER})?")
_PIN = re.compile(rf"(.+)=({_NUMBER})(?::(.+))?")


def edits_of(model: Model, texts: Mapping[str, Sequence[str]]) -> Iterator[Edit]:
    """Yield the edits of a model that texts describe, kind after kind.

    Parameters
    ----------
    model : Model
        The model that they are for: it says what is a name.
    texts : mapping
        Lists of texts by kind: ``drop``, ``pin``, ``flatten``, ``cap`` and ``forbid``.
    """
    yield from (DropToken(_token(model, text)) for text in texts["drop"])
    yield from (_pin(model, text) for text in texts["pin"])
    yield from (_flatten(model, text) for text in texts["flatten"])
    yield from (_cap(text) for text in texts["cap"])
    yield from (Forbid(text) for text in texts["forbid"])


def _token(model: Model, text: str) -> Any:
    """Return the items of a token; one item may have the separator in it."""
    if isinstance(model, SemanticModel) and model.table.lookup([text]) is not None:
        return text
    return [item.strip() for item in text.split(CSV_SEPARATOR)]


def _pin(model: Model, text: str) -> PinToken:
    found = _PIN.fullmatch(text)
    if found is None:
        raise ValueError(f"--pin-token is {text!r}; write TOKEN=VALUE or TOKEN=SHARE:CLASS, such as 'salt=0.3:thai'.")
    token, value, label = found.groups()
    classes = model.table.classes if isinstance(model, SemanticModel) else None
    named = {} if classes is None else {str(each): each for each in classes.tolist()}
    return PinToken(_token(model, token), float(value), named.get(label, label))


def _flatten(model: Model, text: str) -> Flatten:
    features = [feature.name for feature in model.binning.features]
    name, _, part = text.rpartition("=")
    if text in features or not name:
        return Flatten(text)
    if found := _RANGE.fullmatch(part):
        low, high = _ends(found)
        return Flatten(name, low, high)
    named = {}
    if name in features:
        named = {str(each): each for each in model.binning.categories[features.index(name)] or ()}
    chosen = [each.strip() for each in part.split(CSV_SEPARATOR)]
    return Flatten(name, categories=tuple(named.get(each, each) for each in chosen))


def _cap(text: str) -> Cap:
    name, _, part = text.rpartition("=")
    found = _RANGE.fullmatch(part)
    if not name or found is None:
        raise ValueError(f"--cap is {text!r}; write FEATURE=LOW:HIGH, of which one may be left out: 'price=:100'.")
    return Cap(name, *_ends(found))


def _ends(found: re.Match[str]) -> tuple[float | None, float | None]:
    low, high = (None if end is None else float(end) for end in found.groups())
    return low, high
