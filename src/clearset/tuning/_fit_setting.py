"""One trial: a setting is fitted and scored."""

import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from clearset.tuning._examples import Folds, LabelledRows
from clearset.tuning._metric import Metric


@dataclass(eq=False)
class FittedSetting:
    """A setting that was fitted and scored, with the warnings of the fit, or the error that says why it cannot be."""

    loss: float | None
    seconds: float
    cause: Exception | None = None
    model: Any = None  # none is kept if only models without some fold were fitted
    warned: list[warnings.WarningMessage] = field(default_factory=list)

    @property
    def error(self) -> str | None:
        """Why the setting cannot be fitted, in one line."""
        return None if self.cause is None else " ".join(str(self.cause).split())

    def repeat_warnings(self) -> None:
        """Issue the warnings again."""
        for warning in self.warned:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@dataclass(frozen=True, eq=False)
class SettingFitter:
    """Fits settings of an estimator, whose seeds are set, on examples to train on, and scores them by a metric.

    They are scored on the examples that are held out, or on each fold by a model that was fitted without it.
    """

    estimator: Any
    training: LabelledRows
    held: LabelledRows | Folds
    metric: Metric

    @property
    def folded(self) -> bool:
        """Whether the model that is kept is fitted on all examples, after the trials."""
        return isinstance(self.held, Folds)

    def fit(self, setting: Mapping[str, Any]) -> FittedSetting:
        """Fit and score a setting; an error that is about the setting is kept, and an interrupt is raised."""
        # Warnings are kept back, because most settings are not used in the end.
        return _kept_errors(lambda: self._scored(setting))

    def refit(self, setting: Mapping[str, Any]) -> FittedSetting:
        """Fit the best setting again, where its model was not kept; it has a score already."""
        return _kept_errors(lambda: (None, self._fitted(setting, self.training)))

    def _scored(self, setting: Mapping[str, Any]) -> tuple[float, Any]:
        """Return the loss and the model, or the mean loss over the folds and no model."""
        if not isinstance(self.held, Folds):
            model = self._fitted(setting, self.training)
            return self._loss(model, self.held), model
        losses, sizes = [], []
        for rest, fold in self.held:
            losses.append(self._loss(self._fitted(setting, rest), fold))
            sizes.append(fold.size)
        return float(np.average(losses, weights=sizes)), None

    def _loss(self, model: Any, held: LabelledRows) -> float:
        score = self.metric.score(model, held.X, held.y, held.weights)
        if not math.isfinite(score):
            raise ValueError(f"the {self.metric.name} on validation data is {score}")
        return self.metric.loss(score)

    def _fitted(self, setting: Mapping[str, Any], training: LabelledRows) -> Any:
        # Values may be estimators, which must not be fitted themselves.
        values = {name: clone(value, safe=False) for name, value in setting.items()}
        model = clone(self.estimator).set_params(**values)
        # Bars of trials would run across the bar of the search.
        loud = {
            name: value
            for name, value in model.get_params(deep=True).items()
            if name.rpartition("__")[2] == "verbose" and value
        }
        model.set_params(**{name: type(value)(0) for name, value in loud.items()})
        options: dict[str, Any] = {}
        takes_validation = "validation_data" in inspect.signature(model.fit).parameters
        if isinstance(self.held, LabelledRows) and takes_validation:
            options["validation_data"] = (self.held.X, self.held.y)
        if training.weights is not None:
            options["sample_weight"] = training.weights
        model.fit(training.X, training.y, **options)
        # Estimators of this package end training at an interrupt, and do not raise it.
        if _was_interrupted(model):
            raise KeyboardInterrupt
        return model.set_params(**loud)


def _kept_errors(work: Callable[[], tuple[float | None, Any]]) -> FittedSetting:
    """Run what returns a loss and a model; keep its warnings, time, and errors that are about the setting."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            loss, model = work()
        except (ValueError, ArithmeticError) as error:
            return FittedSetting(None, time.perf_counter() - start, error)
    return FittedSetting(loss, time.perf_counter() - start, model=model, warned=warned)


def _was_interrupted(part: Any) -> bool:
    """Tell whether training of an estimator, or of one that it has fitted, was ended by an interrupt."""
    if isinstance(part, list | tuple):
        return any(map(_was_interrupted, part))
    if isinstance(part, type) or not hasattr(part, "get_params"):
        return False
    return getattr(part, "interrupted_", False) is True or any(map(_was_interrupted, vars(part).values()))
