"""Alternatives of scikit-learn: gradient boosting and linear models on averages or categories."""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from clearset.baselines import Encoding, MultiHotEncoder
from clearset.sets import read_sets, resolve_features

BOOSTING_SPACE = {
    "model__learning_rate": (0.02, 0.3, "log"),
    "model__max_leaf_nodes": (4, 64, "log"),
    "model__min_samples_leaf": (5, 100, "log"),
    "model__l2_regularization": (1e-3, 10.0, "log"),
}
LINEAR_SPACE = {"model__C": (0.01, 10.0, "log")}
RIDGE_SPACE = {"model__alpha": (0.1, 1000.0, "log")}


class Averages(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The mean of each feature over a set's tokens, as the averaged baselines have them."""

    def __init__(self, features: Any = None) -> None:
        self.features = features

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the encoding of the features."""
        self.features_ = resolve_features(X, self.features)
        sets = read_sets(X, self.features_)
        self.encoding_ = Encoding.fit(sets, self.features_, np.ones(len(sets)))
        return self

    def transform(self, X: Any) -> Any:
        """Return one row for each set."""
        return self.encoding_.means(read_sets(X, self.features_))


def boosting_on_averages(seed: int, *, features: Any = None, loss: str | None = None) -> Pipeline:
    """Gradient boosting on averages: of classes, or with a loss of numbers."""
    return Pipeline([("averages", Averages(features)), ("model", _boosting(seed, loss))])


def boosting_on_categories(seed: int, *, loss: str | None = None) -> Pipeline:
    """Gradient boosting on 0/1 columns of few categories."""
    dense = FunctionTransformer(csr_matrix.toarray)
    return Pipeline([("categories", MultiHotEncoder()), ("dense", dense), ("model", _boosting(seed, loss))])


def linear_on_categories(seed: int, *, tokens: Any = "auto") -> Pipeline:
    """Logistic regression on 0/1 columns of categories or n-grams."""
    model = LogisticRegression(max_iter=300, random_state=seed)
    return Pipeline([("categories", MultiHotEncoder(tokens)), ("model", model)])


def ridge_on_categories(seed: int) -> Pipeline:  # noqa: ARG001
    """Ridge regression on 0/1 columns of categories."""
    return Pipeline([("categories", MultiHotEncoder()), ("model", Ridge())])


def _boosting(seed: int, loss: str | None) -> HistGradientBoostingClassifier | HistGradientBoostingRegressor:
    if loss is None:
        return HistGradientBoostingClassifier(max_iter=200, random_state=seed)
    return HistGradientBoostingRegressor(loss=loss, max_iter=200, random_state=seed)
