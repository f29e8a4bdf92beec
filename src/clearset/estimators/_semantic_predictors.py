"""Classifier and regressor over sets of strings and texts: an engine whose set function is the predictor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from clearset.estimators._inherited_docs import inherited_docs
from clearset.estimators._model_estimator import EstimatorOfClasses, EstimatorOfNumbers
from clearset.estimators._parameter_rules import WeightsOfClasses
from clearset.estimators._semantic_estimator import SemanticEstimator


@inherited_docs
@dataclass(eq=False, repr=False, kw_only=True)
class SemanticClassifier(EstimatorOfClasses, SemanticEstimator):
    """Predict the class of sets of strings, of texts, or of pairs of sets.

    With no parameters the tokens, their filters, width and refinement are chosen on a share of the examples;
    `setting_` holds what was chosen. See `SemanticFeatureEngine` for the same model as a transformer.

    Parameters
    ----------
    loss : str
        What training minimises: ``"log_loss"``, or ``"binary_log_loss"``, which estimates each class on its own.
        ``"auto"`` is ``"log_loss"``.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0)
    >>> model.fit(recipes, ["thai", "greek", "thai", "greek"] * 10).predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    """

    _task: ClassVar[Literal["classes"]] = "classes"
    _rules = SemanticEstimator._rules | {"class_weight": WeightsOfClasses()}

    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None


@inherited_docs
class SemanticRegressor(EstimatorOfNumbers, SemanticEstimator):
    """Predict a number from sets of strings, from texts, or from pairs of sets.

    What is left to be chosen is chosen as by `SemanticClassifier`.

    Parameters
    ----------
    loss : str
        What training minimises: ``"squared_error"``, ``"absolute_error"``, ``"quantile"`` (the median) or
        ``"poisson"``. ``"auto"`` is ``"squared_error"``.

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
