"""Explanations of estimators over sets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from clearset.estimators._changes import ChangeableSets, category_names, explained_columns
from clearset.estimators._columns import CALIBRATED, column_names, lists, numbers
from clearset.estimators._dependence import DRAWN, drawn_slots
from clearset.estimators._explanation import Explanation, joined
from clearset.estimators._parameters import count_threads
from clearset.frozen import estimates
from clearset.setfunction import one_torch_thread, token_positions
from clearset.sets import SIZE, Positions, SetData

if TYPE_CHECKING:
    from clearset.estimators._base import SetEstimator

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Points of rho's curve between two keypoints of its calibrators.
_FINENESS = 10


class PlacedSets(ChangeableSets):
    """Sets of a fitted estimator, placed between its keypoints.

    Parameters
    ----------
    estimator
        A fitted one.
    positions
        Where the tokens stand.
    sizes
        ``(B,)``: the tokens of each set, 0 for one without any.
    per_set
        For each feature, whether it belongs to whole sets.
    label
        The class to explain; None for the one predicted.
    """

    def __init__(
        self,
        estimator: "SetEstimator",
        positions: Positions,
        sizes: IntArray,
        per_set: Sequence[bool],
        label: Any,
    ) -> None:
        self.binning, self.per_set, self.offsets = estimator.binning_, per_set, positions.offsets
        self.positions = positions
        self.present = np.repeat(sizes > 0, self.sizes)
        self._model, self._loss = estimator.set_function_, estimator.loss_
        self._threads = count_threads(estimator.n_jobs)
        self.rho_keypoints = self._model.rho_keypoints
        names = [feature.name for feature in self.binning.features]
        self.counter = names.index(SIZE) if SIZE in names else None
        self.columns = explained_columns(
            getattr(estimator, "classes_", None), self.outputs(self.means), label
        )

    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        """Score all tokens."""
        positions = self.positions
        if place is not None:
            positions = Positions(positions.slots.copy(), positions.fractions.copy(), positions.offsets)
            positions.slots[place], positions.fractions[place] = slots, fractions
        with torch.no_grad(), one_torch_thread():
            scores: FloatArray = self._model.phi.scores(token_positions(positions), self._threads).numpy()
        return scores.reshape(len(scores), self._model.outputs, self._model.width)

    def outputs(self, means: FloatArray) -> FloatArray:
        """Apply rho."""
        rows = np.ascontiguousarray(means).reshape(len(means), self._model.outputs * self._model.width)
        with torch.no_grad(), one_torch_thread():
            outputs: FloatArray = self._model.rho(torch.from_numpy(rows)).numpy()
        return outputs

    def predictions(self, outputs: FloatArray, sets: IntArray) -> FloatArray:
        """Give the predicted number, or the probability of the class explained."""
        return np.asarray(estimates(outputs, self._loss)[np.arange(len(sets)), self.columns[sets]])

    def calibrated(self) -> FloatArray:
        """Give the calibrated values of all features, ``(D, T, K)``."""
        tables = self._model.phi.calibration.detach().numpy()
        tables = tables.reshape(self._model.outputs, self._model.width, -1)
        return calibrated(tables, self.columns[self.set_of], self.positions.slots, self.positions.fractions)


def explain_sets(
    estimator: "SetEstimator", pieces: Iterable[SetData], label: Any, *, effects: bool
) -> Explanation:
    """Take the predictions of a fitted estimator apart, piece by piece."""
    return joined([_explain(estimator, piece, label, effects) for piece in pieces])


def place_sets(estimator: "SetEstimator", data: SetData, label: Any) -> PlacedSets:
    """Place sets between the keypoints of a fitted estimator."""
    per_set = [data.column(feature.name)[1] for feature in estimator.binning_.features]
    positions = estimator.binning_.positions(data, np.float64)
    return PlacedSets(estimator, positions, data.sizes, per_set, label)


def draw_sets(estimator: "SetEstimator", label: Any) -> PlacedSets:
    """Draw sets of one token, their features each by itself."""
    slots = drawn_slots(estimator.binning_, DRAWN)
    positions = Positions(slots, np.zeros(slots.shape), np.arange(DRAWN + 1))
    return PlacedSets(estimator, positions, np.ones(DRAWN, np.int64), [True] * len(slots), label)


def _explain(estimator: "SetEstimator", data: SetData, label: Any, effects: bool) -> Explanation:
    sets = place_sets(estimator, data, label)
    labels = None
    if hasattr(estimator, "classes_"):
        # Of two classes there is one output, which speaks for the second.
        labels = estimator.classes_[sets.columns + (sets.means.shape[1] == 1)]
    tokens = pa.array(np.arange(len(sets.set_of)) - sets.offsets[sets.set_of], mask=~sets.present)
    features = [feature.name for feature in sets.binning.features]
    values = [_values(sets, data, name) for name in features]
    names = column_names(features, " (feature)")
    return assemble(
        sets, labels, tokens, dict(zip(names, values, strict=True)), sets.calibrated(), {}, effects=effects
    )


def assemble(
    sets: ChangeableSets,
    labels: npt.NDArray[Any] | None,
    tokens: pa.Array,
    values: Mapping[str, pa.Array],
    calibrated_values: FloatArray,
    further: Mapping[str, pa.Array],
    *,
    effects: bool,
) -> Explanation:
    """Put an explanation together.

    Parameters
    ----------
    sets
        The sets, scored.
    labels
        ``(B,)``: the classes explained.
    tokens
        What tokens are called.
    values
        The features of all tokens, by the name of the column.
    calibrated_values
        ``(D, T, K)``.
    further
        More columns that come after the features.
    effects
        Whether to find out what changes of features would do.
    """
    everything, looked_at = np.arange(len(sets.sizes)), sets.columns[sets.set_of]
    outputs = sets.outputs(sets.means)
    scores = sets.as_they_are[np.arange(len(looked_at)), looked_at]
    contributions = scores / sets.sizes[sets.set_of][:, None]
    prediction = sets.predictions(outputs, everything)
    frame: dict[str, Any] = {"set": pa.array(sets.set_of)}
    if labels is not None:
        frame["label"] = pa.array(labels[sets.set_of])
    frame["token"] = tokens
    frame |= values
    for name, column in zip(values, calibrated_values, strict=True):
        frame[name + CALIBRATED] = lists(column)
    frame |= further
    frame |= {"score": lists(scores), "contribution": lists(contributions)}
    frame |= {"share": pa.array(_shares(sets, contributions)), "without": numbers(sets.without())}
    return Explanation(
        prediction,
        labels,
        outputs[everything, sets.columns],
        sets.total(contributions),
        pa.table(frame),
        tuple(values),
        _curves(sets, labels),
        sets.effects(prediction, list(values.values())) if effects else None,
    )


def calibrated(
    tables: FloatArray, rows: IntArray, slots: npt.NDArray[Any], fractions: npt.NDArray[Any]
) -> FloatArray:
    """Read calibrators off their tables.

    Parameters
    ----------
    tables
        ``(C, K, S)``: the calibrators' outputs at all slots.
    rows
        ``(T,)``: which of the C tables a token is read by.
    slots, fractions
        ``(D, T)``: where it stands.

    Returns
    -------
    numpy.ndarray
        ``(D, T, K)``.
    """
    padded = np.concatenate([tables, tables[..., -1:]], axis=2)
    low, high = (padded[rows[None], :, places] for places in (slots, slots + 1))
    return np.asarray(np.clip(low + fractions[..., None] * (high - low), 0.0, 1.0))


def _shares(sets: ChangeableSets, contributions: FloatArray) -> FloatArray:
    """Give the share of each token in the absolute size of all contributions; of nothing, all have the same."""
    sizes = np.abs(contributions).sum(axis=1)
    totals = sets.total(sizes)[sets.set_of]
    shares: FloatArray = np.where(
        totals > 0, sizes / np.where(totals > 0, totals, 1.0), 1.0 / sets.sizes[sets.set_of]
    )
    return shares


def _curves(sets: ChangeableSets, labels: npt.NDArray[Any] | None) -> dict[Any, FloatArray]:
    """Give rho's curve of each label that is explained, if there is one score to a token."""
    n_outputs, width = sets.means.shape[1:]
    if width > 1:
        return {}
    points = np.linspace(-1.0, 1.0, _FINENESS * (sets.rho_keypoints - 1) + 1)
    outputs = sets.outputs(np.repeat(points, n_outputs).reshape(-1, n_outputs, 1))
    chosen, first = np.unique(sets.columns, return_index=True)
    names = [None] * len(chosen) if labels is None else labels[first].tolist()
    return {
        name: np.stack([points, outputs[:, column]], axis=1)
        for name, column in zip(names, chosen.tolist(), strict=True)
    }


def _values(sets: PlacedSets, data: SetData, name: str) -> pa.Array:
    """Give a feature of all tokens as it was given."""
    column, per_set = data.column(name)
    values = np.full(len(sets.present), np.nan)
    if per_set:
        values[:] = column[sets.set_of]
    else:
        values[sets.present] = column
    if name not in data.categories:
        return numbers(values)
    absent = np.isnan(values)
    codes = np.where(absent, 0, values).astype(np.int64)
    return category_names(data.categories[name]).take(pa.array(codes, mask=absent))
