"""Sets of tokens crossed with classes that a set function has scored."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.models._scored_sets import ScoredSets, Scoring, read_calibrators
from clearset.sets import CrossedPositions

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class ScoredTokens(ScoredSets):
    """Sets of crossed tokens; of the value, the first feature, only that for the class explained is changed.

    Parameters
    ----------
    scoring
        What scores them; its function has the corrections.
    positions
        Where the tokens stand.
    counts
        ``(B,)``: the tokens of each set, 0 for one without any.
    values
        ``(R, C)``: what the tokens' rows point into, in the value's own unit.

    Attributes
    ----------
    estimate, refined
        ``(T,)``: the value of each token for the class explained, as counted and with its correction; NaN where it is
        missing.
    """

    def __init__(
        self, scoring: Scoring, positions: CrossedPositions, counts: IntArray, values: FloatArray
    ) -> None:
        self.crossed = positions
        super().__init__(scoring, positions, counts)
        self.estimate, self.refined = self._values(values)

    def _values(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows, places = self.crossed.rows, self.crossed.corrected
        columns, known = self.columns[self.set_of], rows >= 0
        estimate = np.full(len(rows), np.nan)
        estimate[known] = values[rows[known], columns[known]]
        refined, amounts = estimate.copy(), self.scoring.function.corrections
        if amounts is not None:
            corrected = places >= 0
            refined[corrected] += amounts[places[corrected], columns[corrected]]
        return estimate, refined

    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        """Score all tokens."""
        crossed, function = self.crossed, self.scoring.function
        if place == 0:
            scores = self.as_they_are.copy()
            scores[np.arange(len(scores)), self.columns[self.set_of]] = self._scores_at(slots + fractions)
            return scores
        if place is not None:
            crossed = replace(crossed, slots=crossed.slots.copy(), fractions=crossed.fractions.copy())
            crossed.slots[place - 1], crossed.fractions[place - 1] = slots, fractions
        return self._scored(crossed, function)

    def _scores_at(self, places: Any) -> FloatArray:
        """Score tokens whose value stands at places between keypoints, ``(T, K)``; other classes are not looked at."""
        keypoints, n_tokens = self.crossed.keypoints, len(self.set_of)
        values = np.interp(np.broadcast_to(places, n_tokens), np.arange(len(keypoints)), keypoints)
        rows, none = np.arange(n_tokens, dtype=np.int32), np.full(n_tokens, -1, np.int32)
        moved = replace(self.crossed, rows=rows, corrected=none, values=values[:, None])
        return self._scored(moved, replace(self.scoring.function, corrections=None))[:, 0]

    def calibrated(self) -> FloatArray:
        """Return the calibrated values of all features, ``(D, T, K)``, for the class explained."""
        value_slots, value_fractions = self.binning.place(
            self.binning.features[0].name, self.refined, np.float64
        )
        slots = np.vstack([value_slots, self.crossed.slots])
        fractions = np.vstack([value_fractions, self.crossed.fractions])
        tables = self.scoring.function.calibration[None]
        return read_calibrators(tables, np.zeros(len(self.refined), np.int64), slots, fractions)
