"""Search in the whole token table of a model."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.models import SemanticModel
from clearset.models.documents import described_tokens
from clearset.serve._errors import TooLargeError
from clearset.serve._query_parameters import ORDER
from clearset.sets import number
from clearset.tokens import Coded, EncodedSets, TokenLimitError, places_in, refined_values

MOST_WORDS = 50
_KEPT_ORDERS = 16


class TokenSearch:
    """Looks tokens up by the words in them, and by the items of a set."""

    def __init__(self, model: SemanticModel, most_tokens: int) -> None:
        self._most_tokens = most_tokens
        self._model, self._table = model, model.table
        self._values = refined_values(self._table, model.reader.rows.values, np.arange(len(self._table)))
        # Words are searched in the items, which are few, and not in the tokens, which may be millions.
        self._items = self._table.items_of(np.arange(len(self._table)))
        self._texts = _folded(self._table.vocabulary)
        # The count of an item is that of its most frequent token.
        self._frequent = np.zeros(len(self._table.vocabulary), np.int64)
        counts = np.repeat(self._table.counts.astype(np.int64), np.diff(self._items.offsets))
        np.maximum.at(self._frequent, self._items.codes, counts)
        # The table computes some of its content on first use; this happens here, before the first request.
        self._stated = dict(zip(("mean", "low", "high"), (self._table.means, *self._table.intervals), strict=True))
        self.known([])
        self._ranked = lru_cache(_KEPT_ORDERS)(self._rank)
        self._ranked(ORDER.words[0], 0)

    def __call__(self, text: str, by: str, column: int, offset: int, limit: int) -> dict[str, Any]:
        """Return one page of the tokens that contain every word, or part of a word, of a text."""
        # Spaces and commas separate words, and an item with a comma in it contains those on both of its sides. `by` is
        # one of the words of `ORDER`; `column` is the place of the class if there are more than two, else 0.
        found = self._ranked(by, column)
        words = set(_folded(pa.scalar(text)).as_py().replace(",", " ").split())
        if len(words) > MOST_WORDS:
            raise TooLargeError(f"'search' has {len(words)} words. Look for {MOST_WORDS} at most.")
        for word in words:
            found = found[self._holding(word)[found]]
        return {"n": len(found), "tokens": self._rows(found[offset : offset + limit], column)}

    def _holding(self, word: str) -> npt.NDArray[np.bool_]:
        """Return, for each token, whether one of its items contains a word."""
        items = pc.match_substring(self._texts, word).to_numpy(zero_copy_only=False)
        if not items.any():
            return np.zeros(len(self._table), bool)
        return np.asarray(np.logical_or.reduceat(items[self._items.codes], self._items.offsets[:-1]))

    def items(self, text: str, limit: int) -> dict[str, Any]:
        """Return the items that contain a text, in any case: first those equal to it, then the most frequent."""
        wanted = _folded(pa.scalar(text.strip())).as_py()
        found = np.flatnonzero(pc.match_substring(self._texts, wanted).to_numpy(zero_copy_only=False))
        whole = pc.equal(self._texts.take(pa.array(found)), wanted).to_numpy(zero_copy_only=False)
        order = found[np.lexsort((-self._frequent[found], ~whole))]
        return {"n": len(found), "items": self._table.vocabulary.take(pa.array(order[:limit])).to_pylist()}

    def known(self, items: list[str]) -> dict[str, Any]:
        """Describe the tokens of one set, in the form of the page's document."""
        table = self._table
        places = places_in(pa.array(items, pa.large_string()), table.vocabulary)
        codes = places if table.tokenizer.in_order else np.unique(places[places >= 0])
        encoded = EncodedSets(Coded(codes, np.array([0, len(codes)])), np.array([len(items)]))
        try:
            found = table.find(encoded, self._model.setting.cover, threads=1, most=self._most_tokens)
        except TokenLimitError:
            raise TooLargeError(f"The set has more than {self._most_tokens:,} tokens. Give fewer items.") from None
        return described_tokens(self._model, np.unique(found.tokens).astype(np.int64))

    def _rank(self, by: str, column: int) -> npt.NDArray[np.int32]:
        values, counts = self._values[:, column], self._table.counts.astype(np.float64)
        if by == "count":
            keys = counts
        elif by == "telling":
            # With two classes there is one column of values, that of the second.
            prior = np.atleast_1d(self._table.prior)[-self._values.shape[1] :]
            centre = 0.0 if self._model.binning.features[0].name == "log_odds" else prior[column]
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
    """Return texts in lower case, letter by letter as Arrow does; a sigma at the end of a word equals any other."""
    return pc.replace_substring(pc.utf8_lower(text), pattern="\u03c2", replacement="\u03c3")
