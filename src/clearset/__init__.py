"""Interpretable learning on sets: as accurate as deep networks, provably monotone, readable token by token."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearset.artifact import ArtifactError as ArtifactError
    from clearset.estimators import CalibratorCurve as CalibratorCurve
    from clearset.estimators import SetClassifier as SetClassifier
    from clearset.estimators import SetRegressor as SetRegressor
    from clearset.estimators import TokenScores as TokenScores
    from clearset.estimators import load as load
    from clearset.setfunction import Certificate as Certificate
    from clearset.setfunction import Check as Check
    from clearset.sets import SIZE as SIZE
    from clearset.sets import Feature as Feature
    from clearset.sets import SetData as SetData
    from clearset.sets import Trust as Trust
    from clearset.sets import from_long as from_long

try:
    __version__ = version("clearset")
except PackageNotFoundError:  # run from source, not installed
    __version__ = "0+source"

# Names are fetched when they are first used: the command line answers --help without loading torch.
_HOMES = {
    "SIZE": "sets",
    "ArtifactError": "artifact",
    "CalibratorCurve": "estimators",
    "Certificate": "setfunction",
    "Check": "setfunction",
    "Feature": "sets",
    "SetClassifier": "estimators",
    "SetData": "sets",
    "SetRegressor": "estimators",
    "TokenScores": "estimators",
    "Trust": "sets",
    "from_long": "sets",
    "load": "estimators",
}

__all__ = [
    "SIZE",
    "ArtifactError",
    "CalibratorCurve",
    "Certificate",
    "Check",
    "Feature",
    "SetClassifier",
    "SetData",
    "SetRegressor",
    "TokenScores",
    "Trust",
    "from_long",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clearset' has no attribute {name!r}")
    value = getattr(import_module(f"clearset.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
