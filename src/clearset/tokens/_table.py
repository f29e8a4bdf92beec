"""The token table: what is known about every token that passed the filters."""

import importlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.tokens import _show
from clearset.tokens._coded import MAX_TOKENS, Coded, Float64, Found, Int32, Int64
from clearset.tokens._corrections import Corrections
from clearset.tokens._counting import Counted, available_threads, count_tokens, prior_of, token_nodes
from clearset.tokens._encoding import EncodedSets, encode_examples, nodes_of
from clearset.tokens._examples import Examples
from clearset.tokens._filters import Filter, apply_filters, check_filters
from clearset.tokens._index import TokenIndex
from clearset.tokens._labels import Task
from clearset.tokens._own import OwnTokeniser, as_tokeniser, cover_own
from clearset.tokens._statistics import Statistics
from clearset.tokens._tokenisers import Subsets, Tokeniser
from clearset.tokens._vocabulary import offsets_of_kept, spelled, unique_sorted


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Counts and mean labels of tokens.

    Make one with `TokenTable.build`. It keeps its examples, so that `update` and `+` give, to the last bit, the table
    that all examples at once would give, in whatever order they come.

    Parameters
    ----------
    tokeniser : tokeniser
        What takes examples apart.
    filters : tuple of filters
        What tokens had to pass.
    task : {"classes", "number"}
        What the label is.
    classes : ndarray or None
        The classes, sorted.
    prior : ndarray of shape (C,) or float
        Shares of the classes, or the mean label.
    n_examples : int
        The number of examples.
    vocabulary : Arrow array of strings
        The items of the tokens.
    index : TokenIndex
        Finds tokens in examples.
    statistics : Statistics
        What is known about each token.
    examples : Examples or None
        The examples.
    corrections : Corrections or None
        Learned corrections to the values of some tokens.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "salt", "chili"]]
    >>> table = cs.TokenTable.build(recipes, ["thai", "greek", "thai"], cs.Subsets(2), [cs.MinCount(2)])
    >>> table
    TokenTable(Subsets(max_size=2), 3 tokens of 2 items, from 3 examples of 2 classes)
    >>> table.lookup(["lime", "salt"]).mean
    1.0
    >>> table.lookup(["feta"]) is None
    True
    """

    tokeniser: Tokeniser
    filters: tuple[Filter, ...]
    task: Task
    classes: npt.NDArray[Any] | None
    prior: npt.NDArray[np.float64] | float
    n_examples: int
    vocabulary: pa.LargeStringArray
    index: TokenIndex
    statistics: Statistics
    examples: Examples | None = None
    corrections: Corrections | None = None

    @classmethod
    def build(
        cls,
        X: Any,
        y: Any,
        tokens: Any = None,
        filters: Any = (),
        *,
        task: str = "auto",
        sample_weight: Any = None,
        engine: Any = "local",
        threads: int | None = None,
    ) -> "TokenTable":
        """Count the tokens of examples.

        Parameters
        ----------
        X : column of lists or of strings, pair of columns, or list
            The examples.
        y : series, array or list
            The labels.
        tokens : tokeniser, default=Subsets()
            What takes examples apart: `Items`, `Subsets`, `NGrams`, `Cross`, `Difference`, or an object with a method
            ``tokens(example)``.
        filters : sequence of filters, optional
            What tokens have to pass: `MinCount`, `MaxInterval`, or functions. They have to pass all of them.
        task : {"auto", "classes", "number"}, default="auto"
            What the label is. With ``"auto"``, numbers with fractions and more than 100 distinct numbers are a number.
        sample_weight : array-like, optional
            Weights of the examples in means; counts are of examples. Examples of weight 0 are left out.
        engine : {"local"}, default="local"
            Where to count.
        threads : int, optional
            Threads; by default all cores. The table does not depend on them.

        Returns
        -------
        TokenTable
            The table.
        """
        if not (isinstance(engine, str) and engine == "local"):
            raise ValueError(f"engine is {engine!r}; only 'local' is available.")
        tokeniser = as_tokeniser(Subsets() if tokens is None else tokens)
        filters = check_filters(filters)
        return cls._count(Examples.read(X, y, tokeniser, task, sample_weight), tokeniser, filters, threads)

    @classmethod
    def _count(
        cls, examples: Examples, tokeniser: Tokeniser, filters: tuple[Filter, ...], threads: int | None = None
    ) -> "TokenTable":
        examples, _ = examples.canonical(tokeniser)
        counted = count_tokens(examples, tokeniser, filters, available_threads(threads))
        return cls.of_counted(counted, examples, tokeniser, filters)

    @classmethod
    def of_counted(
        cls, counted: Counted, examples: Examples, tokeniser: Tokeniser, filters: tuple[Filter, ...]
    ) -> "TokenTable":
        """Make the table of tokens that were counted in canonical examples."""
        classes, prior = prior_of(examples)
        return cls(
            tokeniser,
            filters,
            examples.labels.task,
            classes,
            prior,
            len(examples),
            counted.vocabulary,
            counted.index,
            counted.statistics,
            examples,
        )

    # What is known about tokens

    def __len__(self) -> int:
        return len(self.statistics)

    def __repr__(self) -> str:
        return _show.text(self)

    def _repr_html_(self) -> str:
        # What draws stands above, and knows token tables; they do not need it.
        return str(importlib.import_module("clearset.explain").token_table_html(self))

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

    @cached_property
    def _token_nodes(self) -> Int32:
        return token_nodes(self.index)

    @property
    def nodes(self) -> Int32:
        """The index's node of each token, (T,)."""
        return self._token_nodes[: len(self)]

    @cached_property
    def tokens_at(self) -> Int32:
        """The token at each node of the index; -1 where a node only leads to others."""
        tokens = np.full(len(self.index), -1, np.int32)
        tokens[self._token_nodes] = np.arange(len(self._token_nodes), dtype=np.int32)
        return tokens

    @cached_property
    def single_tokens(self) -> Int32:
        """The token that each item of the vocabulary is on its own; -1 where that is not in the table."""
        tokens = np.full(len(self.vocabulary), -1, np.int32)
        first = self.index.levels[1] if len(self.index.levels) > 1 else 0
        tokens[self.index.items[:first]] = self.tokens_at[:first]
        return tokens

    def items_of(self, tokens: npt.NDArray[Any]) -> Coded:
        """Return the items of tokens by their numbers, as codes of the vocabulary."""
        return self.index.items_of(self._token_nodes[tokens])

    def items_as_spelled(self, tokens: npt.NDArray[Any]) -> Coded:
        """Return the items of tokens as `items_of`, in the order they are spelled: alphabetical, except in n-grams."""
        items = self.items_of(tokens)
        if self.tokeniser.in_order:
            return items
        ranked = unique_sorted(Coded(self._ranks[items.codes], items.offsets), len(self._ranks))
        return Coded(np.argsort(self._ranks).astype(np.int32)[ranked.codes], ranked.offsets)

    @cached_property
    def _ranks(self) -> Int32:
        """The place of each item of the vocabulary in the alphabet."""
        ranks = np.empty(len(self.vocabulary), np.int32)
        ranks[pc.array_sort_indices(self.vocabulary).to_numpy()] = np.arange(len(ranks), dtype=np.int32)
        return ranks

    # Tokens of examples

    def encode(self, X: Any) -> EncodedSets:
        """Read examples into the codes of this table.

        Parameters
        ----------
        X : as in `build`
            The examples.

        Returns
        -------
        EncodedSets
            The codes of known items (in n-grams -1 holds the place of an unknown word), and the number of items of
            each example: distinct ones, in n-grams all words.
        """
        return encode_examples(X, self.tokeniser, self.vocabulary)

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
            Keep a token only if one of its items is in no kept larger token.
        views : ndarray, shape (B,), optional
            After `cross_fit`: 0 for the tokens of the table, fold + 1 for those known without the fold.
        threads : int, optional
            Threads; by default all cores.
        most : int, optional
            Of all examples together; where there are more, the search ends with a `TokenLimitError`.

        Returns
        -------
        Found
            Numbers of tokens, and where those of each example begin.

        Examples
        --------
        >>> import clearset as cs
        >>> table = cs.TokenTable.build([["a", "b"], ["c"]], [1, 0])
        >>> found = table.find(table.encode([["c", "b", "a"]]))
        >>> [table.spell(int(token)) for token in found.tokens]
        [('c',), ('a', 'b')]
        """
        own = isinstance(self.tokeniser, OwnTokeniser)
        if views is not None:
            views = np.asarray(views).astype(np.uint8)
        nodes, offsets = self.index.find(
            encoded.coded, views, cover=cover and not own, threads=available_threads(threads), most=most
        )
        if isinstance(self.tokeniser, OwnTokeniser) and cover:
            parts = self.tokeniser.parts_of(self.vocabulary)
            keep = cover_own(parts, Coded(self.index.items[nodes], offsets))
            nodes, offsets = nodes[keep], offsets_of_kept(keep)[offsets]
        return Found(self.tokens_at[nodes], offsets)

    def spell(self, token: int) -> tuple[str, ...]:
        """Return the items of a token by its number."""
        return tuple(self.spelled(np.array([token]))[0].as_py())

    def spelled(self, tokens: npt.NDArray[Any]) -> pa.LargeListArray:
        """Return the items of tokens by their numbers, as lists in alphabetical order; n-grams in their own."""
        return self.tokeniser.spell(spelled(self.items_as_spelled(tokens), self.vocabulary))

    # Looking tokens up

    def numbers_of(self, tokens: Sequence[str | int | Iterable[str | int]] | pa.LargeListArray) -> Int64:
        """Return the number of each token, written as in `lookup` or by `spelled`; -1 where it is not in the table."""
        nodes = nodes_of(tokens, self.tokeniser, self.vocabulary, self.index)
        numbers = np.append(self.tokens_at, -1)[np.maximum(nodes, -1)]
        return np.where(numbers < len(self), numbers, -1)

    def lookup(self, token: str | int | Iterable[str | int]) -> "_show.TokenStatistics | None":
        """Return what is known about a token, or None if it is not in the table.

        Parameters
        ----------
        token : str, int, or iterable of these
            One item, or the items of the token; their order matters only in n-grams.

        Returns
        -------
        TokenStatistics or None
            Its statistics.
        """
        number = int(self.numbers_of([token])[0])
        return None if number < 0 else _show.token_statistics(self, number)

    def lookup_many(self, tokens: Sequence[str | int | Iterable[str | int]]) -> pa.Table:
        """Return the rows of `to_arrow` of several tokens, as nulls where one is not in the table."""
        return _show.rows_of(self, tokens)

    def to_arrow(self) -> pa.Table:
        """Return token, size, count, weight, mean, variance, low and high; of several classes also class_weights."""
        return _show.arrow(self)

    def top(self, n: int = 20, by: str = "count") -> pa.Table:
        """Return the n rows of `to_arrow` with the greatest count, weight, size, mean or variance."""
        return _show.top(self, n, by)

    # Other tables

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> "TokenTable":
        """Return the table with further examples, the same as if all had come at once.

        Parameters
        ----------
        X, y, sample_weight : as in `build`
            The examples; there may be new items and new classes.

        Returns
        -------
        TokenTable
            The new table.
        """
        examples = self._kept_examples("updated")
        more = Examples.read(X, y, self.tokeniser, self.task, sample_weight)
        return self._count(examples + more, self.tokeniser, self.filters).carrying(self)

    def __add__(self, other: "TokenTable") -> "TokenTable":
        """Return the table of the examples of both, with the corrections of the first that has them."""
        if not isinstance(other, TokenTable):
            return NotImplemented
        for name, option in (("tokeniser", "tokens"), ("task", "task"), ("filters", "filters")):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"Tables can be merged if they were built alike, but the {name} is {mine!r} in one and {theirs!r} "
                    f"in the other. Build both with the same {option}=."
                )
        examples = self._kept_examples("merged") + other._kept_examples("merged")
        table = self._count(examples, self.tokeniser, self.filters)
        carrying = table.carrying(self)
        return carrying if carrying.corrections else table.carrying(other)

    def filter(self, *filters: Filter | Sequence[Filter]) -> "TokenTable":
        """Return the table of the tokens that pass further filters.

        Parameters
        ----------
        *filters : filters
            The further filters, or a list of them; those of the table stay.

        Returns
        -------
        TokenTable
            The smaller table, the same as if it had been built with all filters.
        """
        further = check_filters(filters[0] if len(filters) == 1 else filters)
        return self._keep(apply_filters(further, self.statistics), (*self.filters, *further)).carrying(self)

    def carrying(self, other: "TokenTable") -> "TokenTable":
        """Return this table with the corrections of another one of the same classes, as far as it has the tokens."""
        corrections, mine, theirs = other.corrections, self.classes, other.classes
        alike = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        return replace(self, corrections=corrections.carried(other, self) if corrections and alike else None)

    def without_examples(self) -> "TokenTable":
        """Return the table without its examples: smaller, with no rows of people in it; it cannot be updated."""
        return replace(self, examples=None)

    def _keep(self, passes: npt.NDArray[np.bool_], filters: tuple[Filter, ...]) -> "TokenTable":
        kept = np.flatnonzero(passes)
        tokens = self.index.items_of(self.nodes[kept])
        used, codes = np.unique(tokens.codes, return_inverse=True)
        vocabulary = self.vocabulary.take(pa.array(used))
        index, _ = TokenIndex.from_tokens(
            self.tokeniser.joining(vocabulary),
            Coded(codes.astype(np.int32), tokens.offsets),
            np.ones(len(kept), np.uint32),
        )
        return replace(
            self, filters=filters, vocabulary=vocabulary, index=index, statistics=self.statistics.take(kept)
        )

    def _kept_examples(self, what: str) -> Examples:
        if self.examples is None:
            raise ValueError(
                f"This table was left without its examples, so it cannot be {what}: tokens that were too rare before "
                "could not be counted. Build it again from all examples, or keep them: save(path, examples=True)."
            )
        return self.examples

    # Files

    def save(self, path: str | os.PathLike[str], examples: bool = True) -> None:
        """Write the table to a Parquet file, and its examples to one beside it.

        Parameters
        ----------
        path : path-like
            The file, such as ``table.parquet``; the examples go to ``table.parquet.examples``.
        examples : bool, default=True
            Whether to write the examples; without them the table can be used but not updated.
        """
        from clearset.tokens import _storage

        _storage.save(self, path, examples)

    @classmethod
    def load(cls, path: str | os.PathLike[str], tokens: Any = None, filters: Any = None) -> "TokenTable":
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.
        tokens : tokeniser, optional
            One's own tokeniser, if the table was built with one: files hold no code.
        filters : sequence of filters, optional
            The filters, if own functions were among them and the table is to be updated.

        Returns
        -------
        TokenTable
            The table; without its examples if their file is not there, or with a warning if it was changed.
        """
        from clearset.tokens import _storage

        return _storage.load(path, tokens, filters)

    def write_parquet(self, file: IO[bytes]) -> None:
        """Write the table without its examples to an open file."""
        from clearset.tokens import _storage

        _storage.write(self, file)

    @classmethod
    def read_parquet(cls, file: IO[bytes] | bytes, tokens: Any = None, filters: Any = None) -> "TokenTable":
        """Read what `write_parquet` wrote, from an open file or its bytes."""
        from clearset.tokens import _storage

        return _storage.read(file, tokens, filters)
