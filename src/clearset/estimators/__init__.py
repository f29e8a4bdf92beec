"""Estimators over sets, with the conventions of scikit-learn."""

from clearset.estimators._base import TokenScores
from clearset.estimators._churn import Churn, churn
from clearset.estimators._classifier import SetClassifier
from clearset.estimators._curves import CalibratorCurve
from clearset.estimators._dependence import PartialDependence
from clearset.estimators._explanation import Explanation
from clearset.estimators._load import load
from clearset.estimators._regressor import SetRegressor
from clearset.estimators.semantic import (
    JointExplanation,
    JointModel,
    SemanticClassifier,
    SemanticExplanation,
    SemanticFeatureEngine,
    SemanticRegressor,
)

__all__ = [
    "CalibratorCurve",
    "Churn",
    "Explanation",
    "JointExplanation",
    "JointModel",
    "PartialDependence",
    "SemanticClassifier",
    "SemanticExplanation",
    "SemanticFeatureEngine",
    "SemanticRegressor",
    "SetClassifier",
    "SetRegressor",
    "TokenScores",
    "churn",
    "load",
]
