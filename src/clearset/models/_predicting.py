"""Predictions: numbers, classes, probabilities and estimates, all made by the link of the model."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.functions import Link
from clearset.models._arrays import FloatArray


class only_if:  # noqa: N801
    """Decorator of a method that an object has only if a check of it raises no AttributeError.

    Parameters
    ----------
    check : callable
        Called with the object.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> "only_if":
        """Take the method."""
        self._method, self.__doc__ = method, method.__doc__
        self.__name__, self.__wrapped__ = method.__name__, method
        return self

    def __get__(self, owner: Any, _cls: type | None = None) -> Any:
        if owner is None:
            return self._method
        try:
            self._check(owner)
        except AttributeError as error:
            raise AttributeError(f"This {type(owner).__name__!r} has no attribute {self.__name__!r}. {error}") from None
        return MethodType(self._method, owner)


class GivesOutputs(ABC):
    """A model that gives outputs for sets, with a link from outputs to predictions."""

    @abstractmethod
    def _outputs(self, X: Any) -> FloatArray:
        """Return the outputs, ``(B, C)``."""

    @abstractmethod
    def _link(self) -> Link:
        """Return what makes predictions of outputs."""

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, sorted; only where labels are classes."""
        classes = self._link().classes
        if classes is None:
            raise AttributeError(f"{type(self).__name__} predicts numbers, so it has no classes.")
        return classes


class Predicts(GivesOutputs):
    """A model that predicts numbers or classes."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the number or the most likely class of each set.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self._link().predictions(self._outputs(X))


def _check_classes(model: Any) -> None:
    if not model._predicts_classes():
        raise AttributeError("The labels are numbers, so there are no classes. Use predict.")


def _check_probabilities(model: Any) -> None:
    _check_classes(model)
    if model._loss_name() == "hinge":
        raise AttributeError("loss='hinge' gives no probabilities; use loss='log_loss', or decision_function.")


class Classifies(Predicts):
    """A model that tells classes apart."""

    def _predicts_classes(self) -> bool:
        return True

    def _loss_name(self) -> str:
        return self._link().loss

    @only_if(_check_classes)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds (for hinge: margins) of the second class, or one column for each of several classes.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            The outputs of the set function.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    @only_if(_check_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n, classes)
            The probabilities, in the order of `classes_`.
        """
        return self._link().probabilities(self._outputs(X))

    @only_if(_check_classes)
    def predict_top(self, X: Any, k: int | None = None) -> npt.NDArray[Any]:
        """Return the k most likely classes, the most likely first.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.
        k : int, optional
            From 1 to the number of classes; by default 3, or both of two.

        Returns
        -------
        ndarray of shape (n, k)
            The classes.
        """
        n_classes = len(self.classes_)
        k = min(3, n_classes) if k is None else k
        if not isinstance(k, int | np.integer) or not 1 <= k <= n_classes:
            raise ValueError(f"k is {k!r}; there are {n_classes} classes, so give 1 to {n_classes}.")
        return self._link().top(self._outputs(X), int(k))


class PredictsLabels(Classifies):
    """A model whose link says whether labels are classes or numbers."""

    def _predicts_classes(self) -> bool:
        return self._link().classes is not None


class Estimates(GivesOutputs):
    """A model that estimates labels for other models."""

    def transform(self, X: Any) -> FloatArray:
        """Estimate the label of each set.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            One column for a number or the second of two classes, one for each of several classes.
        """
        return self._link().estimates(self._outputs(X))
