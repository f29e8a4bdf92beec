"""Estimators over sets, with the conventions of scikit-learn: they declare and fit, and hold a model afterwards."""

from clearset.estimators._as_estimator import as_estimator
from clearset.estimators._checkpoints import kept_in
from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._inherited_docs import inherited_docs
from clearset.estimators._input import check_classes, check_labels, checked_sets, read_training_sets
from clearset.estimators._joint_model import JointModel
from clearset.estimators._model_estimator import check_pair
from clearset.estimators._parameter_rules import (
    Auto,
    Either,
    Flag,
    Number,
    OneOf,
    OrNone,
    Rule,
    Threads,
    Whole,
    check_parameters,
    is_auto,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._semantic_plan import MAX_FOLDS
from clearset.estimators._semantic_predictors import SemanticClassifier, SemanticRegressor
from clearset.estimators._set_predictors import SetClassifier, SetRegressor

__all__ = [
    "MAX_FOLDS",
    "Auto",
    "Either",
    "Flag",
    "JointModel",
    "Number",
    "OneOf",
    "OrNone",
    "Rule",
    "SemanticClassifier",
    "SemanticFeatureEngine",
    "SemanticRegressor",
    "SetClassifier",
    "SetRegressor",
    "Threads",
    "Whole",
    "as_estimator",
    "check_classes",
    "check_labels",
    "check_pair",
    "check_parameters",
    "checked_sets",
    "inherited_docs",
    "is_auto",
    "kept_in",
    "make_rng",
    "read_training_sets",
    "restored_on_failure",
]
