"""Strings as plain sets of tokens with statistics, for any model of sets."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import SetData, count_examples, count_threads, read_labels
from clearset.tokens import PER_SET, WHOLE, Statistics, TokenReader, TokenTable, cross_fit
from clearset.training import deal


@dataclass
class TokenSets:
    """Turn strings into sets of their tokens, with the features of the paper.

    The features of a token are its mean label, ``log_count``, ``size``, ``whole`` (1 where it is the whole set), and
    ``items`` and ``tokens`` of its set. The mean label of a number or of two classes (the share of the second) is
    ``mean_label``; several classes have one column each, such as ``P(thai)``. An example without known tokens is an
    empty set.

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

    tokens: Any  # what makes tokens of examples
    filters: Any = ()  # the conditions that tokens have to meet
    _: KW_ONLY
    cover: bool  # whether larger tokens replace the smaller ones whose items they hold
    n_folds: int = 5
    shrinkage: float = 1.0  # the number of examples of the prior that every mean is mixed with
    task: str = "auto"  # the kind of label, as in `TokenTable.build`
    random_state: int  # of the folds

    def fit_transform(self, X: Any, y: Any) -> SetData:
        """Make the table of examples, and return their sets with statistics that leave out each example's own fold."""
        rng = np.random.default_rng(self.random_state)
        labels = read_labels(y, count_examples(X), self.task)
        classes = labels.classes is not None
        self.folds_ = deal(labels.values, None, self.n_folds, rng, classes=classes)
        self.table_, out_of_fold = cross_fit(X, labels, self.tokens, self.filters, self.folds_, self.n_folds)
        return self._sets(X, out_of_fold, self.folds_ + 1)

    def transform(self, X: Any) -> SetData:
        """Return the sets of other examples, with the statistics of the whole table."""
        return self._sets(X, (), None)

    def _sets(self, X: Any, out_of_fold: Sequence[Statistics], views: npt.NDArray[np.int64] | None) -> SetData:
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
