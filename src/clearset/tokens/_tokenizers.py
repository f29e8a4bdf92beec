"""Tokenizers: which items an example has, and how they are joined to tokens."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clearset.sets import short_repr
from clearset.tokens._codes import Joining, Run
from clearset.tokens._item_columns import Column, from_python, read_column
from clearset.tokens._vocabulary import flat, offsets_of_kept

# Marks belong to words as well: in many scripts vowels are written with them.
_NO_WORD = r"[^\p{L}\p{M}\p{N}]+"


class Tokenizer:
    """The base class of all tokenizers."""

    in_order: ClassVar[bool] = False
    """Whether the order of items, and how often they occur, matters."""

    __repr__ = short_repr

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the items of every example, in their order, not yet unique."""
        raise NotImplementedError

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:  # noqa: ARG002
        """Return how the items of this vocabulary are joined to tokens; by default each of them is one."""
        return Joining("subsets", 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What kinds of tokens there are; nothing where all are of one."""
        return ()

    @property
    def sides(self) -> tuple[str | int, ...]:
        """The two columns that are read, by name or position; nothing where it is a single one."""
        return ()

    def ranks(self, vocabulary: pa.LargeStringArray) -> NDArray[Any]:
        """Return a number for each item; those with the greater numbers have the higher codes."""
        return np.zeros(len(vocabulary), np.int8)

    def runs(self, vocabulary: pa.LargeStringArray) -> tuple[Run, ...]:
        """Return the runs of codes of the items of each kind; by default there is one."""
        return (Run(0, len(vocabulary), self.joining(vocabulary)),)

    def items_of(self, token: str | int | Iterable[str | int]) -> list[str]:
        """Return the items that a token as users write it is made of."""
        return items_in(token)

    def spell(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        """Return tokens, given as lists of items, as users read them."""
        return tokens

    def unspell(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        """Undo `spell`."""
        return tokens

    def to_json(self) -> dict[str, Any]:
        """Return the kind and its parameters as JSON values."""
        return {"kind": type(self).__name__.lower(), **{f.name: getattr(self, f.name) for f in fields(self)}}  # type: ignore[arg-type]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the tokenizer that `to_json` described."""
        return cls(**{name: value for name, value in document.items() if name != "kind"})


@dataclass(frozen=True, repr=False)
class Items(Tokenizer):
    """Every item is a token.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.Items().parts([["salt", "sugar"], ["salt"]]).to_pylist()
    [['salt', 'sugar'], ['salt']]
    """

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the items of every example; a plain column of strings holds sets of one."""
        return read_column(X).sets()


@dataclass(frozen=True, repr=False)
class Subsets(Items):
    """Every subset of an example's items is a token, up to a size.

    Parameters
    ----------
    max_size : int or None, default=None
        The most items of a token; None for all sizes.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.Subsets(max_size=3)
    Subsets(max_size=3)
    """

    max_size: int | None = None

    def __post_init__(self) -> None:
        if self.max_size is not None:
            keep_size(self, "max_size", " or None for all sizes")

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:  # noqa: ARG002
        """Tokens are subsets."""
        return Joining("subsets", self.max_size)


@dataclass(frozen=True, repr=False)
class NGrams(Tokenizer):
    """Every run of neighbouring words is a token, up to a length.

    Parameters
    ----------
    max_order : int, default=3
        The most words of a token.
    split : callable or None, default=None
        Splits a text into a list of words. By default words are lower-cased runs of letters and digits, of any
        script. Columns of lists are taken as words already.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.NGrams(2).parts(["Crème brûlée, 2 eggs!"]).to_pylist()
    [['crème', 'brûlée', '2', 'eggs']]
    """

    in_order: ClassVar[bool] = True

    max_order: int = 3
    split: Callable[[str], list[str]] | None = None

    def __post_init__(self) -> None:
        keep_size(self, "max_order")
        if self.split is not None and not callable(self.split):
            raise TypeError(f"split is {self.split!r}; give a function from a text to a list of words, or None.")

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the words of every example, in order."""
        column = read_column(X)
        if column.offsets is not None:
            return column.sets()
        if self.split is None:
            return _words(column.strings.fill_null(""))
        return _split(column.strings, self.split)

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:  # noqa: ARG002
        """Tokens are runs of neighbours."""
        return Joining("ngrams", self.max_order)

    def to_json(self) -> dict[str, Any]:
        """Return the parameters; a function is only named, for files hold no code."""
        split = None if self.split is None else getattr(self.split, "__qualname__", repr(self.split))
        return {"kind": "ngrams", "max_order": self.max_order, "split": split}


@dataclass(frozen=True, repr=False)
class Words(Tokenizer):
    """The words of an example's items are tokens, each once: of items that are phrases, such as "black olives".

    Words are lower-cased runs of letters and digits, as `NGrams` takes them of texts. Their order does not matter.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.Words().parts([["Black olives", "olive oil"], ["feta"]]).to_pylist()
    [['black', 'olives', 'olive', 'oil'], ['feta']]
    """

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the words of every example, those of one item after those of another."""
        column = read_column(X)
        if column.offsets is None:
            return _words(column.strings.fill_null(""))
        # Items repeat: each distinct one is taken apart once.
        items = column.strings.dictionary_encode()
        words, offsets = flat(_words(items.dictionary).take(items.indices))
        return pa.LargeListArray.from_arrays(pa.array(offsets[column.offsets]), words)


def _words(texts: pa.LargeStringArray) -> pa.LargeListArray:
    spaced = pc.replace_substring_regex(pc.utf8_lower(texts), pattern=_NO_WORD, replacement=" ")
    words, offsets = flat(pc.split_pattern(spaced, pattern=" "))
    present = pc.not_equal(words, "").to_numpy(zero_copy_only=False)
    kept = offsets_of_kept(present)[offsets]
    return pa.LargeListArray.from_arrays(pa.array(kept), words.filter(pa.array(present)))


def _split(texts: pa.LargeStringArray, split: Callable[[str], list[str]]) -> pa.LargeListArray:
    name = getattr(split, "__qualname__", repr(split))
    rows = from_python(
        [[] if text is None else list(listed(split(text), name, place)) for place, text in enumerate(texts.to_pylist())]
    )
    column = read_column(rows)
    # Where no text has a word, Arrow sees lists of nothing.
    return (column if column.offsets is not None else Column(column.strings, np.zeros(1, np.int64))).sets()


def items_in(token: Any) -> list[str]:
    """Return the items of a token as users write it: one item or several, read as `read_column` reads them."""
    several = isinstance(token, Iterable) and not isinstance(token, str)
    items = list(token) if several else [token]
    if any(item is None for item in items):
        raise TypeError(f"The token is {token!r}; give an item, such as 'salt', or a list of items.")
    return [str(item).lower() if isinstance(item, bool | np.bool_) else str(item) for item in items]


def listed(answer: Any, name: str, place: int) -> Iterable[Any]:
    """Return what a user's function returned for an example; raise a TypeError for None and for a string."""
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise TypeError(
            f"{name} gave {answer!r} for example {place} (counted from 0); it is to return a list of strings, empty "
            "where there are none."
        )
    return answer


def keep_size(tokenizer: Tokenizer, name: str, otherwise: str = "") -> None:
    """Check a size, and keep it as a plain number, which JSON can hold."""
    size = getattr(tokenizer, name)
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        raise TypeError(f"{name} is {size!r}; give a whole number from 1 on{otherwise}.")
    if size < 1:
        raise ValueError(f"{name} is {size}; give a whole number from 1 on{otherwise}.")
    object.__setattr__(tokenizer, name, int(size))
