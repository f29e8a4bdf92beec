"""The Semantic Feature Engine and its estimators."""

from clearset.estimators.semantic._choose import smallest_tokens
from clearset.estimators.semantic._engine import SemanticFeatureEngine
from clearset.estimators.semantic._predictors import SemanticClassifier, SemanticRegressor

__all__ = ["SemanticClassifier", "SemanticFeatureEngine", "SemanticRegressor", "smallest_tokens"]
