"""Cross-fitting: statistics of tokens for examples that are part of the table, without the example's own fold."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import FileRows, Labels
from clearset.tokens._codes import Float64, Int32
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._counting import available_threads
from clearset.tokens._filters import check_filters, check_kinds
from clearset.tokens._own_tokenizers import as_tokenizer
from clearset.tokens._statistics import Statistics
from clearset.tokens._streamed_table import Counting, Folds, cross_fit_streamed
from clearset.tokens._table import TokenTable

_MOST_FOLDS = 31  # one bit of a node's mask each, and one for the table itself


def cross_fit(
    X: Any,
    y: Any,
    tokens: Any,
    filters: Any,
    folds: npt.ArrayLike,
    n_folds: int,
    sample_weight: Any = None,
    *,
    threads: int | None = None,
) -> tuple[TokenTable, tuple[Statistics, ...]]:
    """Build a table and, in the same pass, the statistics outside of each fold.

    Parameters
    ----------
    X, y, tokens, filters : as in `TokenTable.build`
        The examples; y may also be `Labels`, which are classes or numbers already.
    folds : array-like of int, shape (B,)
        The fold of each example, from 0 to ``n_folds`` - 1.
    n_folds : int
        The number of folds, from 2 to 31.
    sample_weight, threads : as in `TokenTable.build`, optional
        The weights, and the number of threads.

    Returns
    -------
    table : TokenTable
        The table of all examples, the same as that of `TokenTable.build`. With ``views=folds + 1``, its `find` returns
        the tokens that pass the filters outside of the example's fold.
    out_of_fold : tuple of Statistics
        For each fold, statistics of all tokens by the examples outside of it, with counts and weights brought to the
        size of all examples, and with ``passes``. After the T tokens of the table come those that pass only without
        some fold; `find` returns their numbers for the views that have them.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.tokens import cross_fit
    >>> table, (without_0, without_1) = cross_fit(
    ...     [["a"], ["a"], ["a"], ["a", "b"]], [1, 0, 1, 1], cs.Items(), [], folds=[0, 0, 1, 1], n_folds=2)
    >>> table.lookup("a").mean, [table.spell(token) for token in range(2)]
    (0.75, [('b',), ('a',)])
    >>> without_0.means.tolist(), without_0.counts.tolist(), without_1.passes.tolist()
    ([1.0, 1.0], [2.0, 4.0], [False, True])
    """
    tokenizer, chosen = as_tokenizer(tokens), check_filters(filters)
    check_kinds(chosen, tokenizer.kinds)
    examples = CountedExamples.read(X, y, tokenizer, sample_weight=sample_weight)
    numbers = _check_folds(folds, n_folds, len(examples))
    return TokenTable.of_examples(examples, tokenizer, chosen, threads, numbers, n_folds)


def table_of_rows(
    rows: FileRows,
    labels: Labels,
    weights: Float64 | None,
    tokens: Any,
    filters: Any,
    folds: npt.NDArray[np.integer] | None = None,
    n_folds: int = 0,
    *,
    threads: int | None = None,
) -> tuple[TokenTable, tuple[Statistics, ...]]:
    """Return what `cross_fit` does of rows in files; without folds the table alone. It comes without its examples."""
    how = Counting(as_tokenizer(tokens), check_filters(filters), available_threads(threads), rows.max_memory)
    check_kinds(how.filters, how.tokenizer.kinds)
    found, rest = cross_fit_streamed(rows, labels, weights, how, Folds(folds, n_folds))
    return TokenTable(tokenizer=how.tokenizer, filters=how.filters, **vars(found)), rest


def _check_folds(folds: npt.ArrayLike, n_folds: int, n_examples: int) -> Int32:
    if not 2 <= n_folds <= _MOST_FOLDS:
        raise ValueError(f"n_folds is {n_folds}; give a number from 2 to {_MOST_FOLDS}.")
    numbers = np.asarray(folds)
    if numbers.shape != (n_examples,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"folds is {numbers.dtype} of shape {numbers.shape}; give a whole number for each of {n_examples} examples."
        )
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n_folds):
        raise ValueError(f"folds reach from {numbers.min()} to {numbers.max()}; they must lie in [0, {n_folds}).")
    return numbers.astype(np.int32)
