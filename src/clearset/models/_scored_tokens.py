"""Sets of tokens crossed with classes that a model has scored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.models._arrays import FloatArray, IntArray
from clearset.models._scored_sets import ScoredSets, read_calibrators
from clearset.sets import CrossedPositions
from clearset.tokens import PER_SET

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel

# The feature that counts the tokens of a set.
_COUNTER = "tokens"


class ScoredTokens(ScoredSets):
    """Sets of crossed tokens; of the value, the first feature, only that for the class explained is changed.

    `estimate` and `refined` are that value of each token, as counted and with its correction; NaN where it is missing.
    """

    positions: CrossedPositions

    def __init__(
        self, model: SemanticModel, positions: CrossedPositions, counts: IntArray, values: FloatArray, label: Any
    ) -> None:
        per_set = [feature.name in PER_SET for feature in model.binning.features]
        super().__init__(model, positions, counts, per_set, label)
        self.estimate, self.refined = self._values(values)

    def _values(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Look up the values of tokens, whose rows point into ``(R, C)`` values in their own unit."""
        rows, places = self.positions.rows, self.positions.corrected
        columns, known = self.columns[self.set_of], rows >= 0
        estimate = np.full(len(rows), np.nan)
        estimate[known] = values[rows[known], columns[known]]
        refined, amounts = estimate.copy(), self.function.corrections
        if amounts is not None:
            corrected = places >= 0
            refined[corrected] += amounts[places[corrected], columns[corrected]]
        return estimate, refined

    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        positions = self.positions
        if place == 0:
            scores = self.as_they_are.copy()
            scores[np.arange(len(scores)), self.columns[self.set_of]] = self._scores_at(slots + fractions)
            return scores
        if place is not None:
            positions = replace(positions, slots=positions.slots.copy(), fractions=positions.fractions.copy())
            positions.slots[place - 1], positions.fractions[place - 1] = slots, fractions
        return self._scored(positions, self.function)

    def _with_one_less(self) -> tuple[FloatArray, FloatArray]:
        scores = self.as_they_are
        if _COUNTER in self.names:
            slots, fractions = self.binning.place(_COUNTER, (self.sizes - 1).astype(np.float64), np.float64)
            scores = self.scores(self.names.index(_COUNTER), slots[self.set_of], fractions[self.set_of])
        return scores, scores

    def usual_scores(self, place: int) -> FloatArray:
        positions, missing = self.positions, int(self.binning.slot_offsets[place + 1]) - 1
        if place == 0:
            none = np.full(len(positions.rows), -1, np.int32)
            moved = replace(positions, rows=none, corrected=none)
        else:
            moved = replace(positions, slots=positions.slots.copy(), fractions=positions.fractions.copy())
            moved.slots[place - 1], moved.fractions[place - 1] = missing, 0.0
        return self._scored(moved, self._with_usual(place))

    def _reordered_scores(self, place: int, order: IntArray) -> FloatArray:
        positions = self.positions
        if place == 0:
            moved = replace(positions, rows=positions.rows[order], corrected=positions.corrected[order])
            return self._scored(moved, self.function)
        return self.scores(place, positions.slots[place - 1][order], positions.fractions[place - 1][order])

    def _scores_at(self, places: Any) -> FloatArray:
        """Score tokens whose value stands at places between keypoints, ``(T, K)``; other classes are not looked at."""
        keypoints, n_tokens = self.positions.keypoints, len(self.set_of)
        values = np.interp(np.broadcast_to(places, n_tokens), np.arange(len(keypoints)), keypoints)
        rows, none = np.arange(n_tokens, dtype=np.int32), np.full(n_tokens, -1, np.int32)
        moved = replace(self.positions, rows=rows, corrected=none, values=values[:, None])
        return self._scored(moved, replace(self.function, corrections=None))[:, 0]

    def calibrated(self) -> FloatArray:
        value_slots, value_fractions = self.binning.place(self.binning.features[0].name, self.refined, np.float64)
        slots = np.vstack([value_slots, self.positions.slots])
        fractions = np.vstack([value_fractions, self.positions.fractions])
        tables = self.function.calibration[None]
        return read_calibrators(tables, np.zeros(len(self.refined), np.int64), slots, fractions)
