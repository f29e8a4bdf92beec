"""One trial: a setting is fitted and scored."""

import inspect
import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from clearset.tuning._data import Examples
from clearset.tuning._metric import Metric


@dataclass(eq=False)
class Attempt:
    """A setting that was fitted.

    Attributes
    ----------
    loss
        On validation data; None where the setting cannot be fitted.
    seconds
        How long it took to fit and score it.
    error
        Why it cannot be fitted.
    model
        The fitted estimator.
    said
        Warnings while it was fitted.
    """

    loss: float | None
    seconds: float
    error: str | None = None
    model: Any = None
    said: list[warnings.WarningMessage] = field(default_factory=list)

    def repeat_warnings(self) -> None:
        """Issue the warnings again."""
        for warning in self.said:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@dataclass(frozen=True, eq=False)
class Attempts:
    """What all trials of a search share."""

    estimator: Any
    training: Examples
    validation: Examples
    metric: Metric

    def fit(self, setting: Mapping[str, Any]) -> Attempt:
        """Fit and score a setting; an error that is about the setting is kept, and an interrupt is raised.

        Warnings are held back, for most settings are tried only to be thrown away.
        """
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                model = self._fitted(setting)
                held = self.validation
                score = self.metric.score(model, held.X, held.y, held.weights)
                if not math.isfinite(score):
                    raise ValueError(f"the {self.metric.name} on validation data is {score}")
            except (ValueError, ArithmeticError) as error:
                return Attempt(None, time.perf_counter() - start, " ".join(str(error).split()))
        return Attempt(self.metric.loss(score), time.perf_counter() - start, None, model, said)

    def _fitted(self, setting: Mapping[str, Any]) -> Any:
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
        if "validation_data" in inspect.signature(model.fit).parameters:
            options["validation_data"] = (self.validation.X, self.validation.y)
        if self.training.weights is not None:
            options["sample_weight"] = self.training.weights
        model.fit(self.training.X, self.training.y, **options)
        # Estimators of this package end training at an interrupt, and do not raise it.
        parts = [model, *model.get_params(deep=True).values()]
        if any(getattr(part, "interrupted_", False) is True for part in parts):
            raise KeyboardInterrupt
        return model.set_params(**loud)
