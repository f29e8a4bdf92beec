"""Classification of sets, and regression on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clearset.estimators._inherited_docs import inherited_docs
from clearset.estimators._input import check_classes, check_counts, check_labels
from clearset.estimators._model_estimator import EstimatorOfClasses, EstimatorOfNumbers
from clearset.estimators._parameter_rules import Number, OneOf, WeightsOfClasses
from clearset.estimators._set_estimator import SetEstimator
from clearset.functions import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Link
from clearset.sets import check_numbers, class_places


@inherited_docs
@dataclass(eq=False, repr=False, kw_only=True)
class SetClassifier(EstimatorOfClasses, SetEstimator):
    """Predict the class of a set of tokens.

    For two classes there is one set function, whose output is the log-odds of the second class, ``classes_[1]``;
    declared constraints are about this output. For more classes there is one set function for each, and all are trained
    together under a softmax. A probability among several classes depends on all of their outputs, so no constraint on
    it can be guaranteed, and declared constraints are refused.

    Parameters
    ----------
    loss : {"log_loss", "hinge"}
        What training minimises. With ``"hinge"`` there are no probabilities.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = cs.SetClassifier([cs.Feature("price", monotonic="increasing")], random_state=0)
    >>> model.fit(baskets, ["cheap", "dear", "dear", "cheap"]).predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """

    _rules = SetEstimator._rules | {"loss": OneOf(CLASSIFICATION_LOSSES), "class_weight": WeightsOfClasses()}

    loss: str = "log_loss"
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None

    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:
        column = check_labels(y, n_sets)
        check_classes(column)
        if link is None:
            link = Link(self.loss, np.unique(column))
        classes = np.asarray(link.classes)
        if len(classes) < 2:
            raise ValueError(
                f"SetClassifier needs at least two classes; y holds one class only, {classes.tolist()[0]!r}."
            )
        return class_places(column, classes).astype(np.float64), link


@inherited_docs
@dataclass(eq=False, repr=False, kw_only=True)
class SetRegressor(EstimatorOfNumbers, SetEstimator):
    """Predict a number from a set of tokens: f(x) = rho(mean over the tokens of phi(token)).

    phi calibrates the features of a token and combines them in lattices. rho is increasing. A feature that is declared
    increasing therefore never lowers the prediction, whichever token it belongs to and whatever the other tokens are.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson"}
        What training minimises. ``"poisson"`` needs labels of at least 0 and predicts positive numbers.
    quantile : float
        The quantile that is predicted with ``loss="quantile"``, between 0 and 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]], "price": [9.0, 7.0, 8.0, 5.0]})
    >>> model = cs.SetRegressor([cs.Feature("stars", monotonic="increasing"), "price"], random_state=0)
    >>> model.fit(products, [120.0, 20.0, 180.0, 60.0]).predict(products).shape
    (4,)
    >>> bool(model.verify())
    True
    """

    _rules = SetEstimator._rules | {"loss": OneOf(REGRESSION_LOSSES), "quantile": Number(0.0, 1.0)}

    loss: str = "squared_error"
    quantile: float = 0.5

    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:  # noqa: ARG002
        numbers = check_numbers(check_labels(y, n_sets))
        if self.loss == "poisson":
            check_counts(numbers)
        return numbers, Link(self.loss)
