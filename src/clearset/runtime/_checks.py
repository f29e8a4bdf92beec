"""Whether the contents of a file fit together, for compiled code follows them without looking."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.runtime._file import RuntimeFileError


def check_within(name: str, array: npt.NDArray[Any], low: float, high: float) -> None:
    """Raise a RuntimeFileError unless all numbers are at least `low` and below `high`."""
    if array.size and not (array.min() >= low and array.max() < high):
        raise RuntimeFileError(f"Array {name!r} holds numbers outside of {low} to {high}.")


def check_offsets(name: str, offsets: npt.NDArray[Any], n: int) -> None:
    """Raise a RuntimeFileError unless offsets rise from 0 to n."""
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        raise RuntimeFileError(f"Array {name!r} does not rise from 0 to {n}.")


def check_features(features: Sequence[Mapping[str, Any]], n_slots: int) -> None:
    """Raise a RuntimeFileError unless the features have slots of the calibrators, one after the other."""
    start = 0
    for each in features:
        points = each["keypoints"] if each["keypoints"] is not None else each["categories"]
        if each["first"] != start or each["missing"] != start + len(points):
            raise RuntimeFileError(f"The slots of feature {each['name']!r} are not those of its keypoints.")
        start = each["missing"] + 1
        keypoints = np.array(each["keypoints"] or [0.0, 1.0], np.float64)
        if len(keypoints) < 2 or not np.isfinite(keypoints).all() or (np.diff(keypoints) <= 0).any():
            raise RuntimeFileError(f"The keypoints of feature {each['name']!r} do not rise.")
    if start != n_slots:
        raise RuntimeFileError(f"The features have {start} slots, and the calibrators {n_slots}.")
