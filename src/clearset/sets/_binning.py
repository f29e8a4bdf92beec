"""Keypoints and categories of every feature, and where tokens stand among them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._categories import Category, places_of_codes, sorted_categories
from ._features import Feature
from ._keypoints import choose_keypoints, telling_keypoints
from ._observed import Observed
from ._offsets import FloatArray, IntArray, offsets_from_sizes
from ._positions import Positions
from ._read_sets import read_sets
from ._set_data import SetData
from ._set_stream import SetSource
from ._trust import Trust
from ._unknown_names import unknown_name

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


class ValueColumn(NamedTuple):
    """Values of a feature, and where they stand: between keypoints, or each code in its own slot."""

    values: FloatArray
    per_set: bool
    keypoints: FloatArray | None
    slots_of_codes: npt.NDArray[np.int32] | None
    first_slot: int
    missing_slot: int


@dataclass(frozen=True, eq=False, repr=False)
class Binning:
    """The slots of every feature: one per keypoint or category, then one for "missing".

    Made by `Binning.fit`.

    Attributes
    ----------
    features : tuple of Feature
    keypoints : tuple with, per feature, a float64 array, or None where it is categorical
    categories : tuple with, per feature, the tuple of its categories, or None where it is numeric
    slot_offsets : (D+1,) int64 array
        Where the slots of each feature begin.

    Examples
    --------
    >>> from clearset.sets import Binning, Feature, SetData
    >>> data = SetData([1.0, 2.0, 4.0], offsets=[0, 2, 3], feature_names=["stars"])
    >>> binning = Binning.fit(data, [Feature("stars")])
    >>> binning.keypoints
    (array([1., 2., 4.]),)
    >>> later = SetData([3.0, float("nan")], offsets=[0, 1, 2], feature_names=["stars"])
    >>> positions = binning.positions(later)
    >>> positions.slots, positions.fractions
    (array([[1, 3]], dtype=int32), array([[0.5, 0. ]], dtype=float32))
    """

    features: tuple[Feature, ...]
    keypoints: tuple[FloatArray | None, ...]
    categories: tuple[tuple[Category, ...] | None, ...]
    slot_offsets: IntArray = field(init=False)

    def __post_init__(self) -> None:
        sizes = [
            len(keypoints if keypoints is not None else categories or ())
            for keypoints, categories in zip(self.keypoints, self.categories, strict=True)
        ]
        object.__setattr__(self, "slot_offsets", offsets_from_sizes(np.array(sizes, dtype=np.int64) + 1))

    def __repr__(self) -> str:
        return f"Binning({len(self.features)} features, {self.n_slots} slots)"

    @classmethod
    def fit(
        cls,
        data: SetSource,
        features: Sequence[Feature],
        *,
        keypoints: int = 10,
        sample_weight: npt.ArrayLike | None = None,
    ) -> "Binning":
        """Choose keypoints at quantiles of the training data, and collect categories.

        Parameters
        ----------
        data : SetData or SetStream
            They are gone through once, and the result does not depend on the pieces in which they come.
        features : sequence of Feature
        keypoints : int, default=10
            Number of keypoints of a numeric feature that declares none. There are fewer where there are fewer
            distinct values.
        sample_weight : array-like of shape (B,), optional
            Weights of the sets. A whole weight counts as so many copies of the set, zero as its absence
            (exactly up to 50,000 values of a feature, of which more are sampled).
        """
        return cls.of_observed(Observed.of(data, features, sample_weight), keypoints)

    @classmethod
    def of_observed(cls, observed: Observed, keypoints: int) -> "Binning":
        """Choose keypoints and categories by what was observed."""
        if keypoints < 2:
            raise ValueError(f"keypoints={keypoints!r}, but at least 2 are needed.")
        chosen: list[FloatArray | None] = []
        categories: list[tuple[Category, ...] | None] = []
        for feature in observed.features:
            if feature.kind == "categorical":
                chosen.append(None)
                named = {category for pair in feature.pairs for category in pair}
                categories.append(sorted_categories(feature.name, observed.categories[feature.name], named))
            else:
                values, weights = observed.samples[feature.name].values()
                chosen.append(choose_keypoints(values, weights, feature.keypoints or keypoints, feature.bounds))
                categories.append(None)
        return cls(observed.features, tuple(chosen), tuple(categories))

    def for_shapes(self, trusts: Sequence[Trust]) -> "Binning":
        """Return the binning without the keypoints that declared shapes leave nothing to say."""
        # A calibrator must not fall where its feature is monotonic or says how far to trust another one.
        carried = {trust.by for trust in trusts}
        kept: list[FloatArray | None] = []
        for feature, points in zip(self.features, self.keypoints, strict=True):
            if points is not None and feature.shape is not None:
                # Along a decreasing feature the lattice falls, and the calibrator has the opposite shape.
                convex = (feature.shape == "convex") == (feature.direction >= 0)
                rising = feature.direction != 0 or feature.name in carried
                points = telling_keypoints(points, "convex" if convex else "concave", rising=rising)
            kept.append(points)
        return Binning(self.features, tuple(kept), self.categories)

    @property
    def n_slots(self) -> int:
        """Number of slots of all features together."""
        return int(self.slot_offsets[-1])

    def slots_of(self, name: str) -> slice:
        """Return the slots of a feature's keypoints or categories; the slot after them is for "missing"."""
        names = [feature.name for feature in self.features]
        if name not in names:
            raise ValueError(unknown_name("Feature", name, names))
        place = names.index(name)
        return slice(int(self.slot_offsets[place]), int(self.slot_offsets[place + 1]) - 1)

    def place(
        self, name: str, values: FloatArray, dtype: npt.DTypeLike = np.float32
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.floating]]:
        """Find the slot and fraction of values, of a categorical feature of places of categories; NaN is missing."""
        slots = self.slots_of(name)
        keypoints = self.keypoints[[feature.name for feature in self.features].index(name)]
        if keypoints is None:
            known = np.where(np.isnan(values), slots.stop - slots.start, values)
            return (slots.start + known).astype(np.int32), np.zeros(len(values), dtype)
        if _native is None:
            return _place_values(values, keypoints, slots.start, np.dtype(dtype))
        places, fractions = np.empty(len(values), np.int32), np.empty(len(values), dtype)
        _native.place_values(values, keypoints, slots.start, places, fractions)
        return places, fractions

    def positions(self, data: SetData, dtype: npt.DTypeLike = np.float32) -> Positions:
        """Find where every token of `data` stands."""
        # Values outside the keypoints stand at the nearest end; unknown categories are missing; an empty set becomes
        # one token whose token features are missing.
        data = read_sets(data, self.features)
        sizes = np.maximum(data.sizes, 1)
        offsets = offsets_from_sizes(sizes)
        shape = (len(self.features), int(offsets[-1]))
        slots = np.empty(shape, dtype=np.int32)
        fractions = np.zeros(shape, dtype=dtype)
        present = None
        if (empty := data.sizes == 0).any():
            present = np.ones(shape[1], dtype=bool)
            present[offsets[:-1][empty]] = False
        for place, feature in enumerate(self.features):
            values, per_set = data.column(feature.name)
            slot, fraction = self._place(place, data, values, fractions.dtype)
            if per_set:
                slots[place] = np.repeat(slot, sizes)
                fractions[place] = np.repeat(fraction, sizes)
            elif present is None:
                slots[place], fractions[place] = slot, fraction
            else:
                slots[place] = self.slot_offsets[place + 1] - 1
                slots[place, present] = slot
                fractions[place, present] = fraction
        return Positions(slots, fractions, offsets)

    def columns(self, data: SetData) -> list[ValueColumn]:
        """Return the values of every feature, still to be placed."""
        data, columns, starts = read_sets(data, self.features), [], self.slot_offsets.tolist()
        for place, feature in enumerate(self.features):
            values, per_set = data.column(feature.name)
            first, missing = starts[place], starts[place + 1] - 1
            slots = None
            if self.keypoints[place] is None:
                slots = self._slots_of_codes(place, data).astype(np.int32)
            columns.append(ValueColumn(values, per_set, self.keypoints[place], slots, first, missing))
        return columns

    def to_json(self) -> dict[str, Any]:
        """Return a dict that `json` can write and read back without loss."""
        return {
            "features": [asdict(feature) for feature in self.features],
            "keypoints": [None if points is None else points.tolist() for points in self.keypoints],
            "categories": [None if found is None else list(found) for found in self.categories],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Binning":
        """Return the binning that `to_json` wrote; ValueError or TypeError if it wrote nothing like this."""
        features = tuple(Feature(**feature) for feature in document["features"])
        keypoints = tuple(
            None if points is None else np.array(points, dtype=np.float64) for points in document["keypoints"]
        )
        categories = tuple(None if found is None else tuple(found) for found in document["categories"])
        for feature, points, found in zip(features, keypoints, categories, strict=True):
            if (points is None) != (feature.kind == "categorical") or (found is None) != (points is not None):
                raise ValueError(f"Feature {feature.name!r} has keypoints if it is numeric, else categories.")
            if points is not None and not _are_keypoints(points):
                raise ValueError(f"The keypoints of feature {feature.name!r} are not finite and increasing.")
            if found is not None and len(set(found)) < len(found):
                raise ValueError(f"The categories of feature {feature.name!r} are not distinct.")
        return cls(features, keypoints, categories)

    def _place(
        self, place: int, data: SetData, values: FloatArray, dtype: np.dtype[Any]
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]:
        name = self.features[place].name
        if self.keypoints[place] is not None:
            return self.place(name, values, dtype)
        table = self._slots_of_codes(place, data)
        codes = np.where(np.isnan(values), len(table) - 1, values).astype(np.intp)
        return table[codes], np.zeros(len(values), dtype=dtype)

    def _slots_of_codes(self, place: int, data: SetData) -> IntArray:
        name = self.features[place].name
        places = places_of_codes(name, self.categories[place] or (), data.categories[name])
        return int(self.slot_offsets[place]) + places


def _place_values(
    values: FloatArray, keypoints: FloatArray, first_slot: int, dtype: np.dtype[Any]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.floating]]:
    """Find slots and fractions as the native module does."""
    clamped = np.clip(values, keypoints[0], keypoints[-1])
    slots = np.searchsorted(keypoints[1:-1], clamped, side="right")
    # Halved first: the difference of two finite numbers may overflow, that of their halves cannot.
    halves = keypoints / 2
    fractions = ((clamped / 2 - halves[slots]) / np.diff(halves)[slots]).astype(dtype)
    # One position has one name: a fraction that rounds to 1 is the next keypoint.
    full, absent = fractions == 1, np.isnan(values)
    slots += full
    slots[absent] = len(keypoints)
    fractions[full | absent] = 0
    return (first_slot + slots).astype(np.int32), fractions


def _are_keypoints(points: FloatArray) -> bool:
    return bool(points.ndim == 1 and len(points) > 1 and np.isfinite(points).all() and (points[1:] > points[:-1]).all())
