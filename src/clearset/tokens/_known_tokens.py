"""Tokens with their statistics: which items they are made of, and which tokens an example has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.tokens._codes import MAX_TOKENS, Coded, EncodedSets, Float64, Found, Int32, Int64
from clearset.tokens._corrections import Corrections
from clearset.tokens._counting import available_threads
from clearset.tokens._own_tokenizers import OwnTokenizer, count_parts, cover_own
from clearset.tokens._statistics import Kinds, Statistics
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Items, Tokenizer
from clearset.tokens._vocabulary import (
    alphabetical_ranks,
    as_bytes,
    encode,
    flat,
    offsets_of_kept,
    places_in,
    spelled,
    unique_sorted,
)

# By name, because `from clearset import _native` would read as an import of the whole package.
_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

_NOWHERE = -2  # -1 is the root of the tree


@dataclass(frozen=True, eq=False, kw_only=True)
class KnownTokens:
    """The part of a `TokenTable` that finds tokens in examples and holds their statistics."""

    tokenizer: Tokenizer
    classes: npt.NDArray[Any] | None
    prior: Float64 | float
    vocabulary: pa.LargeStringArray
    index: TokenIndex
    statistics: Statistics
    corrections: Corrections | None = None

    def __len__(self) -> int:
        return len(self.statistics)

    @property
    def tokeniser(self) -> Tokenizer:  # the former spelling
        """The tokenizer, by its former name."""
        return self.tokenizer

    @property
    def counts(self) -> npt.NDArray[Any]:
        """The number of examples that hold each token, (T,)."""
        return self.statistics.counts

    @property
    def weights(self) -> Float64:
        """The weight of these examples, (T,)."""
        return self.statistics.weights

    @property
    def sizes(self) -> Int32:
        """The number of items of each token, (T,)."""
        return self.statistics.sizes

    @property
    def kinds(self) -> Kinds | None:
        """The kinds of the tokens; None where all are of one."""
        return self.statistics.kinds

    @property
    def means(self) -> Float64:
        """The mean label: (T,) of a number or two classes (the share of the second), else (T, C)."""
        return self.statistics.means

    @property
    def variances(self) -> Float64:
        """The label's variance, (T,): of a number by n - 1; of classes half the sum of p (1 - p)."""
        return self.statistics.variances

    @property
    def class_weights(self) -> Float64 | None:
        """The weight of the examples of each class, (T, C); None for a number."""
        return self.statistics.class_weights

    @cached_property
    def intervals(self) -> tuple[Float64, Float64]:
        """Lower and upper ends of the mean label's 95% interval, each of the shape of `means`."""
        return self.statistics.intervals()

    @cached_property
    def interval_widths(self) -> Float64:
        """The width of the 95% interval, (T,); of several classes the largest."""
        return self.statistics.interval_widths()

    @property
    def nodes(self) -> Int32:
        """The index's node of each token, (T,)."""
        return self.index.token_nodes[: len(self)]

    @cached_property
    def tokens_at(self) -> Int32:
        """The token at each node of the index; -1 where a node only leads to others."""
        tokens = np.full(len(self.index), -1, np.int32)
        tokens[self.index.token_nodes] = np.arange(len(self.index.token_nodes), dtype=np.int32)
        return tokens

    @cached_property
    def single_tokens(self) -> Int32:
        """The token that each item of the vocabulary is on its own; -1 where that is not in the table."""
        tokens = np.full(len(self.vocabulary), -1, np.int32)
        first = self.index.levels[min(1, self.index.n_levels)]
        tokens[self.index.items[:first]] = self.tokens_at[:first]
        return tokens

    def items_of(self, tokens: npt.NDArray[Any]) -> Coded:
        """Return the items of tokens by their numbers, as codes of the vocabulary."""
        return self.index.items_of(self.index.token_nodes[tokens])

    def items_as_spelled(self, tokens: npt.NDArray[Any]) -> Coded:
        """Return the items of tokens as `items_of`, in the order they are spelled: alphabetical, except in n-grams."""
        items = self.items_of(tokens)
        if self.tokenizer.in_order:
            return items
        ranked = unique_sorted(Coded(self._ranks[items.codes], items.offsets), len(self._ranks))
        return Coded(np.argsort(self._ranks).astype(np.int32)[ranked.codes], ranked.offsets)

    @cached_property
    def _ranks(self) -> Int32:
        return alphabetical_ranks(self.vocabulary)

    def encode(self, X: Any) -> EncodedSets:
        """Read examples into the codes of this table.

        In n-grams -1 holds the place of an unknown word, so that its neighbours do not become neighbours of each other,
        and the number of items is that of all words. Elsewhere it is that of distinct items; for users' own tokenizers
        it is that of distinct parts of tokens.

        Parameters
        ----------
        X : as in `build`
            The examples.

        Returns
        -------
        EncodedSets
            The codes of known items, and the number of items of each example.
        """
        quick = _native is not None and not isinstance(self.tokenizer, OwnTokenizer)
        if quick and type(X) is list and isinstance(self.tokenizer, Items):
            # Lists of strings need no detour by Arrow; whatever else they hold, Arrow reads or refuses.
            found = self._finder.encode_lists(X)
            if found is not None:
                return EncodedSets(Coded(*found[:2]), found[2])
        lists = self.tokenizer.parts(X)
        if not quick:
            return self._encode_by_arrow(lists)
        strings, offsets = flat(lists)
        codes, ends, n_items = self._finder.encode(*as_bytes(strings), offsets, self.tokenizer.in_order)
        return EncodedSets(Coded(codes, ends), n_items)

    @cached_property
    def _finder(self) -> Any:
        """The vocabulary as a table of hashes."""
        return _native.Vocabulary(*as_bytes(self.vocabulary))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_finder"}

    def _encode_by_arrow(self, lists: pa.LargeListArray) -> EncodedSets:
        strings, coded = encode(lists)
        places, n_known = places_in(strings, self.vocabulary), len(self.vocabulary)
        if self.tokenizer.in_order:
            return EncodedSets(Coded(places[coded.codes], coded.offsets), coded.sizes)
        unknown = places < 0
        # Unknown items get codes after the known ones, so that one sort makes items unique and ascending.
        numbers = np.where(unknown, n_known + np.cumsum(unknown) - 1, places).astype(np.int32)
        everything = unique_sorted(Coded(numbers[coded.codes], coded.offsets), n_known + len(strings))
        known = everything.keep(everything.codes < n_known)
        if isinstance(self.tokenizer, OwnTokenizer):
            return EncodedSets(known, count_parts(self.tokenizer.parts_of(strings), coded))
        return EncodedSets(known, everything.sizes)

    def find(
        self,
        encoded: EncodedSets,
        cover: bool = True,
        views: npt.NDArray[Any] | None = None,
        threads: int | None = None,
        most: int = MAX_TOKENS,
    ) -> Found:
        """Find the tokens of examples.

        Parameters
        ----------
        encoded : EncodedSets
            Examples, by `encode`.
        cover : bool, default=True
            Whether to keep a token only if one of its items is in no larger token that is kept.
        views : ndarray, shape (B,), optional
            After `cross_fit`: 0 for the tokens of the table, fold + 1 for those outside of the fold.
        threads : int, optional
            The number of threads; by default all cores.
        most : int, optional
            The largest number of tokens of all examples together; more of them raise a `TokenLimitError`.

        Returns
        -------
        Found
            The numbers of the tokens, and where those of each example begin.

        Examples
        --------
        >>> import clearset as cs
        >>> table = cs.TokenTable.build([["a", "b"], ["c"]], [1, 0])
        >>> found = table.find(table.encode([["c", "b", "a"]]))
        >>> [table.spell(int(token)) for token in found.tokens]
        [('c',), ('a', 'b')]
        """
        own = isinstance(self.tokenizer, OwnTokenizer)
        views = None if views is None else np.asarray(views).astype(np.uint8)
        options = {"threads": available_threads(threads), "most": most}
        nodes, offsets = self.index.find(encoded.coded, views, cover=cover and not own, **options)
        if isinstance(self.tokenizer, OwnTokenizer) and cover:
            parts = self.tokenizer.parts_of(self.vocabulary)
            keep = cover_own(parts, Coded(self.index.items[nodes], offsets))
            nodes, offsets = nodes[keep], offsets_of_kept(keep)[offsets]
        return Found(self.tokens_at[nodes], offsets)

    def spell(self, token: int) -> tuple[str, ...]:
        """Return the items of a token by its number."""
        return tuple(self.spelled(np.array([token]))[0].as_py())

    def spelled(self, tokens: npt.NDArray[Any]) -> pa.LargeListArray:
        """Return the items of tokens by their numbers, as lists in alphabetical order; n-grams in their own."""
        return self.tokenizer.spell(spelled(self.items_as_spelled(tokens), self.vocabulary))

    def numbers_of(self, tokens: Sequence[str | int | Iterable[str | int]] | pa.LargeListArray) -> Int64:
        """Return the number of each token, written as in `lookup` or by `spelled`; -1 where it is not in the table."""
        nodes = self._nodes_of(tokens)
        numbers = np.append(self.tokens_at, -1)[np.maximum(nodes, -1)]
        return np.where(numbers < len(self), numbers, -1)

    def _nodes_of(self, tokens: Sequence[str | int | Iterable[str | int]] | pa.LargeListArray) -> Int64:
        """Return the node of each token, a negative number where there is none."""
        if isinstance(tokens, pa.LargeListArray):
            lists = self.tokenizer.unspell(tokens)
        else:
            items = [self.tokenizer.items_of(token) for token in tokens]
            lists = pa.array(items, pa.large_list(pa.large_string()))
        strings, coded = encode(lists)
        codes = places_in(strings, self.vocabulary)[coded.codes]
        unknown = np.bincount(coded.rows[codes < 0], minlength=coded.n_rows) > 0
        coded = Coded(np.maximum(codes, 0), coded.offsets)
        if not self.tokenizer.in_order:
            coded = unique_sorted(coded, len(self.vocabulary))
        # Nodes are sorted by (parent, item): each further item is looked for among all children at once.
        n_codes = len(self.vocabulary) + 1
        keys = self.index.parents.astype(np.int64) * n_codes + self.index.items
        keys = np.append(keys, np.iinfo(np.int64).max)
        nodes = np.where(unknown | (coded.sizes == 0), _NOWHERE, -1)
        for level in range(int(coded.sizes.max(initial=0))):
            longer = np.flatnonzero((coded.sizes > level) & (nodes != _NOWHERE))
            wanted = nodes[longer] * n_codes + coded.codes[coded.offsets[longer] + level]
            places = np.searchsorted(keys, wanted)
            nodes[longer] = np.where(keys[places] == wanted, places, _NOWHERE)
        return nodes
