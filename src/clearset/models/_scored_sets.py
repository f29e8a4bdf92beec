"""Sets that a model has scored: what predictions become without a token, or with a feature changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.engines import engine
from clearset.functions import SetFunction
from clearset.models._arrays import FloatArray, IntArray
from clearset.sets import PLACE, PLACE_FROM_START, PLACES, SIZE, CrossedPositions, Positions

if TYPE_CHECKING:
    from clearset.models._model import Model

# A prediction has to change by more than rounding does.
_ROUNDING = 1e-12


class ScoredSets(ABC):
    """B sets of T tokens that a model has scored, one of whose features may be changed.

    C outputs of width K belong to each set, of which one is looked at: that of the class explained, by default the
    predicted one. `told` are the outputs ``(B, C)`` with nothing changed. Each set has at least one token; where
    `counts` is 0, one that is not `present` stands in. `per_set` says of each feature whether it belongs to whole sets.
    `told_apart` says of each feature whether explanations name what it adds: by default those of whole sets. Mean
    scores of sets with fewer tokens than the model's `support` has are shrunk to the base.
    """

    positions: Positions | CrossedPositions

    def __init__(
        self,
        model: Model,
        positions: Any,
        counts: IntArray,
        per_set: Sequence[bool],
        label: Any,
        told_apart: Sequence[bool] | None = None,
    ) -> None:
        self.positions = positions
        self.model, self.binning, self.link, self.support = model, model.binning, model.link, model.support
        self.names = [feature.name for feature in model.binning.features]
        self.function, self.per_set = model.refined_function, per_set
        self.told_apart = per_set if told_apart is None else told_apart
        self.offsets, self.counts = self.positions.offsets, counts
        self.present = np.repeat(counts > 0, self.sizes)
        everything = np.arange(len(counts))
        self.told = self._outputs(self.support.shrunk(self.means, counts), everything)
        self.columns = self.link.columns(self.told, label)

    @abstractmethod
    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        """Score all tokens, ``(T, C, K)``, the feature at a place moved to these slots and fractions (one, or T)."""

    @abstractmethod
    def calibrated(self) -> FloatArray:
        """Return the calibrated values of all features, ``(D, T, K)``, for the class explained."""

    @abstractmethod
    def usual_scores(self, place: int) -> FloatArray:
        """Score all tokens, ``(T, C, K)``, the calibrated feature at a place as it is on average."""

    @abstractmethod
    def _with_one_less(self) -> tuple[FloatArray, FloatArray]:
        """Score all tokens, ``(T, C, K)`` each, as if another one of their set were gone: a later one, an earlier one.

        What counts tokens falls by one, whichever goes, and a place by one on one side of it.
        """

    def outputs(self, means: FloatArray) -> FloatArray:
        """Apply rho to ``(N, C, K)`` mean scores: ``(N, C)``."""
        return engine().rho(self.function.rho, means)

    def _outputs(self, means: FloatArray, sets: IntArray) -> FloatArray:
        outputs = self.outputs(means)
        return outputs if self.link.nothing is None else self.link.with_nothing(outputs, self.counts[sets] == 0)

    def _estimates(self, outputs: FloatArray, sets: IntArray) -> FloatArray:
        return np.asarray(self.link.estimates(outputs)[np.arange(len(sets)), self.columns[sets]])

    def predictions(self, means: FloatArray, sets: IntArray, fewer: int = 0) -> FloatArray:
        """Predict the class explained, ``(N,)``, from ``(N, C, K)`` mean scores of given sets with fewer tokens."""
        return self._estimates(self._outputs(self.support.shrunk(means, self.counts[sets] - fewer), sets), sets)

    @cached_property
    def prediction(self) -> FloatArray:
        """``(B,)``: the predictions with nothing changed."""
        return self._estimates(self.told, np.arange(len(self.counts)))

    @cached_property
    def base(self) -> FloatArray:
        """``(B,)``: the base rate of the class explained."""
        outputs = np.repeat(self.outputs(self.support.base[None]), len(self.counts), axis=0)
        return self._estimates(outputs, np.arange(len(self.counts)))

    @cached_property
    def weights(self) -> FloatArray:
        """``(B,)``: what the score of one token counts in the mean score of its set."""
        shares = np.where(self.counts > 0, self.support.shares(self.counts), 1.0)
        return np.asarray(shares / self.sizes)

    def _with_usual(self, place: int) -> SetFunction:
        """Return the function that takes a missing value of a feature for what the feature is on average."""
        calibration, slots = self.function.calibration.copy(), self.binning.slots_of(self.binning.features[place].name)
        calibration[:, slots.stop] = self.support.usual(calibration, slots)
        return replace(self.function, calibration=calibration)

    def _scored(self, positions: Positions | CrossedPositions, function: SetFunction) -> FloatArray:
        return engine().scores(function, positions, self.model.threads)

    @property
    def sizes(self) -> IntArray:
        """``(B,)``: tokens of each set, at least 1."""
        return np.diff(self.offsets)

    @cached_property
    def set_of(self) -> IntArray:
        """``(T,)``: the set of each token."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)

    @cached_property
    def as_they_are(self) -> FloatArray:
        """``(T, C, K)``: the scores with nothing changed."""
        return self.scores()

    @cached_property
    def means(self) -> FloatArray:
        """``(B, C, K)``: the means of the scores with nothing changed."""
        return self._mean(self.as_they_are)

    def total(self, values: FloatArray) -> FloatArray:
        """Add up what the tokens of each set have."""
        if not len(self.sizes):
            return values[:0]
        return np.asarray(np.add.reduceat(values, self.offsets[:-1], axis=0))

    def _mean(self, scores: FloatArray) -> FloatArray:
        return self.total(scores) / self.sizes.reshape(-1, 1, 1)

    def without(self) -> FloatArray:
        """Predict each set without each of its tokens, ``(T,)``; NaN for the only one."""
        sizes, (earlier, later) = self.sizes, self._with_one_less()
        left = self.total(later)[self.set_of] - later
        if later is not earlier:
            left += self._sums_before(earlier) - self._sums_before(later)
        several = np.flatnonzero(sizes[self.set_of] > 1)
        sets = self.set_of[several]
        predictions = np.full(len(left), np.nan)
        predictions[several] = self.predictions(left[several] / (sizes[sets] - 1).reshape(-1, 1, 1), sets, fewer=1)
        return predictions

    def _sums_before(self, scores: FloatArray) -> FloatArray:
        """Add up the scores of the tokens that stand before each in its set."""
        sums = np.cumsum(scores, axis=0) - scores
        return np.asarray(sums - sums[self.offsets[:-1]][self.set_of])

    @abstractmethod
    def _reordered_scores(self, place: int, order: IntArray) -> FloatArray:
        """Score all tokens, ``(T, C, K)``, each with the feature at a place of another token."""

    def reordered(self, place: int, order: IntArray) -> FloatArray:
        """Return the outputs ``(B, C)`` with the feature at a place of each token that of another, by numbers."""
        means = self._mean(self._reordered_scores(place, order))
        return self._outputs(self.support.shrunk(means, self.counts), np.arange(len(self.counts)))

    def changed(self, place: int, slot: int, fraction: float = 0.0) -> FloatArray:
        """Predict with one feature moved: of one token at a time, ``(T,)``, or of the whole set, ``(B,)``."""
        scores = self.scores(place, slot, fraction)
        if self.per_set[place]:
            sets, means = np.arange(len(self.sizes)), self._mean(scores)
        else:
            sets = self.set_of
            means = self.means[sets] + (scores - self.as_they_are) / self.sizes[sets].reshape(-1, 1, 1)
        return self.predictions(means, sets)

    def dependence(self, place: int, slots: npt.NDArray[Any], fractions: npt.NDArray[Any]) -> FloatArray:
        """Predict with a feature moved to each of n positions, ``(B, n)``: the mean over a set's tokens."""
        # A set without tokens has none whose feature could be changed.
        curves = np.empty((len(self.sizes), len(slots)))
        fixed = np.zeros(len(self.sizes), dtype=bool)
        if not self.per_set[place]:
            fixed[self.set_of[~self.present]] = True
        for n, (slot, fraction) in enumerate(zip(slots.tolist(), fractions.tolist(), strict=True)):
            predictions = self.changed(place, slot, fraction)
            curves[:, n] = predictions if self.per_set[place] else self.total(predictions) / self.sizes
        curves[fixed] = self.prediction[fixed, None]
        return curves

    def effects(self, values: Sequence[pa.Array]) -> pa.Table:
        """Find the best and the worst that each feature of each token could be, as `Explanation.effects` tells."""
        # The values ``(T,)`` are what each feature is now.
        features, tables = self.binning.features, []
        categorical = any(feature.kind == "categorical" for feature in features)
        for place in range(len(features)):
            rows = self.offsets[:-1] if self.per_set[place] else np.flatnonzero(self.present)
            sets = self.set_of[rows]
            tokens = rows - self.offsets[sets]
            columns: dict[str, Any] = {
                "set": sets,
                "token": pa.array(tokens, mask=np.full(len(rows), self.per_set[place])),
                "feature": pa.array(np.full(len(rows), place)),
            }
            now = values[place].take(pa.array(rows))
            ends = dict(zip(("worst", "best"), self._extremes(place, rows, self.prediction[sets]), strict=True))
            for end, (chosen, _) in ends.items():
                numbers, names = self._named(place, chosen, now)
                columns[end] = numbers
                if categorical:
                    columns[f"{end}_category"] = names
            columns |= {f"prediction_{end}": reached for end, (_, reached) in ends.items()}
            tables.append(pa.table(columns))
        table = pa.concat_tables(tables)
        order = [("set", "ascending"), ("token", "ascending"), ("feature", "ascending")]
        table = table.take(pc.sort_indices(table, order))
        names = pa.array(self.names, pa.string()).take(table["feature"])
        return table.set_column(2, "feature", names).combine_chunks()

    def _extremes(
        self, place: int, rows: IntArray, prediction: FloatArray
    ) -> tuple[tuple[IntArray, FloatArray], tuple[IntArray, FloatArray]]:
        """Return the slots with the worst and the best prediction, -1 where nothing is worse or better, and these."""
        found = [(np.full(len(rows), -1), prediction.copy()) for _ in range(2)]
        slots = self.binning.slots_of(self.binning.features[place].name)
        room = _ROUNDING * np.maximum(np.abs(prediction), 1.0)
        for slot in range(slots.start, slots.stop):
            reached = self.changed(place, slot)
            reached = reached if self.per_set[place] else reached[rows]
            for sign, (chosen, extreme) in zip((-1.0, 1.0), found, strict=True):
                further = sign * (reached - extreme) > room
                chosen[further], extreme[further] = slot - slots.start, reached[further]
        return found[0], found[1]

    def _named(self, place: int, chosen: IntArray, now: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return chosen keypoints or categories as a column of numbers and one of names; one of them is null."""
        indices = pa.array(chosen, mask=chosen < 0)
        keypoints, categories = self.binning.keypoints[place], self.binning.categories[place] or ()
        nothing = pa.nulls(len(chosen), pa.float64()), pa.nulls(len(chosen), pa.string())
        if keypoints is not None:
            return pc.coalesce(pa.array(keypoints).take(indices), now), nothing[1]
        known = category_names(categories).cast(pa.string())
        return nothing[0], pc.coalesce(known.take(indices), now.cast(pa.string()))


class ScoredPlainSets(ScoredSets):
    """Sets whose tokens have one value of each feature."""

    positions: Positions

    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        return self._scores_with({} if place is None else {place: (slots, fractions)})

    def _scores_with(self, moved: Mapping[int, tuple[Any, Any]]) -> FloatArray:
        positions = self.positions
        if moved:
            positions = Positions(positions.slots.copy(), positions.fractions.copy(), positions.offsets)
            for place, (slots, fractions) in moved.items():
                positions.slots[place], positions.fractions[place] = slots, fractions
        return self._scored(positions, self.function)

    def _with_one_less(self) -> tuple[FloatArray, FloatArray]:
        size = self.sizes[self.set_of] - 1
        first = np.arange(len(size)) - self.offsets[self.set_of]
        last = size - first
        without_later = {SIZE: size, PLACE: last - 1, PLACE_FROM_START: first}
        without_earlier = {SIZE: size, PLACE: last, PLACE_FROM_START: first - 1}
        moved = self._moved(without_later)
        earlier = self._scores_with(moved) if moved else self.as_they_are
        ordered = any(name in PLACES for name in self.names)
        return earlier, self._scores_with(self._moved(without_earlier)) if ordered else earlier

    def _moved(self, values: Mapping[str, IntArray]) -> dict[int, tuple[Any, Any]]:
        """Return where values of built-in features stand, of those that the model has."""
        return {
            place: self.binning.place(name, values[name].astype(np.float64), np.float64)
            for place, name in enumerate(self.names)
            if name in values
        }

    def usual_scores(self, place: int) -> FloatArray:
        positions = self.positions
        slots, fractions = positions.slots.copy(), positions.fractions.copy()
        slots[place], fractions[place] = self.binning.slot_offsets[place + 1] - 1, 0.0
        return self._scored(Positions(slots, fractions, positions.offsets), self._with_usual(place))

    def _reordered_scores(self, place: int, order: IntArray) -> FloatArray:
        positions = self.positions
        return self.scores(place, positions.slots[place][order], positions.fractions[place][order])

    def calibrated(self) -> FloatArray:
        function, positions = self.function, self.positions
        tables = function.calibration.reshape(function.outputs, function.width, -1)
        return read_calibrators(tables, self.columns[self.set_of], positions.slots, positions.fractions)


def read_calibrators(
    tables: FloatArray, rows: IntArray, slots: npt.NDArray[Any], fractions: npt.NDArray[Any]
) -> FloatArray:
    """Read the calibrators ``(C, K, S)`` of tokens at slots and fractions ``(D, T)``: ``(D, T, K)``."""
    # The rows ``(T,)`` say which of the C tables a token is read by.
    padded = np.concatenate([tables, tables[..., -1:]], axis=2)
    low, high = (padded[rows[None], :, places] for places in (slots, slots + 1))
    return np.asarray(np.clip(low + fractions[..., None] * (high - low), 0.0, 1.0))


def category_names(categories: Sequence[Any]) -> pa.Array:
    """Return categories as an Arrow column; numbers of different types, which Arrow does not mix, as strings."""
    try:
        return pa.array(list(categories), None if categories else pa.string())
    except pa.ArrowException:
        return pa.array([str(category) for category in categories], pa.string())
