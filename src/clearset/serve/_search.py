"""Search over a whole token table."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.explain._plain import number
from clearset.explain._tokens import described_tokens
from clearset.serve._limits import MOST_EXPLAINED, TooLargeError, find_within
from clearset.tokens import Coded, EncodedSets, refined_values
from clearset.tokens._vocabulary import places_in

ORDERS = ("telling", "count", "high", "low")
MOST_ROWS = 1000
MOST_ITEMS = 100
_KEPT_ORDERS = 16
_MOST_WORDS = 50


class TokenSearch:
    """Looks tokens up by what they are spelled of, and by the items of a set.

    Parameters
    ----------
    model
        A fitted semantic estimator.
    """

    def __init__(self, model: Any) -> None:
        self._model, self._table = model, model.token_table_
        crossing, _ = model._reader()
        self._values = refined_values(self._table, crossing.rows.values, np.arange(len(self._table)))
        # Words are looked for in the items, which are few, and not in the tokens, which may be millions.
        self._items = self._table.items_of(np.arange(len(self._table)))
        self._texts = _folded(self._table.vocabulary)
        # An item is as frequent as the most frequent of its tokens.
        self._frequent = np.zeros(len(self._table.vocabulary), np.int64)
        counts = np.repeat(self._table.counts.astype(np.int64), np.diff(self._items.offsets))
        np.maximum.at(self._frequent, self._items.codes, counts)
        # What a table finds out when it is first asked, it should know before anybody waits for it.
        self._stated = dict(
            zip(("mean", "low", "high"), (self._table.means, *self._table.intervals), strict=True)
        )
        self.known([])
        self._ranked = lru_cache(_KEPT_ORDERS)(self._rank)
        self._ranked(ORDERS[0], 0)

    def __call__(self, text: str, by: str, column: int, offset: int, limit: int) -> dict[str, Any]:
        """Give the tokens that hold every word of a text, page by page.

        Parameters
        ----------
        text
            Words, or parts of such, in any case, between spaces or commas. An item that has a comma in it holds the
            words on both of its sides.
        by
            One of `ORDERS`.
        column
            Which class, of several; 0 otherwise.
        offset, limit
            Which of the tokens found.
        """
        found = self._ranked(by, column)
        words = set(_folded(pa.scalar(text)).as_py().replace(",", " ").split())
        if len(words) > _MOST_WORDS:
            raise ValueError(f"'search' has {len(words)} words. Look for {_MOST_WORDS} at most.")
        for word in words:
            found = found[self._holding(word)[found]]
        return {"n": len(found), "tokens": self._rows(found[offset : offset + limit], column)}

    def _holding(self, word: str) -> npt.NDArray[np.bool_]:
        """Tell which tokens have an item with a word in it."""
        items = pc.match_substring(self._texts, word).to_numpy(zero_copy_only=False)
        if not items.any():
            return np.zeros(len(self._table), bool)
        return np.asarray(np.logical_or.reduceat(items[self._items.codes], self._items.offsets[:-1]))

    def items(self, text: str, limit: int) -> dict[str, Any]:
        """Give the items that hold a text, in any case: first what is all of it, then the most frequent."""
        wanted = _folded(pa.scalar(text.strip())).as_py()
        found = np.flatnonzero(pc.match_substring(self._texts, wanted).to_numpy(zero_copy_only=False))
        whole = pc.equal(self._texts.take(pa.array(found)), wanted).to_numpy(zero_copy_only=False)
        order = found[np.lexsort((-self._frequent[found], ~whole))]
        return {"n": len(found), "items": self._table.vocabulary.take(pa.array(order[:limit])).to_pylist()}

    def known(self, items: list[str]) -> dict[str, Any]:
        """Describe the tokens of one set, as the document of the page does."""
        table = self._table
        places = places_in(pa.array(items, pa.large_string()), table.vocabulary)
        codes = places if table.tokeniser.in_order else np.unique(places[places >= 0])
        encoded = EncodedSets(Coded(codes, np.array([0, len(codes)])), np.array([len(items)]))
        found = find_within(table, encoded, bool(self._model.setting_.cover), MOST_EXPLAINED)
        if found is None:
            raise TooLargeError(f"The set has more than {MOST_EXPLAINED:,} tokens. Give fewer items.")
        return described_tokens(self._model, np.unique(found.tokens).astype(np.int64))

    def _rank(self, by: str, column: int) -> npt.NDArray[np.int32]:
        values, counts = self._values[:, column], self._table.counts.astype(np.float64)
        if by == "count":
            keys = counts
        elif by == "telling":
            prior = np.atleast_1d(self._table.prior)[-self._values.shape[1] :]  # of two classes the second's
            centre = 0.0 if self._model.features_[0].name == "log_odds" else prior[column]
            keys = np.abs(values - centre) * np.sqrt(counts)
        else:
            keys = values if by == "high" else -values
        return np.argsort(-keys, kind="stable").astype(np.int32)

    def _rows(self, tokens: npt.NDArray[np.int32], column: int) -> list[dict[str, Any]]:
        stated = {name: values[tokens] for name, values in self._stated.items()}
        one = {name: values if values.ndim == 1 else values[:, column] for name, values in stated.items()}
        one["value"] = self._values[tokens, column]
        spelled = self._table.spelled(tokens).to_pylist()
        return [
            {
                "token": token,
                "size": int(self._table.sizes[tokens[place]]),
                "count": int(self._table.counts[tokens[place]]),
                **{name: number(values[place]) for name, values in one.items()},
            }
            for place, token in enumerate(spelled)
        ]


def _folded(text: Any) -> Any:
    """Lower texts as Arrow does, letter by letter; the sigma at the end of words is another letter then."""
    return pc.replace_substring(pc.utf8_lower(text), pattern="\u03c2", replacement="\u03c3")
