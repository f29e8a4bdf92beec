"""The categories of training examples, and which of them an example holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.estimators import is_auto
from clearset.sets import IntArray
from clearset.tokens import MinCount, NGrams, TokenTable, as_tokenizer
from clearset.training import smallest_tokens


@dataclass(frozen=True, eq=False)
class Categories:
    """Items, words or larger tokens, in the order of their names.

    Examples
    --------
    >>> from clearset.baselines._categories import Categories
    >>> categories = Categories.fit([["salt", "lime"], ["salt", "feta"]])
    >>> categories.names.tolist()
    ['feta', 'lime', 'salt']
    >>> [found.tolist() for found in categories.find([["salt", "lime", "tofu"], []])]
    [[1, 2], [0, 2, 2]]
    """

    names: npt.NDArray[np.object_]
    _table: TokenTable
    _places: IntArray  # of the table's tokens among the names

    @classmethod
    def fit(cls, X: Any, tokens: Any = "auto", min_count: int = 1, threads: int | None = None) -> "Categories":
        """Collect the tokens that at least `min_count` examples hold, of texts the words unless told otherwise."""
        tokenizer = smallest_tokens(X) if is_auto(tokens) else as_tokenizer(tokens)
        table = TokenTable.build(
            X, np.zeros(len(X)), tokenizer, [MinCount(min_count)], task="number", threads=threads
        ).without_examples()
        between = " " if isinstance(tokenizer, NGrams) else ", "
        joined = pc.binary_join(table.spelled(np.arange(len(table))), pa.scalar(between, pa.large_string()))
        order = pc.array_sort_indices(joined).to_numpy()
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        return cls(joined.take(pa.array(order)).to_numpy(zero_copy_only=False), table, places)

    def __len__(self) -> int:
        return len(self.names)

    def find(self, X: Any, threads: int | None = None) -> tuple[IntArray, IntArray]:
        """Return the places of each example's categories among the names, ascending, and the examples' offsets."""
        # A category that was not collected is left out, and one that an example holds twice is there once.
        found = self._table.find(self._table.encode(X), cover=False, threads=threads)
        places = self._places[found.tokens]
        rows = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
        return places[np.lexsort((places, rows))], found.offsets
