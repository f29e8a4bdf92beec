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
from clearset.runtime import Contributions, contributions, worth_of_means

# Points of rho's curve between two keypoints of its calibrators.
_FINENESS = 10


def assemble(
    sets: ScoredSets,
    tokens: pa.Array,
    values: Mapping[str, pa.Array],
    further: Mapping[str, pa.Array],
    *,
    effects: bool,
    frames: str | None,
) -> Explanation:
    """Put an explanation together."""
    # `tokens` are what tokens are called; `values` are the columns of their features, and `further` those that come
    # after. With `effects`, it is found out what changes of features would do. `frames` is the library of the
    # explanation's frames.
    labels, added = sets.link.labels(sets.columns), contributions(sets, worth_of_means(sets))
    frame: dict[str, Any] = {"set": pa.array(sets.set_of)}
    if labels is not None:
        frame["label"] = pa.array(labels[sets.set_of])
    frame["token"] = tokens
    frame |= values
    for name, column in zip(values, sets.calibrated(), strict=True):
        frame[name + CALIBRATED] = lists(column)
    frame |= further
    frame |= {"score": lists(added.scores), "contribution": pa.array(added.tokens)}
    frame |= {"share": pa.array(_shares(sets, added.tokens)), "without": numbers(sets.without())}
    everything = np.arange(len(sets.sizes))
    means = sets.support.shrunk(sets.means, sets.counts) - sets.support.base
    return Explanation(
        sets.prediction,
        sets.base,
        labels,
        sets.told[everything, sets.columns],
        means[everything, sets.columns],
        pa.table(frame),
        _of_sets(sets, added, values),
        tuple(values),
        _curves(sets, labels),
        sets.effects(list(values.values())) if effects else None,
        frames,
    )


def _of_sets(sets: ScoredSets, added: Contributions, values: Mapping[str, pa.Array]) -> pa.Table:
    """Return a row for each feature of each whole set, set after set."""
    n_sets, width = len(sets.sizes), added.scores.shape[1]
    columns = dict(zip((feature.name for feature in sets.binning.features), values.items(), strict=True))
    firsts = pa.array(sets.offsets[:-1])
    named = [columns[name] for name in added.of_sets]
    texts = [value.take(firsts).cast(pa.string()) for _, value in named]
    scores, parts = zip(*added.of_sets.values(), strict=True) if named else ((), ())
    by_set = np.arange(len(named) * n_sets).reshape(len(named), n_sets).T.ravel()
    return pa.table(
        {
            "set": by_set % max(n_sets, 1),
            "feature": pa.array([name for name, _ in named], pa.string()).take(pa.array(by_set // max(n_sets, 1))),
            "value": pa.concat_arrays([pa.array([], pa.string()), *texts]).take(pa.array(by_set)),
            "score": lists(np.concatenate([np.empty((0, width)), *scores])[by_set]),
            "contribution": np.concatenate([np.empty(0), *parts])[by_set],
        }
    )


def _shares(sets: ScoredSets, contributions: FloatArray) -> FloatArray:
    """Return the share of each token in the absolute size of all contributions; of nothing, all have the same."""
    sizes = np.abs(contributions)
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
    base = sets.support.base[:, 0]
    return {
        name: np.stack([points - base[column], outputs[:, column]], axis=1)
        for name, column in zip(names, chosen.tolist(), strict=True)
    }
