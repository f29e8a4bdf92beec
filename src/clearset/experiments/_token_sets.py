"""Strings as plain sets of tokens with statistics, for any model of sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import SetData, count_examples, count_threads, read_labels
from clearset.tokens import PER_SET, WHOLE, Statistics, TokenReader, TokenTable, cross_fit
from clearset.training import deal


class TokenSets:
    """Turn strings into sets of their tokens, with the features of the paper.

    The features of a token are its mean label, ``log_count``, ``size``, ``whole`` (1 where it is the whole set), and
    ``items`` and ``tokens`` of its set. The mean label of a number or of two classes (the share of the second) is
    ``mean_label``; several classes have one column each, such as ``P(thai)``. An example without known tokens is an
    empty set.

    Parameters
    ----------
    tokens : tokenizer
        What makes tokens of examples.
    filters : sequence of filters, default=()
        The conditions that tokens have to meet.
    cover : bool
        Whether larger tokens replace the smaller ones whose items they hold.
    n_folds : int, default=5
        The number of folds of the examples that the table is made of.
    shrinkage : float, default=1.0
        The number of examples of the prior that every mean is mixed with.
    task : {"auto", "classes", "number"}, default="auto"
        The kind of label, as in `TokenTable.build`.
    random_state : int
        The seed of the folds.

    Attributes
    ----------
    table_ : TokenTable
        The table of all examples.
    folds_ : ndarray of shape (B,)
        The fold of each example.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.experiments._token_sets import TokenSets
    >>> sets = TokenSets(cs.Subsets(2), cover=True, n_folds=2, shrinkage=0.0, random_state=0)
    >>> known = sets.fit_transform([["a", "b"], ["a", "b"], ["a"], ["b"]], [1, 1, 0, 1])
    >>> known.feature_names
    ('mean_label', 'log_count', 'size', 'whole', 'items', 'tokens')
    >>> sets.transform([["a", "c"]]).values.round(2).tolist()
    [[0.67, 1.39, 1.0, 0.0, 2.0, 1.0]]
    """

    def __init__(
        self,
        tokens: Any,
        filters: Any = (),
        *,
        cover: bool,
        n_folds: int = 5,
        shrinkage: float = 1.0,
        task: str = "auto",
        random_state: int,
    ) -> None:
        self.tokens = tokens
        self.filters = filters
        self.cover = cover
        self.n_folds = n_folds
        self.shrinkage = shrinkage
        self.task = task
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any) -> SetData:
        """Make the table of examples, and return their sets with statistics that leave out each example's own fold.

        Parameters
        ----------
        X : column of lists or of strings, pair of columns, or list
            The examples.
        y : series, array or list
            The labels.

        Returns
        -------
        SetData
            The sets.
        """
        rng = np.random.default_rng(self.random_state)
        labels = read_labels(y, count_examples(X), self.task)
        classes = labels.classes is not None
        self.folds_ = deal(labels.values, None, self.n_folds, rng, classes=classes)
        self.table_, out_of_fold = cross_fit(X, labels, self.tokens, self.filters, self.folds_, self.n_folds)
        return self._sets(X, out_of_fold, self.folds_ + 1)

    def transform(self, X: Any) -> SetData:
        """Return the sets of other examples, with the statistics of the whole table."""
        return self._sets(X, (), None)

    def _sets(
        self, X: Any, out_of_fold: Sequence[Statistics], views: npt.NDArray[np.int64] | None
    ) -> SetData:
        table = self.table_
        names = ["mean_label", "count", "size"]
        reader = TokenReader(table, names, self.cover, self.shrinkage, out_of_fold=out_of_fold)
        known, found = reader.rows, reader.find(X, views, count_threads(None))
        columns = {
            "log_count": np.log1p(known.own["count"][found.rows]),
            "size": known.own["size"][found.rows],
            WHOLE: found.of_tokens(WHOLE),
            **{name: np.repeat(found.of_sets(name), found.counts) for name in PER_SET},
        }
        # Feature by feature, as SetData keeps them.
        means = known.values.T.take(found.rows, axis=1)
        values = np.vstack([means, *columns.values()]).T
        return SetData(values, found.found.offsets, (*_names_of_means(table), *columns))


def _names_of_means(table: TokenTable) -> tuple[str, ...]:
    if table.classes is None or len(table.classes) == 2:
        return ("mean_label",)
    return tuple(f"P({name})" for name in table.classes)
