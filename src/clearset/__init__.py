"""Interpretable learning on sets: as accurate as deep networks, provably monotone, readable token by token."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearset.artifact import ArtifactError as ArtifactError
    from clearset.estimators import CalibratorCurve as CalibratorCurve
    from clearset.estimators import Churn as Churn
    from clearset.estimators import Explanation as Explanation
    from clearset.estimators import JointExplanation as JointExplanation
    from clearset.estimators import JointModel as JointModel
    from clearset.estimators import PartialDependence as PartialDependence
    from clearset.estimators import SemanticClassifier as SemanticClassifier
    from clearset.estimators import SemanticExplanation as SemanticExplanation
    from clearset.estimators import SemanticFeatureEngine as SemanticFeatureEngine
    from clearset.estimators import SemanticRegressor as SemanticRegressor
    from clearset.estimators import SetClassifier as SetClassifier
    from clearset.estimators import SetRegressor as SetRegressor
    from clearset.estimators import TokenScores as TokenScores
    from clearset.estimators import churn as churn
    from clearset.estimators import load as load
    from clearset.explain import plot_quality as plot_quality
    from clearset.frozen import FrozenModel as FrozenModel
    from clearset.setfunction import Certificate as Certificate
    from clearset.setfunction import Check as Check
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
    from clearset.tokens import Subsets as Subsets
    from clearset.tokens import TokenLimitError as TokenLimitError
    from clearset.tokens import TokenStatistics as TokenStatistics
    from clearset.tokens import TokenTable as TokenTable
    from clearset.tuning import Tuning as Tuning
    from clearset.tuning import tune as tune

try:
    __version__ = version("clearset")
except PackageNotFoundError:  # run from source, not installed
    __version__ = "0+source"

# Names are fetched when they are first used: the command line answers --help without loading torch.
_HOMES = {
    "SIZE": "sets",
    "AllOf": "tokens",
    "AnyOf": "tokens",
    "ArtifactError": "artifact",
    "CalibratorCurve": "estimators",
    "Certificate": "setfunction",
    "Check": "setfunction",
    "Churn": "estimators",
    "Cross": "tokens",
    "Difference": "tokens",
    "Explanation": "estimators",
    "Feature": "sets",
    "FrozenModel": "frozen",
    "Items": "tokens",
    "JointExplanation": "estimators",
    "JointModel": "estimators",
    "MaxInterval": "tokens",
    "MaxSize": "tokens",
    "MinCount": "tokens",
    "NGrams": "tokens",
    "PartialDependence": "estimators",
    "SemanticClassifier": "estimators",
    "SemanticExplanation": "estimators",
    "SemanticFeatureEngine": "estimators",
    "SemanticRegressor": "estimators",
    "SetClassifier": "estimators",
    "SetData": "sets",
    "SetRegressor": "estimators",
    "Subsets": "tokens",
    "TokenLimitError": "tokens",
    "TokenScores": "estimators",
    "TokenStatistics": "tokens",
    "TokenTable": "tokens",
    "Trust": "sets",
    "churn": "estimators",
    "Tuning": "tuning",
    "from_long": "sets",
    "load": "estimators",
    "plot_quality": "explain",
    "tune": "tuning",
}

__all__ = [
    "SIZE",
    "AllOf",
    "AnyOf",
    "ArtifactError",
    "CalibratorCurve",
    "Certificate",
    "Check",
    "Churn",
    "Cross",
    "Difference",
    "Explanation",
    "Feature",
    "FrozenModel",
    "Items",
    "JointExplanation",
    "JointModel",
    "MaxInterval",
    "MaxSize",
    "MinCount",
    "NGrams",
    "PartialDependence",
    "SemanticClassifier",
    "SemanticExplanation",
    "SemanticFeatureEngine",
    "SemanticRegressor",
    "SetClassifier",
    "SetData",
    "SetRegressor",
    "Subsets",
    "TokenLimitError",
    "TokenScores",
    "TokenStatistics",
    "TokenTable",
    "Trust",
    "Tuning",
    "churn",
    "from_long",
    "load",
    "plot_quality",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clearset' has no attribute {name!r}")
    value = getattr(import_module(f"clearset.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
