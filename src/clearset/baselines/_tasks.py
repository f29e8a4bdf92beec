"""What labels are: numbers or classes. These halves of the estimators are the same for every baseline."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from clearset.estimators._input import check_classes, check_labels, check_numbers

Float64 = npt.NDArray[np.float64]


class Baseline(BaseEstimator):  # type: ignore[misc]
    """What the two halves of an estimator know of each other: one what labels are, the other how outputs come about."""

    _losses: Sequence[str]

    @abstractmethod
    def _numbers(self, y: Any, n_sets: int, *, reset: bool) -> Float64:
        """Check labels and give them as numbers; ``reset`` where they say which labels there are."""

    @abstractmethod
    def _n_outputs(self) -> int:
        """Give the number of outputs that the labels need."""

    @abstractmethod
    def _outputs_of(self, X: Any) -> Float64:
        """Give the ``(B, C)`` outputs for sets."""


class OfNumbers(RegressorMixin, Baseline):  # type: ignore[misc]
    """The half of an estimator that predicts numbers."""

    _losses = ("squared_error", "absolute_error")

    def _numbers(self, y: Any, n_sets: int, *, reset: bool) -> Float64:  # noqa: ARG002
        return check_numbers(check_labels(y, n_sets))

    def _n_outputs(self) -> int:
        return 1

    def predict(self, X: Any) -> Float64:
        """Predict a number for each set.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        return self._outputs_of(X)[:, 0]


class OfClasses(ClassifierMixin, Baseline):  # type: ignore[misc]
    """The half of an estimator that tells classes apart."""

    _losses = ("log_loss",)

    classes_: npt.NDArray[Any]

    def _numbers(self, y: Any, n_sets: int, *, reset: bool) -> Float64:
        column = check_labels(y, n_sets)
        check_classes(column)
        if reset:
            classes = np.unique(column)
            if len(classes) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least two classes; y holds one class only, "
                    f"{classes.tolist()[0]!r}."
                )
            self.classes_ = classes
        unknown = np.setdiff1d(column, self.classes_)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()[:5]} are not among the classes fitted, {self.classes_.tolist()[:20]}."
            )
        return np.searchsorted(self.classes_, column).astype(np.float64)

    def _n_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def decision_function(self, X: Any) -> Float64:
        """Give the log-odds of the second class, or one column for each of several classes.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X: Any) -> Float64:
        """Give each class's probability, ``(B, classes)``.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        return np.stack([expit(-outputs[:, 0]), expit(outputs[:, 0])], axis=1)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most likely class of each set.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)
        labels: npt.NDArray[Any] = self.classes_[chosen]
        return labels
