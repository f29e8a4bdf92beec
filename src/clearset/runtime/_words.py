"""Strings as a model reads them: sets of items, words of texts, items of two columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import category

_WORD_ASCII = re.compile(r"[a-z0-9]+")


def as_items(sets: Any, kind: str, columns: Sequence[str]) -> list[list[str]]:
    """Return the items of every example in the form that the vocabulary holds; `kind` is the tokenizer's."""
    if kind in ("cross", "difference"):
        left, right = (_lists(side) for side in _sides(sets, columns))
        if len(left) != len(right):
            raise ValueError(f"There are {len(left)} sets of {columns[0]!r}, but {len(right)} of {columns[1]!r}.")
        return [_joined(kind, columns, *sides) for sides in zip(left, right, strict=True)]
    sets = _the_column(sets)
    if kind == "ngrams":
        return [words(text) if isinstance(text, str) else _strings(text) for text in sets]
    return _lists(sets)


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters, marks and digits of any script."""
    if text.isascii():
        return _WORD_ASCII.findall(text.lower())
    # Letter by letter: the case of one does not depend on its neighbours.
    lowered = (letter.lower()[:1] for letter in text)
    spaced = "".join(letter if category(letter)[0] in "LMN" else " " for letter in lowered)
    return [word for word in spaced.split(" ") if word]


def _sides(sets: Any, columns: Sequence[str]) -> tuple[Any, Any]:
    if isinstance(sets, Mapping):
        missing = [name for name in columns if name not in sets]
        if missing and len(sets) == 2:
            left, right = sets.values()
            return left, right
        if missing:
            raise ValueError(f"There is no column {missing[0]!r} among {list(sets)}.")
        return sets[columns[0]], sets[columns[1]]
    pairs = list(sets)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise ValueError("Give one pair of lists an example, such as (['apple'], ['pear', 'plum']).")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _joined(kind: str, columns: Sequence[str], left: list[str], right: list[str]) -> list[str]:
    if kind == "difference":
        others = set(right)
        return [item for item in left if item not in others]
    return [*(f"{columns[0]}={item}" for item in left), *(f"{columns[1]}={item}" for item in right)]


def _the_column(sets: Any) -> Any:
    if isinstance(sets, str):
        raise TypeError(f"The sets are one string, {sets[:40]!r}; give a list of sets.")
    if isinstance(sets, Mapping):
        if len(sets) != 1:
            raise ValueError(f"The model reads one column; received {list(sets)}.")
        return next(iter(sets.values()))
    return sets


def _lists(sets: Iterable[Any]) -> list[list[str]]:
    return [_strings(items) for items in _the_column(sets)]


def _strings(items: Any) -> list[str]:
    """Return the items of one set; a string is a set of one, and None is an empty set."""
    if items is None:
        return []
    if isinstance(items, str):
        return [items]
    found = list(items)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"An item is a string; received {item!r} in {found[:5]!r}. Convert items with str().")
    return found
