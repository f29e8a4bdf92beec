"""What one prediction is made of: tokens and features of the whole set, the most important first."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.display._protocols import FloatArray, ShownExplanation
from clearset.display._short_text import counted, set_feature_texts, token_texts


@dataclass(frozen=True)
class ExplainedParts:
    """Tokens, then features of the whole set, of one explanation; P of them.

    Scores are NaN where there are none, and `without` where the prediction without the part is not known.
    """

    texts: list[str]
    scores: FloatArray  # (P, K)
    contributions: FloatArray  # (P,)
    without: FloatArray  # (P,)
    n_tokens: int

    @classmethod
    def of(cls, one: ShownExplanation, most_characters: int) -> "ExplainedParts":
        """Take the explanation of one set."""
        tokens, of_sets = one.tokens, one.of_sets
        return cls(
            [*token_texts(one, most_characters), *set_feature_texts(one, most_characters)],
            np.vstack([_scores(tokens), _scores(of_sets)]),
            np.concatenate([_numbers(tokens, "contribution"), _numbers(of_sets, "contribution")]),
            np.concatenate([_numbers(tokens, "without"), np.full(len(of_sets), np.nan)]),
            len(tokens),
        )

    def order(self) -> npt.NDArray[np.intp]:
        """Return the places of the parts, the largest contribution first."""
        return np.argsort(-np.abs(self.contributions), kind="stable")

    def named(self, most: int) -> tuple[npt.NDArray[np.intp], str, float]:
        """Return the places of the parts to name, and what the others are called and add up to."""
        order = self.order()
        if len(order) <= most + 1:
            return order, "", 0.0
        kept, rest = order[:most], order[most:]
        what = "other tokens" if (rest < self.n_tokens).all() else "others"
        return kept, counted(len(rest), what), float(self.contributions[rest].sum())


def _numbers(table: pa.Table, name: str) -> FloatArray:
    return np.array(table[name].to_pylist(), dtype=np.float64)


def _scores(table: pa.Table) -> FloatArray:
    """Return the scores ``(n, K)`` of a table, whose column holds numbers or lists."""
    column = table["score"].combine_chunks()
    values = column.flatten() if pa.types.is_fixed_size_list(column.type) else column
    width = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 1
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64).reshape(-1, width)
