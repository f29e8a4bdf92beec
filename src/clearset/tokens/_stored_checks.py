"""Whether what a file says of tokens fits together: its checksum may be right, and it may be made up all the same."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.tokens._codes import Coded
from clearset.tokens._statistics import Kinds, Statistics
from clearset.tokens._table import TokenTable
from clearset.tokens._tokenizers import Tokenizer


def check_columns(rows: pa.Table) -> None:
    """Raise a ValueError where a column lacks values."""
    for name in ("token", "codes", "count", "size", "sums"):
        column = rows[name]
        nested = column.combine_chunks().flatten() if hasattr(column.type, "value_type") else column
        if column.null_count or nested.null_count:
            raise ValueError(f"column {name!r} lacks values")


def check_document(document: dict[str, Any], classes: npt.NDArray[Any] | None) -> None:
    """Raise a ValueError or TypeError unless the description of a table is of the right types."""
    n, prior, centre = document["n_examples"], document["prior"], document["centre"]
    if type(n) is not int or n < 0:
        raise TypeError(f"the number of examples is {n!r}")
    if document["task"] != ("number" if classes is None else "classes"):
        raise ValueError(f"the task is {document['task']!r}")
    if classes is None and not (_is_finite(prior) and _is_finite(centre)):
        raise ValueError(f"the prior is {prior!r} and the centre {centre!r}")
    if classes is not None and (centre is not None or not isinstance(prior, list) or len(prior) != len(classes)):
        raise ValueError(f"the prior is {prior!r} and the centre {centre!r} of {len(classes)} classes")
    if isinstance(prior, list) and not all(_is_finite(share) and 0 <= share <= 1 for share in prior):
        raise ValueError(f"the prior is {prior!r}")


def check_statistics(statistics: Statistics, nodes: npt.NDArray[Any], n_examples: int) -> None:
    """Raise a ValueError unless each token is there once, with statistics that can be."""
    if len(np.unique(nodes)) < len(nodes):
        raise ValueError("a token is there twice")
    if (statistics.sizes < 1).any():
        raise ValueError("a token has no items")
    held, sums = statistics.held, statistics.sums
    if held.dtype.kind not in "iu" or (held < 0).any() or (held > n_examples).any():
        raise ValueError(f"tokens are in fewer than 0 or more than {n_examples} examples")
    weights = sums if statistics.centre is None else sums[:, :1]
    if not np.isfinite(sums).all() or (weights < 0).any():
        raise ValueError("sums of labels are not finite, or weights are negative")


def check_one_kind(tokenizer: Tokenizer, vocabulary: pa.LargeStringArray, tokens: Coded) -> None:
    """Raise a ValueError unless the items of each token, given as codes, are of one kind."""
    if (kinds := Kinds.of(tokenizer, vocabulary, tokens.codes)) is not None:
        same = np.diff(kinds.numbers.astype(np.int64)) == 0
        if not same[np.diff(tokens.rows) == 0].all():
            raise ValueError("a token has items of two kinds")


def check_corrections(table: TokenTable) -> None:
    """Raise a ValueError unless learned corrections fit the table."""
    if (corrections := table.corrections) is None:
        return
    n_columns = 1 if table.classes is None or len(table.classes) == 2 else len(table.classes)
    if corrections.amounts.shape[1] != n_columns or not np.isfinite(corrections.amounts).all():
        raise ValueError("corrections are not finite, or not one for each class")
    if not _is_finite(corrections.shrinkage) or corrections.shrinkage < 0 or not isinstance(corrections.value, str):
        raise ValueError("corrections are of no value that is known")


def _is_finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
