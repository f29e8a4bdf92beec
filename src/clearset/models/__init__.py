"""Fitted models as plain data: what serving, reports, export and commands need, without torch and scikit-learn."""

from clearset.models._calibrator_curve import CalibratorCurve
from clearset.models._churn import Churn, churn
from clearset.models._dependence import PartialDependence
from clearset.models._explanation import Explanation
from clearset.models._fitted import FittedModel, Record, TokenScores
from clearset.models._frozen_model import FrozenModel
from clearset.models._importance import Importance
from clearset.models._joint_columns import columns_of, estimates_table, names_of, part_of, read_frame
from clearset.models._joint_explanation import JointExplanation
from clearset.models._joint_model import FOLLOW_ON, FittedJointModel
from clearset.models._joint_reading import JointReading
from clearset.models._load import load
from clearset.models._model import FunctionModel, Model, Reading
from clearset.models._origin import Origin
from clearset.models._predicting import Classifies, Estimates, Predicts, PredictsLabels, only_if
from clearset.models._semantic_model import SemanticMethods, SemanticModel
from clearset.models._set_model import SetModel
from clearset.models._set_storage import MAX_WIDTH
from clearset.models._verify import certify
from clearset.models.documents import ModelCard, report_document
from clearset.models.edits import EditComparison, Editor, EditRefusedError

# The former name of explanations of items.
SemanticExplanation = Explanation

__all__ = [
    "FOLLOW_ON",
    "MAX_WIDTH",
    "CalibratorCurve",
    "Churn",
    "Classifies",
    "EditComparison",
    "EditRefusedError",
    "Editor",
    "Estimates",
    "Explanation",
    "FittedJointModel",
    "FittedModel",
    "FrozenModel",
    "FunctionModel",
    "Importance",
    "JointExplanation",
    "JointReading",
    "Model",
    "ModelCard",
    "Origin",
    "PartialDependence",
    "Predicts",
    "PredictsLabels",
    "Reading",
    "Record",
    "SemanticExplanation",
    "SemanticMethods",
    "SemanticModel",
    "SetModel",
    "TokenScores",
    "certify",
    "churn",
    "columns_of",
    "estimates_table",
    "load",
    "names_of",
    "only_if",
    "part_of",
    "read_frame",
    "report_document",
]
