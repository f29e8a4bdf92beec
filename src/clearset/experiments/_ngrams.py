"""Queries as sets of their n-grams, with statistics of a training split for tokens."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.sets import SetData, offsets_from_sizes
from clearset.tokens import Items, MinCount, NGrams, TokenTable, flat, offsets_of_kept, token_values

# Examples of the prior that the rates of n-grams, and those of parts of words, are mixed with.
_SHRINKAGE, _SHRINKAGE_OF_PARTS = 2.0, 5.0

_LETTERS = 3  # of a word's ending or beginning
_MIN_COUNT_OF_PARTS = 5

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass
class NGramFeatures:
    """Turn queries into sets of n-grams with eleven features each.

    The tokens of a query are its n-grams that the table knows, and every single word, known or not. What the table
    does not know of a token is missing. A query without words is an empty set.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.experiments._ngrams import NGramFeatures
    >>> texts = pa.array(["renew passport", "renew passport online", "chicken soup"])
    >>> sets = NGramFeatures(max_order=2).fit(texts, [1, 1, 0]).transform(pa.array(["renew passport fast"]))
    >>> sets.column("order")[0].tolist(), sets.column("rate")[0].round(2).tolist()
    ([1.0, 1.0, 1.0, 2.0], [0.83, 0.83, nan, 0.83])
    """

    max_order: int = 3  # the most words of an n-gram
    min_count: int = 2  # the fewest training queries that hold a known n-gram

    def fit(self, texts: pa.StringArray, y: Any) -> "NGramFeatures":
        """Count the n-grams, endings and beginnings of queries, whose words stand between white space, by class."""
        words = _Words.of(texts)
        self.table_ = TokenTable.build(
            words.lists(words.strings), y, NGrams(self.max_order), [MinCount(self.min_count)], task="classes"
        )
        classes = [] if self.table_.classes is None else self.table_.classes.tolist()
        if len(classes) != 2:
            raise ValueError(f"y holds {len(classes)} classes, {classes[:5]}; queries have one of two.")
        self.endings_, self.beginnings_ = (
            TokenTable.build(words.lists(parts), y, Items(), [MinCount(_MIN_COUNT_OF_PARTS)], task="classes")
            for parts in (words.endings, words.beginnings)
        )
        return self

    def transform(self, texts: pa.StringArray) -> SetData:
        """Return the sets of queries, n-grams by order and then by place."""
        words = _Words.of(texts)
        rows, starts, orders = words.grams(self.max_order)
        numbers = self.table_.numbers_of(words.spelled(starts, orders))
        known = numbers >= 0
        share_known = np.bincount(rows, known, len(words)) / np.maximum(np.bincount(rows, minlength=len(words)), 1)

        kept = known | (orders == 1)
        rows, starts, orders, numbers = (values[kept] for values in (rows, starts, orders, numbers))
        last, n_words, statistics = starts + orders - 1, words.sizes[rows], self.table_.statistics
        letters = offsets_from_sizes(pc.utf8_length(words.strings).to_numpy())
        columns = {
            "rate": _rates(self.table_, _SHRINKAGE)[numbers],  # shrunk share of the second class
            "ending": _rates_of_parts(self.endings_, words.endings)[last],  # the same of its last 3 letters
            "beginning": _rates_of_parts(self.beginnings_, words.beginnings)[starts],  # of its first 3 letters
            "log_count": np.append(np.log1p(statistics.counts), np.nan)[numbers],  # of training queries
            "order": orders,
            "interval": np.append(statistics.interval_widths(), np.nan)[numbers],  # width of the rate's Wilson interval
            "letters": (letters[last + 1] - letters[starts]) / orders,  # mean of its words
            "position": (starts - words.offsets[rows]) / np.maximum(n_words - orders, 1),  # from 0 to 1
            "share": orders / n_words,  # its words over those of the query
            "words": n_words,
            "known": share_known[rows],  # share of all n-grams of the query that the table knows
        }
        offsets = offsets_from_sizes(np.bincount(rows, minlength=len(words)))
        return SetData(np.stack(list(columns.values())).T, offsets, list(columns))


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of texts, one after the other, and where those of each text begin."""

    strings: pa.LargeStringArray
    offsets: IntArray

    @classmethod
    def of(cls, texts: pa.StringArray) -> "_Words":
        if not isinstance(texts, pa.Array | pa.ChunkedArray):
            raise TypeError(f"texts is a {type(texts).__name__}; give an Arrow array of strings.")
        column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        strings, offsets = flat(pc.utf8_split_whitespace(column.cast(pa.large_string()).fill_null("")))
        present = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)  # white space at the ends
        return cls(strings.filter(pa.array(present)), offsets_of_kept(present)[offsets])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.offsets)

    @property
    def endings(self) -> pa.LargeStringArray:
        return pc.utf8_slice_codeunits(self.strings, -_LETTERS)

    @property
    def beginnings(self) -> pa.LargeStringArray:
        return pc.utf8_slice_codeunits(self.strings, 0, _LETTERS)

    def lists(self, strings: pa.LargeStringArray) -> pa.LargeListArray:
        """Return strings, one a word, as one list a text."""
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), strings)

    def grams(self, max_order: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return the text, the first word and the number of words of every n-gram, text by text."""
        of_words, n = np.repeat(np.arange(len(self)), self.sizes), len(self.strings)
        starts, orders = [], []
        for order in range(1, max_order + 1):
            places = np.arange(n - order + 1)
            within = places[of_words[places] == of_words[places + order - 1]]
            starts.append(within)
            orders.append(np.full(len(within), order))
        start, order_of = np.concatenate(starts), np.concatenate(orders)
        by_text = np.argsort(of_words[start], kind="stable")
        return of_words[start[by_text]], start[by_text], order_of[by_text]

    def spelled(self, starts: IntArray, orders: IntArray) -> pa.LargeListArray:
        """Return the words of n-grams."""
        offsets = offsets_from_sizes(orders)
        places = np.repeat(starts - offsets[:-1], orders) + np.arange(offsets[-1])
        return pa.LargeListArray.from_arrays(pa.array(offsets), self.strings.take(pa.array(places)))


def _rates(table: TokenTable, shrinkage: float) -> FloatArray:
    """Return the rate of every token, and last, where -1 finds it, a missing one."""
    return np.append(token_values(table, table.statistics, "mean_label", shrinkage)[:, 0], np.nan)


def _rates_of_parts(table: TokenTable, parts: pa.LargeStringArray) -> FloatArray:
    """Return the rate of every part of a word."""
    encoded = parts.dictionary_encode()
    each = pa.LargeListArray.from_arrays(pa.array(np.arange(len(encoded.dictionary) + 1)), encoded.dictionary)
    rates = _rates(table, _SHRINKAGE_OF_PARTS)[table.numbers_of(each)]
    return np.asarray(rates[encoded.indices.to_numpy()])
