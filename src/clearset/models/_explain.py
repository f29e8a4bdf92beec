"""Explanations put together from scored sets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.models._arrays import FloatArray
from clearset.models._explanation import Explanation
from clearset.models._explanation_columns import CALIBRATED, lists, numbers
from clearset.models._scored_sets import ScoredSets

# Points of rho's curve between two keypoints of its calibrators.
_FINENESS = 10


def assemble(
    sets: ScoredSets,
    tokens: pa.Array,
    values: Mapping[str, pa.Array],
    further: Mapping[str, pa.Array],
    *,
    effects: bool,
    frames: str,
) -> Explanation:
    """Put an explanation together."""
    # `tokens` are what tokens are called; `values` are the columns of their features, and `further` those that come
    # after. With `effects`, it is found out what changes of features would do. `frames` is the library of the
    # explanation's frames.
    labels = sets.link.labels(sets.columns)
    everything, looked_at = np.arange(len(sets.sizes)), sets.columns[sets.set_of]
    scores = sets.as_they_are[np.arange(len(looked_at)), looked_at]
    contributions = scores / sets.sizes[sets.set_of][:, None]
    prediction = sets.predictions(sets.told, everything)
    frame: dict[str, Any] = {"set": pa.array(sets.set_of)}
    if labels is not None:
        frame["label"] = pa.array(labels[sets.set_of])
    frame["token"] = tokens
    frame |= values
    for name, column in zip(values, sets.calibrated(), strict=True):
        frame[name + CALIBRATED] = lists(column)
    frame |= further
    frame |= {"score": lists(scores), "contribution": lists(contributions)}
    frame |= {"share": pa.array(_shares(sets, contributions)), "without": numbers(sets.without())}
    return Explanation(
        prediction,
        labels,
        sets.told[everything, sets.columns],
        sets.total(contributions),
        pa.table(frame),
        tuple(values),
        _curves(sets, labels),
        sets.effects(prediction, list(values.values())) if effects else None,
        frames,
    )


def _shares(sets: ScoredSets, contributions: FloatArray) -> FloatArray:
    """Return the share of each token in the absolute size of all contributions; of nothing, all have the same."""
    sizes = np.abs(contributions).sum(axis=1)
    totals = sets.total(sizes)[sets.set_of]
    return np.where(totals > 0, sizes / np.where(totals > 0, totals, 1.0), 1.0 / sets.sizes[sets.set_of])


def _curves(sets: ScoredSets, labels: npt.NDArray[Any] | None) -> dict[Any, FloatArray]:
    """Return rho's curve of each label that is explained, if there is one score to a token."""
    n_outputs, width = sets.means.shape[1:]
    if width > 1:
        return {}
    points = np.linspace(-1.0, 1.0, _FINENESS * (sets.function.rho_keypoints - 1) + 1)
    outputs = sets.outputs(np.repeat(points, n_outputs).reshape(-1, n_outputs, 1))
    chosen, first = np.unique(sets.columns, return_index=True)
    names = [None] * len(chosen) if labels is None else labels[first].tolist()
    return {
        name: np.stack([points, outputs[:, column]], axis=1)
        for name, column in zip(names, chosen.tolist(), strict=True)
    }
