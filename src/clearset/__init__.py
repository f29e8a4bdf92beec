"""Interpretable learning on sets: as accurate as deep networks, provably monotone, readable token by token."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearset import spark as spark
    from clearset.artifact import ArtifactError as ArtifactError
    from clearset.display import plot_quality as plot_quality
    from clearset.engines import several_processes as several_processes
    from clearset.estimators import JointModel as JointModel
    from clearset.estimators import SemanticClassifier as SemanticClassifier
    from clearset.estimators import SemanticFeatureEngine as SemanticFeatureEngine
    from clearset.estimators import SemanticRegressor as SemanticRegressor
    from clearset.estimators import SetClassifier as SetClassifier
    from clearset.estimators import SetRegressor as SetRegressor
    from clearset.estimators import as_estimator as as_estimator
    from clearset.files import read_key as read_key
    from clearset.functions import Certificate as Certificate
    from clearset.functions import Check as Check
    from clearset.models import CalibratorCurve as CalibratorCurve
    from clearset.models import Churn as Churn
    from clearset.models import EditComparison as EditComparison
    from clearset.models import Editor as Editor
    from clearset.models import EditRefusedError as EditRefusedError
    from clearset.models import Explanation as Explanation
    from clearset.models import FrozenModel as FrozenModel
    from clearset.models import Importance as Importance
    from clearset.models import JointExplanation as JointExplanation
    from clearset.models import PartialDependence as PartialDependence
    from clearset.models import SemanticExplanation as SemanticExplanation
    from clearset.models import SemanticModel as SemanticModel
    from clearset.models import SetModel as SetModel
    from clearset.models import TokenScores as TokenScores
    from clearset.models import churn as churn
    from clearset.models import load as load
    from clearset.sets import PLACE as PLACE
    from clearset.sets import PLACE_FROM_START as PLACE_FROM_START
    from clearset.sets import SIZE as SIZE
    from clearset.sets import Feature as Feature
    from clearset.sets import SetData as SetData
    from clearset.sets import Trust as Trust
    from clearset.sets import from_long as from_long
    from clearset.tokens import AllOf as AllOf
    from clearset.tokens import AnyOf as AnyOf
    from clearset.tokens import Cross as Cross
    from clearset.tokens import Difference as Difference
    from clearset.tokens import Items as Items
    from clearset.tokens import MaxInterval as MaxInterval
    from clearset.tokens import MaxSize as MaxSize
    from clearset.tokens import MinCount as MinCount
    from clearset.tokens import NGrams as NGrams
    from clearset.tokens import OfKind as OfKind
    from clearset.tokens import Subsets as Subsets
    from clearset.tokens import TokenLimitError as TokenLimitError
    from clearset.tokens import TokenStatistics as TokenStatistics
    from clearset.tokens import TokenTable as TokenTable
    from clearset.tokens import Union as Union
    from clearset.tokens import Words as Words
    from clearset.tuning import Tuning as Tuning
    from clearset.tuning import tune as tune

__version__: str

# Where names are from: they are fetched when they are first used, so that the command line answers --help at once.
_HOMES = {
    name: package
    for package, names in {
        "artifact": ("ArtifactError",),
        "display": ("plot_quality",),
        "estimators": (
            "JointModel",
            "SemanticClassifier",
            "SemanticFeatureEngine",
            "SemanticRegressor",
            "SetClassifier",
            "SetRegressor",
            "as_estimator",
        ),
        "engines": ("several_processes",),
        "files": ("read_key",),
        "functions": ("Certificate", "Check"),
        "models": (
            "CalibratorCurve",
            "Churn",
            "EditComparison",
            "EditRefusedError",
            "Editor",
            "Explanation",
            "FrozenModel",
            "Importance",
            "JointExplanation",
            "PartialDependence",
            "SemanticModel",
            "SetModel",
            "TokenScores",
            "churn",
            "load",
        ),
        "sets": ("PLACE", "PLACE_FROM_START", "SIZE", "Feature", "SetData", "Trust", "from_long"),
        "tokens": (
            "AllOf",
            "AnyOf",
            "Cross",
            "Difference",
            "Items",
            "MaxInterval",
            "MaxSize",
            "MinCount",
            "NGrams",
            "OfKind",
            "Subsets",
            "TokenLimitError",
            "TokenStatistics",
            "TokenTable",
            "Union",
            "Words",
        ),
        "tuning": ("Tuning", "tune"),
    }.items()
    for name in names
}

# What people begin with; errors and the types of results are in their packages, and can be had from here as well.
__all__ = [
    "PLACE",
    "PLACE_FROM_START",
    "SIZE",
    "Cross",
    "Difference",
    "Feature",
    "FrozenModel",
    "Items",
    "JointModel",
    "MaxInterval",
    "MaxSize",
    "MinCount",
    "NGrams",
    "OfKind",
    "SemanticClassifier",
    "SemanticFeatureEngine",
    "SemanticRegressor",
    "SetClassifier",
    "SetData",
    "SetRegressor",
    "Subsets",
    "TokenTable",
    "Trust",
    "Union",
    "Words",
    "as_estimator",
    "churn",
    "from_long",
    "load",
    "read_key",
    "several_processes",
    "tune",
]


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # which takes longer than all else here

    try:
        return version("clearset")
    except PackageNotFoundError:  # run from source, not installed
        return "0+source"


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _installed_version()
    if name == "spark":  # a package whose functions are called by its name
        return import_module("clearset.spark")
    if name not in _HOMES:
        raise AttributeError(f"module 'clearset' has no attribute {name!r}")
    value = getattr(import_module(f"clearset.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "spark"])
