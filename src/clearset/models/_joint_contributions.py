"""What tokens add to the prediction of a joint model: the follow-on model's contributions, divided among tokens.

The follow-on model says what each estimate adds to the prediction, compared with what the estimate is on average; its
engine says what each token adds to the estimate, compared with the engine's base rate. Between these ends the
prediction is a function of the estimate alone, all else as it is. What the way from the engine's base rate to the
estimate adds is divided among the tokens as they share in that way: they count by the slope of the straight line
between its ends. What is left, the way from the average to the base rate, is the estimate's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import engine as compute
from clearset.models._arrays import FloatArray, IntArray
from clearset.runtime import Worth, contributions, worth_of_means

if TYPE_CHECKING:
    from clearset.models._scored_sets import ScoredPlainSets
    from clearset.models._semantic_model import SemanticModel
    from clearset.models._token_reading import TokenReading

# An estimate nearer to the base rate than this share of its range has the slope of the curve there.
_TOUCHING = 1e-6
# The step by which such slopes are found, as a share of the range.
_STEP = 1e-3


class AddedByEngine(NamedTuple):
    """What an engine adds to the predictions for B rows: its T tokens, features of its whole sets, and the rest."""

    names: Sequence[str]  # of its estimates, which are features of the follow-on model
    tokens: FloatArray  # (T,)
    present: npt.NDArray[np.bool_]  # (T,): whether a token is there; one that is not stands in for none
    of_sets: Mapping[str, FloatArray]  # (B,) each
    rest: FloatArray  # (B,): what the estimate adds beyond those


def slopes(sets: ScoredPlainSets, worth: Worth, place: int, estimates: FloatArray, base: float) -> FloatArray:
    """Return what one unit of an estimate is worth, ``(B,)``, on the way from the base rate of its engine.

    The estimate is the feature at a place; where it is missing, a unit of it is worth nothing.
    """

    def added(value: float) -> FloatArray:
        """Return what the estimate adds compared with this value."""
        (slot,), (fraction,) = sets.binning.place(sets.names[place], np.array([value]), np.float64)
        change = sets.total(sets.as_they_are - sets.scores(place, slot, fraction)) * sets.weights[:, None, None]
        return np.asarray((change * worth.to_log_odds).sum(axis=(1, 2)) * worth.to_prediction)

    keypoints = sets.binning.keypoints[place]
    assert keypoints is not None  # noqa: S101
    span = float(keypoints[-1] - keypoints[0])
    distances = estimates - base
    missing, touching = np.isnan(distances), np.abs(distances) <= _TOUCHING * span
    found = added(base) / np.where(missing | touching, 1.0, distances)
    if touching.any():
        step = _STEP * span or 1.0
        found = np.where(touching, (added(base - step) - added(base + step)) / (2 * step), found)
    return np.where(missing, 0.0, found)


def added_by(
    engine: SemanticModel,
    reading: TokenReading,
    pieces: Sequence[tuple[ScoredPlainSets, Worth]],
    estimates: Mapping[str, FloatArray],
    added: Mapping[str, FloatArray],
) -> AddedByEngine:
    """Divide what an engine's estimates add to the predictions.

    `pieces` are all rows as the follow-on model has scored them, with what its means are worth; `estimates` are those
    of the engine by the names of the features that they are, and `added` is what each of these adds.
    """
    classes, bases = engine.link.classes, base_estimates(engine)
    rest = sum(added.values(), np.zeros(len(reading)))
    tokens: FloatArray | None = None
    of_sets: dict[str, FloatArray] = {}
    for k, (name, values) in enumerate(estimates.items()):
        ends = np.cumsum([0, *(len(sets.sizes) for sets, _ in pieces)])
        rows = [slice(low, high) for low, high in pairwise(ends.tolist())]
        worth = np.concatenate(
            [
                slopes(sets, worth, sets.names.index(name), values[chosen], float(bases[k]))
                for (sets, worth), chosen in zip(pieces, rows, strict=True)
            ]
        )
        label = None if len(estimates) == 1 or classes is None else classes.tolist()[k]
        own, of_set, set_of, present = _of_engine(reading, label)
        mine = own * worth[set_of]
        tokens = mine if tokens is None else tokens + mine
        rest = rest - np.bincount(set_of, mine, minlength=len(reading))
        for feature, values_of_sets in of_set.items():
            part = values_of_sets * worth
            of_sets[feature] = of_sets.get(feature, np.zeros(len(reading))) + part
            rest = rest - part
    assert tokens is not None  # noqa: S101
    return AddedByEngine(list(estimates), tokens, present, of_sets, rest)


def base_estimates(engine: SemanticModel) -> FloatArray:
    """Return what an engine estimates where its mean scores are those of the base rate, ``(C,)``."""
    outputs = compute().rho(engine.refined_function.rho, engine.support.base[None])
    return np.asarray(engine.link.estimates(outputs)[0])


def _of_engine(
    reading: TokenReading, label: object
) -> tuple[FloatArray, dict[str, FloatArray], IntArray, npt.NDArray[np.bool_]]:
    """Return what tokens and features of whole sets add to the estimate of a class, each token's row, and presence."""
    tokens, of_sets, set_of, present, n_sets = [], [], [], [], 0
    for sets in reading.scored(label):
        found = contributions(sets, worth_of_means(sets))
        tokens.append(found.tokens)
        of_sets.append({name: part for name, (_, part) in found.of_sets.items()})
        set_of.append(sets.set_of + n_sets)
        present.append(sets.present)
        n_sets += len(sets.sizes)
    together = {name: np.concatenate([part[name] for part in of_sets]) for name in of_sets[0]}
    return np.concatenate(tokens), together, np.concatenate(set_of), np.concatenate(present)
