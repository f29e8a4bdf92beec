"""Tokenizers that users write themselves: any object with a method ``tokens(example)``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.tokens._codes import BoolArray, Coded, Int64
from clearset.tokens._item_columns import STRING, read_rows
from clearset.tokens._tokenizers import Items, NGrams, Subsets, Tokenizer, Words, items_in, listed
from clearset.tokens._two_columns import Cross, Difference
from clearset.tokens._union import Union
from clearset.tokens._vocabulary import encode

_BETWEEN = "\x1f"  # the unit separator: made for this, and found in no ordinary text


@dataclass(frozen=True, eq=False, repr=False)
class OwnTokenizer(Tokenizer):
    r"""A tokenizer by an object with a method ``tokens(example)``.

    Inside, a token is a single item whose string joins its parts; its size and the cover go by the parts.

    Parameters
    ----------
    own : object
        Its method ``tokens(example)`` returns the tokens of an example: strings, or tuples of strings for tokens of
        several parts.

    Examples
    --------
    >>> from clearset.tokens import OwnTokenizer
    >>> class Neighbours:
    ...     def tokens(self, example):
    ...         return list(example) + list(zip(example, example[1:]))
    >>> OwnTokenizer(Neighbours()).parts([["a", "b"]]).to_pylist()
    [['a', 'b', 'a\x1fb']]
    """

    own: Any

    def __post_init__(self) -> None:
        if not callable(getattr(self.own, "tokens", None)):
            raise TypeError(
                f"tokens is {self.own!r}; give a tokenizer such as Subsets(max_size=3), or an object with a method "
                "tokens(example) that returns strings or tuples of strings."
            )

    def __eq__(self, other: object) -> bool:
        """Two of one class with equal attributes do the same."""
        if not isinstance(other, OwnTokenizer) or type(self.own) is not type(other.own):
            return False
        if self.own is other.own:
            return True
        try:
            return bool(vars(self.own) == vars(other.own))
        except (TypeError, ValueError):  # no attributes to be seen, or some that do not compare to one truth
            return False

    def __hash__(self) -> int:
        return hash(type(self.own))

    def parts(self, X: Any) -> pa.LargeListArray:
        """Run the object's method on every example that is not missing."""
        rows = [[] if _missing(example) else self._keys(example, place) for place, example in enumerate(read_rows(X))]
        return pa.array(rows, pa.large_list(STRING))

    def _keys(self, example: Any, place: int) -> list[str]:
        tokens = listed(self.own.tokens(example), f"{type(self.own).__name__}.tokens", place)
        return [self._key(token, place) for token in tokens]

    def _key(self, token: str | Iterable[str], place: int) -> str:
        parts = (token,) if isinstance(token, str) else tuple(token) if isinstance(token, Iterable) else ()
        if not parts or not all(isinstance(part, str) and _BETWEEN not in part for part in parts):
            raise ValueError(
                f"{type(self.own).__name__}.tokens gave {token!r} for example {place} (counted from 0). A token is a "
                f"string or a non-empty tuple of strings, without the character {_BETWEEN!r}."
            )
        return _BETWEEN.join(parts)

    def items_of(self, token: str | int | Iterable[str | int]) -> list[str]:
        """Return the string that stands for the token."""
        return [_BETWEEN.join(items_in(token))]

    def spell(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        """Return every token as the list of its parts."""
        return pc.split_pattern(pc.binary_join(tokens, pa.scalar(_BETWEEN, STRING)), _BETWEEN).cast(
            pa.large_list(STRING)
        )

    def unspell(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        """Undo `spell`."""
        keys = pc.binary_join(tokens, pa.scalar(_BETWEEN, STRING))
        return pa.LargeListArray.from_arrays(pa.array(np.arange(len(keys) + 1)), keys)

    def parts_of(self, vocabulary: pa.LargeStringArray) -> Coded:
        """Return the parts of every token of the vocabulary, as codes."""
        return encode(pc.split_pattern(vocabulary, _BETWEEN))[1]

    def to_json(self) -> dict[str, Any]:
        """Return the name of the class, without its module, which may have moved; files hold no code."""
        return {"kind": "own", "class": type(self.own).__name__}


def _missing(example: Any) -> bool:
    return example is None or (isinstance(example, float) and np.isnan(example))


def count_parts(parts: Coded, coded: Coded) -> Int64:
    """Count the distinct parts of all tokens of each example; `parts` are those of every token."""
    keys, n_parts = _keys_of_parts(parts, coded)
    return np.bincount(np.unique(keys) // n_parts, minlength=coded.n_rows)


def cover_own(parts: Coded, coded: Coded) -> BoolArray:
    """Return which tokens have a part that is in no kept token of more parts; those of one size may share parts."""
    # `parts` are those of every token, `coded` the tokens of every example.
    slots = np.unique(_keys_of_parts(parts, coded)[0], return_inverse=True)[1]
    sizes = parts.sizes[coded.codes]
    place = np.repeat(np.arange(len(coded.codes)), sizes)
    keep = np.zeros(len(coded.codes), np.bool_)
    covered = np.zeros(len(slots), np.bool_)
    for size in np.unique(sizes)[::-1]:
        of_size = sizes[place] == size
        keep[place[of_size & ~covered[slots]]] = True
        covered[slots[of_size & keep[place]]] = True
    return keep


def _keys_of_parts(parts: Coded, coded: Coded) -> tuple[Int64, int]:
    """Return example x number of parts + part, for all parts of all tokens of all examples, and that number."""
    n_parts = int(parts.codes.max(initial=0)) + 1
    of_tokens = parts.take(coded.codes)
    return np.repeat(coded.rows, of_tokens.sizes) * n_parts + of_tokens.codes, n_parts


_KINDS: dict[str, type[Tokenizer]] = {
    kind.__name__.lower(): kind for kind in (Items, Words, Subsets, NGrams, Cross, Difference, Union)
}


def as_tokenizer(tokens: Any) -> Tokenizer:
    """Return a tokenizer as it is; an object with a method ``tokens(example)`` as an `OwnTokenizer`."""
    if isinstance(tokens, Union) and len(tokens.members) == 1:
        return tokens.members[0]
    return tokens if isinstance(tokens, Tokenizer) else OwnTokenizer(tokens)


def tokenizer_from_json(document: dict[str, Any], tokens: Any = None) -> Tokenizer:
    """Return the tokenizer of a description; one with the user's own code has to be passed as `tokens`."""
    if tokens is not None:
        tokenizer = as_tokenizer(tokens)
        if tokenizer.to_json() != document:
            raise ValueError(f"The file was made with the tokenizer {document}, but tokens={tokens!r} was given.")
        return tokenizer
    kind = document.get("kind")
    if kind == "own" or document.get("split") is not None:
        name = document.get("class") or document["split"]
        raise ValueError(
            f"The file was made with the user's own tokenizer, {name!r}, and files hold no code. Pass it: "
            "load(path, tokens=...)."
        )
    if kind not in _KINDS:
        raise ValueError(f"The tokenizer kind {kind!r} is unknown. There are: {', '.join(_KINDS)}.")
    return _KINDS[kind].from_json(document)
