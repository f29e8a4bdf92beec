"""Edits of calibrators: flatten, cap, forbid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clearset.models._calibrator_curve import CalibratorCurve
from clearset.models.edits._curves import (
    curve_from_json,
    curve_of,
    curve_to_json,
    mean_between,
    split,
    with_allowed_curve,
    with_curve,
)
from clearset.models.edits._edit import Edit, EditRefusedError
from clearset.sets import unknown_name

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel


class _CurveEdit(Edit):
    """An edit of the calibrator of one feature."""

    feature: str

    @abstractmethod
    def changed(self, curve: CalibratorCurve) -> CalibratorCurve:
        """Return the curve after the edit."""

    def apply(self, model: FunctionModel) -> tuple[FunctionModel, dict[str, Any]]:
        curve = curve_of(model, self.feature)
        return with_allowed_curve(model, self.changed(curve), str(self)), curve_to_json(curve)

    def revert(self, model: FunctionModel, replaced: Mapping[str, Any]) -> FunctionModel:
        return with_curve(model, curve_from_json(curve_of(model, self.feature), replaced))

    def _ends(self, curve: CalibratorCurve, low: float | None, high: float | None) -> tuple[float, float]:
        """Return two values of a numeric feature, within its keypoints; None is the first or last of these."""
        if curve.keypoints is None:
            raise EditRefusedError(f"Feature {self.feature!r} is categorical, so low and high say nothing of it.")
        first, last = float(curve.keypoints[0]), float(curve.keypoints[-1])
        ends = first if low is None else low, last if high is None else high
        if not first <= ends[0] <= ends[1] <= last:
            raise EditRefusedError(
                f"{self}: the model reads {self.feature!r} from {first:g} to {last:g}, and values outside as the "
                "nearer of these. Choose values between them."
            )
        return ends


@dataclass(frozen=True)
class Flatten(_CurveEdit):
    """A feature has the same effect at all values, at those between two, or in some categories.

    The effect is the mean over these values, each step between keypoints counting the same. A missing value keeps an
    effect of its own. Beside the flat part the curve leads to it in straight lines from the nearest keypoints.

    Parameters
    ----------
    feature : str
        Its name.
    low, high : float, optional
        Of a numeric feature, the ends of the flat part; by default its first and last keypoint.
    categories : sequence, optional
        Of a categorical feature, those that get the same effect; by default all.

    Examples
    --------
    >>> from clearset.models.edits import Flatten
    >>> str(Flatten("words", high=20))
    "Feature 'words' flattened below 20"
    """

    kind: ClassVar[str] = "flatten"

    feature: str
    low: float | None = None
    high: float | None = None
    categories: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        _check_name(self.feature)
        _keep_range(self)
        categories: Any = self.categories
        if categories is not None:
            if not isinstance(categories, list | tuple):
                raise TypeError(f"categories is {categories!r}; give a list of at least two.")
            if len(categories) < 2:
                raise ValueError(f"categories is {categories!r}; at least two can have the same effect.")
            if self.low is not None or self.high is not None:
                raise ValueError("Give categories of a categorical feature, or low and high of a number, not both.")
            object.__setattr__(self, "categories", tuple(categories))

    def __str__(self) -> str:
        if self.categories is not None:
            return f"Feature {self.feature!r} flattened in {', '.join(map(repr, self.categories))}"
        return f"Feature {self.feature!r} flattened{_between(self.low, self.high)}"

    def changed(self, curve: CalibratorCurve) -> CalibratorCurve:
        if curve.categories is not None and self.low is None and self.high is None:
            chosen = curve.categories if self.categories is None else self.categories
            if unknown := [each for each in chosen if each not in curve.categories]:
                raise EditRefusedError(unknown_name(f"Category of {self.feature!r}", unknown[0], curve.categories))
            places = [curve.categories.index(each) for each in chosen]
            values = curve.values.copy()
            values[:, places] = _mean(values[:, places])[:, None]
            return replace(curve, values=values)
        if self.categories is not None:
            raise EditRefusedError(f"Feature {self.feature!r} is numeric, and has no categories. Use low and high.")
        low, high = self._ends(curve, self.low, self.high)
        level = mean_between(curve, low, high)
        curve = split(split(curve, low), high)
        keypoints, values = np.asarray(curve.keypoints), curve.values.copy()
        values[:, (keypoints >= low) & (keypoints <= high)] = level[:, None]
        return replace(curve, values=values)


@dataclass(frozen=True)
class Cap(_CurveEdit):
    """Beyond a value, the effect of a numeric feature stays as it is there.

    Parameters
    ----------
    feature : str
        Its name.
    low, high : float, optional
        Below `low` the effect is that of `low`, above `high` that of `high`; at least one of them is needed.

    Examples
    --------
    >>> from clearset.models.edits import Cap
    >>> str(Cap("price", high=100))
    "Feature 'price' capped above 100"
    """

    kind: ClassVar[str] = "cap"

    feature: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _check_name(self.feature)
        _keep_range(self)
        if self.low is None and self.high is None:
            raise ValueError(f"A cap of {self.feature!r} needs low, high or both.")

    def __str__(self) -> str:
        parts = {"below": self.low, "above": self.high}
        ends = " and ".join(f"{word} {value:.10g}" for word, value in parts.items() if value is not None)
        return f"Feature {self.feature!r} capped {ends}"

    def changed(self, curve: CalibratorCurve) -> CalibratorCurve:
        low, high = self._ends(curve, self.low, self.high)
        curve = split(split(curve, low), high)
        keypoints = np.asarray(curve.keypoints)
        places = np.clip(np.arange(len(keypoints)), *np.searchsorted(keypoints, [low, high]))
        return replace(curve, values=curve.values[:, places])


@dataclass(frozen=True)
class Forbid(_CurveEdit):
    """The model no longer uses a feature: all its values, and a missing one, have the same effect.

    The certificate of the model then says that the feature has no effect. Frames need not have its column any more,
    unless it is the only one of lists, which say how many tokens a set has.

    Parameters
    ----------
    feature : str
        Its name.

    Examples
    --------
    >>> from clearset.models.edits import Forbid
    >>> str(Forbid("age"))
    "Feature 'age' forbidden"
    """

    kind: ClassVar[str] = "forbid"

    feature: str

    def __post_init__(self) -> None:
        _check_name(self.feature)

    def __str__(self) -> str:
        return f"Feature {self.feature!r} forbidden"

    def changed(self, curve: CalibratorCurve) -> CalibratorCurve:
        level = _mean(curve.values)
        if curve.keypoints is not None:
            level = mean_between(curve, curve.keypoints[0], curve.keypoints[-1])
        return replace(curve, values=np.repeat(level[:, None], curve.values.shape[1], axis=1), missing=level)


def _mean(values: Any) -> Any:
    # Rounding must not carry it past the values.
    return np.clip(values.mean(axis=1), values.min(axis=1), values.max(axis=1))


def _check_name(feature: Any) -> None:
    if not isinstance(feature, str):
        raise TypeError(f"feature is {feature!r}; give the name of a feature.")


def _keep_range(edit: Flatten | Cap) -> None:
    """Check the ends of a range and keep them as floats."""
    for name in ("low", "high"):
        value = getattr(edit, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name} is {value!r}; give a number or None.")
        if not isfinite(value):
            raise ValueError(f"{name} is {value!r}; give a finite number, or None for no end.")
        object.__setattr__(edit, name, float(value))
    if edit.low is not None and edit.high is not None and edit.low > edit.high:
        raise ValueError(f"low is {edit.low:g} and high is {edit.high:g}; low must not be above high.")


def _between(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" between {low:.10g} and {high:.10g}"
    return f" above {low:.10g}" if low is not None else f" below {high:.10g}" if high is not None else ""
