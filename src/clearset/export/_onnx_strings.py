"""Sets of strings in ONNX: items as codes of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from clearset.export._onnx_file import OnnxFile
from clearset.export._onnx_graph import Value
from clearset.export._onnx_keys import in_sets, risen, without
from clearset.export._onnx_ragged import count_by
from clearset.tokens import Cross, Difference, NGrams, Tokenizer, Union, Words
from clearset.tokens import Items as ItemsTokenizer


@dataclass(frozen=True)
class Items:
    """Items of B sets, set after set: those of a set ascending and each once, or all words in order.

    Parameters
    ----------
    codes : Value of shape (N,)
        Places in the vocabulary; -1 for words that it does not have.
    sets : Value of shape (N,)
        The set of each.
    n_sets : Value of shape (1,)
        B.
    count : callable
        Adds what counts the items of each set, ``(B,)``, known or not.
    """

    codes: Value
    sets: Value
    n_sets: Value
    count: Callable[[], Value]

    @cached_property
    def n_items(self) -> Value:
        """``(B,)``: how many items each set has, known or not."""
        return self.count()


class _Strings(NamedTuple):
    """Strings of sets, as they are given."""

    strings: Value
    sets: Value  # the set of each
    n_sets: Value

    def coded(self, codes: Mapping[str, int]) -> _Column:
        """Look them up."""
        return _Column(self, self.strings.looked_up(list(codes), list(codes.values())))


class _Column(NamedTuple):
    """Strings of sets, and their codes."""

    given: _Strings
    codes: Value  # -1 for unknown ones

    def known_keys(self, n_codes: int) -> Value:
        """Return set and code of known items."""
        return (self.given.sets * n_codes + self.codes).kept(self.codes >= 0)

    def unknown(self) -> tuple[Value, Value]:
        """Return the strings that are not known, and their sets."""
        absent = self.codes < 0
        return self.given.strings.kept(absent), self.given.sets.kept(absent)


class _Inputs:
    """The strings that a model reads, each declared once."""

    def __init__(self, file: OnnxFile) -> None:
        self._file = file
        self._known: dict[str, _Strings] = {}

    def of(self, name: str, offsets: str, doc: str) -> _Strings:
        """Return the strings of a name."""
        if name not in self._known:
            self._known[name] = _strings(self._file, name, offsets, doc)
        return self._known[name]


def check_tokenizer(tokenizer: object) -> None:
    """Raise a ValueError if tokens are made by code."""
    if not isinstance(tokenizer, Cross | Difference | NGrams | ItemsTokenizer | Words | Union):
        raise ValueError(
            f"The model takes examples apart with {tokenizer!r}, a function of yours; ONNX holds no code. Fit on lists "
            "of items, and apply the function before the model."
        )


def read_items(file: OnnxFile, tokenizer: Tokenizer, vocabulary: Sequence[str]) -> Items:
    """Declare the inputs of a model over strings, and look items up."""
    n_codes, codes = max(len(vocabulary), 1), {item: code for code, item in enumerate(vocabulary)}
    inputs = _Inputs(file)
    if isinstance(tokenizer, NGrams):
        words = inputs.of("words", "offsets", "The words of all texts, text after text, in order.").coded(codes)
        sets, n_sets = words.given.sets, words.given.n_sets
        return Items(words.codes, sets, n_sets, lambda: count_by(sets, n_sets))
    if isinstance(tokenizer, Union):
        both = zip(tokenizer.kinds, tokenizer.members, strict=True)
        members = [(member, _columns(inputs, member, _tagged(codes, kind), "{}_offsets")) for kind, member in both]
    else:
        members = [(tokenizer, _columns(inputs, tokenizer, codes))]
    keys = [
        key
        for member, columns in members
        for key in _of_tokenizer(member, [column.known_keys(n_codes) for column in columns])
    ]
    # The items of several columns, or kinds, are put in order together.
    sets, found = in_sets(risen(keys[0].joined(*keys[1:])) if len(keys) > 1 else keys[0], n_codes)
    n_sets = members[0][1][0].given.n_sets

    def counted() -> Value:
        n_items = count_by(sets, n_sets)
        for member, columns in members:
            n_items = n_items + _unknown(member, columns)
        return n_items

    return Items(found, sets, n_sets, counted)


def _columns(
    inputs: _Inputs, tokenizer: Tokenizer, codes: Mapping[str, int], offsets: str = "offsets"
) -> list[_Column]:
    """Declare the columns that a tokenizer reads, unless they are, and look up their items."""
    if isinstance(tokenizer, Cross | Difference):
        columns = []
        for side, given in (("left", tokenizer.left), ("right", tokenizer.right)):
            known = (
                codes
                if isinstance(tokenizer, Difference)
                else _tagged(codes, given if isinstance(given, str) else side)
            )
            doc = f"The items of the {side} column, set after set."
            columns.append(inputs.of(f"{side}_items", f"{side}_offsets", doc).coded(known))
        return columns
    if isinstance(tokenizer, Words):
        told = "The words of all items of all sets, set after set."
        return [inputs.of("words", offsets.format("words"), told).coded(codes)]
    return [inputs.of("items", offsets.format("items"), "The items of all sets, set after set.").coded(codes)]


def _of_tokenizer(tokenizer: Tokenizer, columns: list[Value]) -> list[Value]:
    """Return the keys of items that a tokenizer takes of the keys in its columns, each once."""
    if isinstance(tokenizer, Difference):
        return [without(*columns)]
    return [risen(keys) for keys in columns]


def _unknown(tokenizer: Tokenizer, columns: list[_Column]) -> Value:
    """Return how many items sets have that are not known."""
    unknown = [column.unknown() for column in columns]
    strings = unknown[0][0].joined(*(each for each, _ in unknown[1:])) if len(unknown) > 1 else unknown[0][0]
    names, _, places, _ = strings.graph.add_several("Unique", 4, strings, sorted=1)
    n, start, keys = names.shape().apply("Max", 1), None, []
    for _, sets in unknown:
        of_column = sets.shape().numbers() if start is None else sets.shape().numbers() + start
        keys.append(sets * n + places.gather(of_column))
        start = sets.shape()
    counts = [count_by(in_sets(each, n)[0], columns[0].given.n_sets) for each in _of_tokenizer(tokenizer, keys)]
    return counts[0] if len(counts) == 1 else counts[0] + counts[1]


def _tagged(codes: Mapping[str, int], column: str) -> dict[str, int]:
    """Return the codes of the items of a column or kind, which the vocabulary holds with its name."""
    tag = f"{column}="
    return {item.removeprefix(tag): code for item, code in codes.items() if item.startswith(tag)}


def _strings(file: OnnxFile, name: str, offsets_name: str, doc: str) -> _Strings:
    strings = file.input(name, np.object_, name, doc)
    told = "Where those of each set begin, and last their number."
    offsets = file.input(offsets_name, np.int64, "sets_and_one", told)
    inner, zeros, ones = offsets.slice(1, 2**62), strings.graph.constant(0), strings.graph.constant(1)
    # Each set that ends raises the number of all items behind it; the last entry is behind all of them.
    marks = zeros.expanded(strings.shape() + 1)
    marks = marks.apply("ScatterElements", inner, ones.expanded(inner.shape()), axis=0, reduction="add")
    return _Strings(strings, marks.running_total().slice(0, -1), inner.shape())
