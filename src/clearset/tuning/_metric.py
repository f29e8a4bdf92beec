"""What settings are compared by."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import (
    check_scoring,
    get_scorer_names,
    log_loss,
    mean_absolute_error,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    zero_one_loss,
)

from clearset.estimators import SemanticFeatureEngine, is_auto
from clearset.functions import REGRESSION_LOSSES
from clearset.sets import exact_words, read_labels

# Scorers that a message names.
_USUAL = ("accuracy", "roc_auc", "neg_log_loss", "r2", "neg_mean_squared_error", "neg_mean_absolute_error")

Score = Callable[[Any, Any, Any, Any], float]
"""From a fitted model, examples, labels and weights (or None) to a score."""


@dataclass(frozen=True)
class Metric:
    """A score with its name, and which way is better."""

    name: str
    higher_is_better: bool
    score: Score

    def loss(self, score: float) -> float:
        """Convert a score to a loss, of which lower is better, or such a loss back to the score."""
        return -score if self.higher_is_better else score


def read_metric(estimator: Any, scoring: Any, y: Any) -> Metric:
    """Return the metric asked for, or the loss that the estimator minimises."""
    if scoring is not None:
        return _scorer(estimator, scoring)
    if not (is_classifier(estimator) or is_regressor(estimator) or _is_engine(estimator)):
        raise TypeError(
            f"{type(estimator).__name__} is neither a classifier nor a regressor, so that its score is unknown. Pass "
            "scoring."
        )
    if tells_classes(estimator, y):
        if hasattr(estimator, "predict_proba") or _is_engine(estimator):
            return Metric("log loss", False, _log_loss)
        return Metric("error rate", False, _of_labels(zero_one_loss))
    metrics = {
        "absolute_error": ("mean absolute error", mean_absolute_error),
        "quantile": ("pinball loss", partial(mean_pinball_loss, alpha=getattr(estimator, "quantile", 0.5))),
        "poisson": ("Poisson deviance", mean_poisson_deviance),
    }
    loss = estimator.get_params(deep=False).get("loss")
    name, metric = metrics.get(loss, ("mean squared error", mean_squared_error))
    return Metric(name, False, _of_labels(metric))


def tells_classes(estimator: Any, y: Any) -> bool:
    """Tell whether labels are classes. For an engine, which takes both kinds, its loss or the labels decide."""
    if not _is_engine(estimator):
        return bool(is_classifier(estimator))
    loss = estimator.get_params(deep=False).get("loss")
    if not is_auto(loss):
        return loss not in REGRESSION_LOSSES
    return read_labels(y, len(y)).classes is not None


def _is_engine(estimator: Any) -> bool:
    """Tell whether an estimator is an engine, whose estimates of the label are scored as predictions are."""
    return isinstance(estimator, SemanticFeatureEngine)


def _scorer(estimator: Any, scoring: Any) -> Metric:
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            f"scoring must be the name of a scikit-learn scorer, or a function of model, X and y; received {scoring!r}."
        )
    if isinstance(scoring, str) and scoring not in (known := get_scorer_names()):
        close = " or ".join(map(repr, get_close_matches(scoring, known)))
        raise ValueError(
            f"scoring is {scoring!r}, which is no scorer of scikit-learn.{f' Did you mean {close}?' if close else ''} "
            f"There are {', '.join(map(repr, _USUAL))} and more: sklearn.metrics.get_scorer_names() lists them."
        )
    scorer = check_scoring(estimator, scoring=scoring)
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", exact_words(scoring))
    weighed = _takes_weights(scorer)

    def score(model: Any, X: Any, y: Any, weights: Any) -> float:
        options = {} if weights is None or not weighed else {"sample_weight": weights}
        return float(scorer(model, X, y, **options))

    return Metric(name, True, score)


def _takes_weights(scorer: Any) -> bool:
    # One of scikit-learn's takes weights always, and fails where its metric does not.
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    return "sample_weight" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())


def _of_labels(metric: Callable[..., float]) -> Score:
    """Make a score of a metric of labels and predictions."""

    def score(model: Any, X: Any, y: Any, weights: Any) -> float:
        predicted = model.transform(X)[:, 0] if _is_engine(model) else model.predict(X)
        return float(metric(y, predicted, sample_weight=weights))

    return score


def _log_loss(model: Any, X: Any, y: Any, weights: Any) -> float:
    given = model.transform(X) if _is_engine(model) else model.predict_proba(X)
    shares = np.asarray(given, dtype=np.float64)
    if shares.shape[1] == 1:  # an engine's estimate of the second of two classes
        shares = np.hstack([1.0 - shares, shares])
    # Networks in single precision miss a sum of 1 by enough for a warning.
    shares /= shares.sum(axis=1, keepdims=True)
    return float(log_loss(y, shares, sample_weight=weights, labels=model.classes_))
