"""Strings as a model reads them: sets of items, words of texts, items of two columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import category

import numpy as np

_WORD_ASCII = re.compile(r"[a-z0-9]+")


def as_items(sets: Any, told: Mapping[str, Any]) -> list[list[str]]:
    """Return the items of every example in the form that the vocabulary holds, as the tokenizer is told to be."""
    if told["kind"] == "union":
        sets = sets if isinstance(sets, str | Mapping) or not isinstance(sets, Iterable) else list(sets)
        tagged = [
            [[member["tag"] + item for item in items] for items in as_items(sets, member)] for member in told["members"]
        ]
        return [[item for items in rows for item in items] for rows in zip(*tagged, strict=True)]
    # The sides are the two columns that a tokenizer of pairs reads, by name or position.
    kind, sides = told["kind"], told["sides"]
    if kind in ("cross", "difference"):
        left, right = (_lists(side) for side in _sides(sets, sides))
        if len(left) != len(right):
            raise ValueError(f"There are {len(left)} sets of {sides[0]!r}, but {len(right)} of {sides[1]!r}.")
        return [_joined(kind, sides, *pair) for pair in zip(left, right, strict=True)]
    sets = _the_column(sets)
    if kind == "ngrams":
        return [words(text) if isinstance(text, str) else _strings(text) for text in sets]
    if kind == "words":
        return [[word for item in _strings(items) for word in words(item)] for items in sets]
    return _lists(sets)


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters, marks and digits of any script."""
    if text.isascii():
        return _WORD_ASCII.findall(text.lower())
    # Letter by letter: the case of one does not depend on its neighbours.
    lowered = (letter.lower()[:1] for letter in text)
    spaced = "".join(letter if category(letter)[0] in "LMN" else " " for letter in lowered)
    return [word for word in spaced.split(" ") if word]


def _sides(sets: Any, sides: Sequence[str | int]) -> list[Any]:
    """Return two columns, by name or position, of a dict, or both halves of pairs."""
    if isinstance(sets, Mapping):
        named = list(sets)
        for side in sides:
            if side not in named if isinstance(side, str) else side >= len(named):
                raise ValueError(f"There is no column {side!r} among {named}.")
        return [sets[side if isinstance(side, str) else named[side]] for side in sides]
    places = [side for side in sides if isinstance(side, int)]
    if len(places) < len(sides):
        raise TypeError(f"The model reads the columns {list(sides)}; give a dict with a list of sets for each of them.")
    rows = list(sets)
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) <= max(places):
            raise ValueError(
                f"An example is a pair, such as (['apple'], ['pear', 'plum']); received {str(row)[:60]!r}."
            )
    return [[row[place] for row in rows] for place in places]


def _joined(kind: str, sides: Sequence[str | int], left: list[str], right: list[str]) -> list[str]:
    if kind == "difference":
        others = set(right)
        return [item for item in left if item not in others]
    tags = [side if isinstance(side, str) else name for side, name in zip(sides, ("left", "right"), strict=True)]
    return [*(f"{tags[0]}={item}" for item in left), *(f"{tags[1]}={item}" for item in right)]


def _the_column(sets: Any) -> Any:
    if isinstance(sets, str):
        raise TypeError(f"The sets are one string, {sets[:40]!r}; give a list of sets.")
    if not isinstance(sets, Iterable):
        raise TypeError(f"The sets are {sets!r}; give a list of lists of strings.")
    if isinstance(sets, Mapping):
        if len(sets) != 1:
            raise ValueError(f"The model reads one column; received {list(sets)}.")
        return next(iter(sets.values()))
    return sets


def _lists(sets: Iterable[Any]) -> list[list[str]]:
    return [_strings(items) for items in _the_column(sets)]


def _strings(items: Any) -> list[str]:
    """Return the items of one set, without missing ones; a string is a set of one, and None is an empty set."""
    if items is None:
        return []
    if isinstance(items, str):
        return [str(items)]
    if isinstance(items, bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError(f"A set is a list of strings; received {str(items)[:60]}.")
    found = [item for item in items if item is not None]
    kinds = set(map(type, found))
    if kinds <= {str}:
        return found
    other = next((item for item in found if not isinstance(item, str)), None)
    if other is not None:
        raise TypeError(f"An item is a string; received {str(other)[:60]} of type {type(other).__name__}. Use str().")
    return [str(item) for item in found]  # strings of NumPy
