"""The Semantic Feature Engine and its estimators."""

from clearset.estimators.semantic._choose import smallest_tokens
from clearset.estimators.semantic._engine import SemanticFeatureEngine
from clearset.estimators.semantic._explain import SemanticExplanation
from clearset.estimators.semantic._joint import JointModel
from clearset.estimators.semantic._joint_explain import JointExplanation
from clearset.estimators.semantic._predictors import SemanticClassifier, SemanticRegressor

__all__ = [
    "JointExplanation",
    "JointModel",
    "SemanticClassifier",
    "SemanticExplanation",
    "SemanticFeatureEngine",
    "SemanticRegressor",
    "smallest_tokens",
]
