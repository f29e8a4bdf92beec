"""Classifier and regressor over sets of strings and texts: an engine whose set function is the predictor."""

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearset.estimators.semantic._base import SemanticEstimator
from clearset.frozen import estimates


class SemanticClassifier(ClassifierMixin, SemanticEstimator):  # type: ignore[misc]
    """Tell classes of sets of strings, or of texts, apart.

    The parameters and attributes are those of `SemanticFeatureEngine`. With no options the tokens, their filters, cover
    or all, width and refinement are chosen on a share of the examples; `setting_` says what was chosen.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0)
    >>> model.fit(recipes, ["thai", "greek", "thai", "greek"] * 10).predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    """

    _task: ClassVar[Literal["classes"]] = "classes"

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Give the log-odds of the second class, or one column for each of several classes.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Give each class's probability, ``(n, classes)``.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        shares = estimates(self._outputs(X), self.loss_)
        return np.hstack([1.0 - shares, shares]) if shares.shape[1] == 1 else shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most likely class.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        outputs = self._outputs(X)
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)
        labels: npt.NDArray[Any] = self.classes_[chosen]
        return labels

    def predict_top(self, X: Any, k: int | None = None) -> npt.NDArray[Any]:
        """Give the k most likely classes, ``(n, k)``, the best first.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        k
            From 1 to the number of classes; None for 3, or for both of two.
        """
        check_is_fitted(self)
        k = min(3, len(self.classes_)) if k is None else k
        if not isinstance(k, int | np.integer) or not 1 <= k <= len(self.classes_):
            raise ValueError(
                f"k is {k!r}; there are {len(self.classes_)} classes, so give 1 to {len(self.classes_)}."
            )
        outputs = self._outputs(X)
        if outputs.shape[1] == 1:
            outputs = np.hstack([-outputs, outputs])
        labels: npt.NDArray[Any] = self.classes_[np.argsort(-outputs, axis=1, kind="stable")[:, :k]]
        return labels


class SemanticRegressor(RegressorMixin, SemanticEstimator):  # type: ignore[misc]
    """Predict a number from sets of strings, or from texts.

    The parameters and attributes are those of `SemanticFeatureEngine`. With no options the tokens, their filters, cover
    or all, width and refinement are chosen on a share of the examples; `setting_` says what was chosen.

    Examples
    --------
    >>> import clearset as cs
    >>> wines = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]] * 10
    >>> model = cs.SemanticRegressor(tokens=cs.Items(), random_state=0)
    >>> prediction = model.fit(wines, [92.5, 83.0, 91.0, 86.0] * 10).predict([["ripe"], ["thin"]])
    >>> bool(prediction[0] > prediction[1])
    True
    """

    _task: ClassVar[Literal["number"]] = "number"

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the label.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        return estimates(self._outputs(X), self.loss_)[:, 0]
