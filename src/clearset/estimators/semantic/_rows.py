"""The rows that tokens point into: a token's value for each class and its own features, for every view of the table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clearset.tokens import OWN, Statistics, TokenTable, own_feature, token_values


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Statistics of tokens as a set function reads them, view after view.

    A view is what an example may know of a token: all of the table (view 0), or what is known without a fold.

    Attributes
    ----------
    values
        ``(R, C)``: the value of a token in a view, at ``view * n_tokens + token``.
    own
        ``(R,)`` for each of the token's own features.
    n_tokens
        Rows of one view.
    """

    values: npt.NDArray[np.float64]
    own: dict[str, npt.NDArray[np.float64]]
    n_tokens: int

    @classmethod
    def of(
        cls, table: TokenTable, out_of_fold: Sequence[Statistics], names: Sequence[str], shrinkage: float
    ) -> "TokenRows":
        """Lay out the statistics of a table and of its folds.

        Parameters
        ----------
        table, out_of_fold
            From `cross_fit`; no folds where the aggregation has examples of its own.
        names
            The features, the value first.
        shrinkage
            Examples of the prior that every mean is mixed with.
        """
        views = [table.statistics, *out_of_fold]
        n_tokens = max(len(view) for view in views)
        value, *others = names

        def end_to_end(parts: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
            # The table itself may lack tokens that pass only without a fold; they come last, and nothing finds them.
            lengths = [(0, n_tokens - len(part)) for part in parts]
            return np.concatenate(
                [
                    np.pad(part, [length] + [(0, 0)] * (part.ndim - 1))
                    for part, length in zip(parts, lengths, strict=True)
                ]
            )

        values = end_to_end([token_values(table, view, value, shrinkage) for view in views])
        own = {
            name: end_to_end([own_feature(table, view, name, shrinkage) for view in views])
            for name in others
            if name in OWN
        }
        return cls(values, own, n_tokens)
