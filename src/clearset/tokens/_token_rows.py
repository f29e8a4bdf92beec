"""The rows that tokens point into: a token's value for each class and its own features, for every view of the table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearset.tokens._codes import Float64
from clearset.tokens._features import OWN, own_feature, token_values
from clearset.tokens._statistics import Statistics
from clearset.tokens._table import TokenTable


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Statistics of tokens as a set function reads them, view after view.

    A view is one set of statistics: that of the table (view 0), or that of the examples outside of a fold.
    """

    values: Float64  # the value of a token in a view, in row ``view * n_tokens + token``
    own: dict[str, Float64]  # the token's own features
    n_tokens: int  # the number of rows of one view
    kinds: tuple[str, ...] = ()  # the categories of the feature "kind"

    @classmethod
    def of(
        cls, table: TokenTable, out_of_fold: Sequence[Statistics], names: Sequence[str], shrinkage: float
    ) -> "TokenRows":
        """Return the rows of a table and of its folds; the parameters are those of `TokenReader`."""
        views = [table.statistics, *out_of_fold]
        n_tokens = max(len(view) for view in views)
        value, *others = names

        def end_to_end(parts: list[Float64]) -> Float64:
            # The table itself may lack tokens that pass only without a fold; they come last, and nothing finds them.
            rows = np.zeros((len(parts), n_tokens, *parts[0].shape[1:]))
            for view, part in enumerate(parts):
                rows[view, : len(part)] = part
            return rows.reshape(-1, *rows.shape[2:])

        values = end_to_end([token_values(table, view, value, shrinkage) for view in views])
        own = {
            name: end_to_end([own_feature(table, view, name, shrinkage) for view in views])
            for name in others
            if name in OWN
        }
        return cls(values, own, n_tokens, table.tokenizer.kinds)
