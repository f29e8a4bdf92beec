"""What all baselines have in common: what labels are, how sets are read, and how many threads torch uses."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from clearset.engines.torch import torch_threads
from clearset.estimators import Rule, check_classes, check_labels, checked_sets, read_training_sets
from clearset.functions import Link
from clearset.sets import Feature, SetData, check_numbers, class_places, count_threads, read_more_sets

Float64 = npt.NDArray[np.float64]


class Baseline(BaseEstimator):  # type: ignore[misc]
    """The interface between the two halves of an estimator: what labels are, and how outputs are calculated.

    The parameters of a baseline are the fields of data classes, which spell out the constructor that scikit-learn
    asks for.
    """

    _rules: ClassVar[Mapping[str, Rule]]
    _losses: ClassVar[Sequence[str]]

    @property
    @abstractmethod
    def _link(self) -> Link:
        """How outputs become predictions, once the labels of training are known."""

    @abstractmethod
    def _numbers(self, y: Any, n_sets: int, *, reset: bool) -> Float64:
        """Check labels and return them as numbers; with ``reset`` they settle which labels there are."""

    @abstractmethod
    def _outputs_of(self, X: Any) -> Float64:
        """Return the ``(B, C)`` outputs for sets."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the label of each set: a number, or the most likely class.

        Parameters
        ----------
        X
            Sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        outputs = self._outputs_of(X)
        return self._link.predictions(outputs)


class PredictsNumbers(RegressorMixin, Baseline):  # type: ignore[misc]
    """The half of an estimator that predicts numbers."""

    _losses = ("squared_error", "absolute_error")

    @property
    def _link(self) -> Link:
        return Link(self._losses[0])

    def _numbers(self, y: Any, n_sets: int, *, reset: bool) -> Float64:  # noqa: ARG002
        return check_numbers(check_labels(y, n_sets))


class PredictsClasses(ClassifierMixin, Baseline):  # type: ignore[misc]
    """The half of an estimator that predicts classes.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The classes, sorted.
    """

    _losses = ("log_loss",)

    classes_: npt.NDArray[Any]

    @property
    def _link(self) -> Link:
        return Link(self._losses[0], self.classes_)

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
        return class_places(column, self.classes_).astype(np.float64)

    def decision_function(self, X: Any) -> Float64:
        """Return the log-odds of the second of two classes, or one column for each of several classes.

        Parameters
        ----------
        X
            Sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            The outputs.
        """
        outputs = self._outputs_of(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X: Any) -> Float64:
        """Return the probability of each class.

        Parameters
        ----------
        X
            Sets, as for `fit`.

        Returns
        -------
        ndarray of shape (n, classes)
            The probabilities, in the order of ``classes_``.
        """
        outputs = self._outputs_of(X)
        return self._link.probabilities(outputs)


@dataclass(eq=False, repr=False)
class ReadsSets(Baseline):
    """A baseline on sets of tokens with features.

    Parameters
    ----------
    features : list of str or Feature, or None
        The columns to read; None reads every column of numbers or of a category dtype, and the size of sets. Numbers
        are standardised over the training tokens, a categorical feature becomes one 0/1 column for each category, and a
        feature with missing values gets a further column that marks them. Declared directions and shapes are not
        enforced.

    Attributes
    ----------
    encoding_ : Encoding
        How sets become numbers.
    features_ : tuple of Feature
        The features in full.
    n_features_in_ : int
        The number of features or columns.
    """

    features: Sequence[str | Feature] | None = None

    def _read(self, X: Any, *, reset: bool) -> SetData:
        """Read sets; with ``reset`` they settle which features there are."""
        if reset:
            sets, self.features_, _ = read_training_sets(self, X, self.features, ())
            self.sets_of_one_ = bool((sets.sizes == 1).all())
            return sets
        X = checked_sets(self, X, reset=False)
        return read_more_sets(X, self.features_, sets_of_one=self.sets_of_one_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def network_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Let torch use one thread unless more are asked for: in short steps, threads mostly wait for each other."""
    return torch_threads(1 if n_jobs is None else count_threads(n_jobs))
