"""What every estimator has in common: it holds a model once it is fitted, and hands over to it."""

import os
from dataclasses import replace
from typing import Any, ClassVar

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearset import display
from clearset.estimators._parameters import Rule, check_parameters
from clearset.models import FittedModel


class ShownEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that shows itself in notebooks: its parameters before a fit, its model afterwards."""

    def as_model(self) -> Any:
        """Return what was fitted."""
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        if not self.__sklearn_is_fitted__():
            return str(super()._repr_html_inner())
        return self._model_html()

    def _model_html(self) -> str:
        return display.model_html(self.as_model(), repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class ModelEstimator(FittedModel, ShownEstimator):
    """An estimator whose fit makes a model, `model_`, which answers everything that is asked of the estimator."""

    _rules: ClassVar[dict[str, Rule]]

    n_jobs: int | None
    model_: Any

    def as_model(self) -> Any:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet.

        Returns
        -------
        SetModel or SemanticModel
            The model.
        """
        check_is_fitted(self)
        parameters: dict[str, Any] = self.get_params(deep=False)
        if any(value is not self.model_.parameters.get(name) for name, value in parameters.items()):
            # They may have been changed since the fit: the number of threads, or what the next fit is to do.
            self.model_ = replace(self.model_, parameters=parameters)
        return self.model_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        """
        model = self.as_model()
        check_parameters(model.parameters, self._rules)
        model.write(path)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)


def check_pair(validation_data: Any) -> tuple[Any, Any]:
    """Return the sets and the labels that are given to validate on.

    Parameters
    ----------
    validation_data : tuple (X, y)
        The sets and the labels.

    Returns
    -------
    X : object
        The sets.
    y : object
        The labels.
    """
    if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
        raise TypeError(
            f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass sets and labels."
        )
    return validation_data[0], validation_data[1]


def check_certificate(model: Any) -> None:
    """Raise an error unless a model keeps its promises, which it always should."""
    if not model.certificate:
        raise RuntimeError(
            f"The fitted model breaks a declared constraint, which is a bug.\n{model.certificate}"
        )
