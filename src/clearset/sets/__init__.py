"""Sets as data: declared features, readers of frames and arrays, keypoints and positions."""

from ._binning import Binning
from ._columns import is_frame, library_of
from ._data import SetData
from ._features import SIZE, Feature
from ._frames import holds_lists, read_sets
from ._keypoints import choose_keypoints
from ._long import from_long
from ._positions import Positions
from ._resolve import resolve_features
from ._trust import Trust, check_trusts

__all__ = [
    "SIZE",
    "Binning",
    "Feature",
    "Positions",
    "SetData",
    "Trust",
    "check_trusts",
    "choose_keypoints",
    "from_long",
    "holds_lists",
    "is_frame",
    "library_of",
    "read_sets",
    "resolve_features",
]
