"""From the tokens found in examples to the crossed tokens of a set function."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from clearset.estimators.semantic._rows import TokenRows
from clearset.kernels import CrossedTokens
from clearset.setfunction import CrossedSets
from clearset.sets import Binning, Feature, choose_keypoints
from clearset.tokens import Found
from clearset.tokens._features import WHOLE

FloatArray = npt.NDArray[np.float64]

# Occurrences of tokens, drawn at random, by which keypoints are chosen.
SAMPLE = 200_000


class Occurrences(NamedTuple):
    """The tokens of examples.

    Attributes
    ----------
    found
        Numbers of tokens, and where those of each example begin.
    rows
        ``(T,)``: the row of each.
    sizes
        ``(T,)``: items of each.
    n_items
        ``(B,)``: items of each example.
    details
        ``(T,)`` for each detail that examples tell of their items.
    """

    found: Found
    rows: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int32]
    n_items: npt.NDArray[np.int64]
    details: Mapping[str, FloatArray]

    def feature(self, name: str, rows: TokenRows) -> tuple[FloatArray, npt.NDArray[np.int64] | None]:
        """Give a plain feature: its distinct values, and which of them each token has (None: each its own)."""
        offsets = self.found.offsets
        if name in rows.own:
            return rows.own[name], self.rows
        if name in self.details:
            return self.details[name], None
        counts = np.diff(offsets)
        sets = np.repeat(np.arange(len(counts)), counts)
        if name == WHOLE:
            return (self.sizes == self.n_items[sets]).astype(np.float64), None
        return (self.n_items if name == "items" else counts).astype(np.float64), sets


def fit_binning(
    features: Sequence[Feature],
    occurrences: Occurrences,
    rows: TokenRows,
    *,
    keypoints: int,
    rng: np.random.Generator,
) -> Binning:
    """Place keypoints at quantiles of the tokens that occur in the training examples; the value is first."""
    n_tokens = len(occurrences.rows)
    chosen = np.arange(n_tokens) if n_tokens <= SAMPLE else np.sort(rng.integers(n_tokens, size=SAMPLE))
    value, *plain = features
    places = [_even_keypoints(rows.values[occurrences.rows[chosen]], value, keypoints)]
    for feature in plain:
        distinct, which = occurrences.feature(feature.name, rows)
        sample = distinct[chosen if which is None else which[chosen]]
        places.append(
            choose_keypoints(
                sample[~np.isnan(sample)], None, feature.keypoints or keypoints, _bounds(feature)
            )
        )
    return Binning(tuple(features), tuple(places), (None,) * len(features))


def _even_keypoints(values: FloatArray, feature: Feature, keypoints: int) -> FloatArray:
    """Place the value's keypoints at even distances: corrections move values to where quantiles would have none."""
    low, high = _bounds(feature)
    ends = choose_keypoints(values.ravel(), None, 2, (low, high))
    return np.linspace(ends[0], ends[-1], feature.keypoints or keypoints)


def cross(
    binning: Binning,
    occurrences: Occurrences,
    rows: TokenRows,
    corrected: npt.NDArray[np.int32],
    dtype: npt.DTypeLike,
) -> CrossedSets:
    """Place the tokens of examples between keypoints.

    An example without tokens gets one whose value and own features are missing; what is known of the set stays.

    Parameters
    ----------
    binning
        The value first, then the plain features.
    occurrences, rows
        The tokens, and what is known of them.
    corrected
        ``(n_tokens,)``: the correction of each token of the table, -1 for none.
    dtype
        What to calculate in.
    """
    counts = np.diff(occurrences.found.offsets)
    empty = counts == 0
    offsets = occurrences.found.offsets
    present: npt.NDArray[np.bool_] | None = None
    if empty.any():
        offsets = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])
        present = np.ones(offsets[-1], dtype=bool)
        present[offsets[:-1][empty]] = False
    names = [feature.name for feature in binning.features[1:]]
    slots = np.empty((len(names), int(offsets[-1])), dtype=np.int32)
    fractions = np.zeros(slots.shape, dtype=dtype)
    for d, name in enumerate(names):
        distinct, which = occurrences.feature(name, rows)
        slot, fraction = binning.place(name, distinct, dtype)
        if present is not None and name in ("items", "tokens"):
            sets = np.repeat(np.arange(len(counts)), np.maximum(counts, 1))
            slots[d], fractions[d] = slot[sets], fraction[sets]
            continue
        if which is not None:
            slot, fraction = slot[which], fraction[which]
        if present is None:
            slots[d], fractions[d] = slot, fraction
        else:
            slots[d] = binning.slots_of(name).stop
            slots[d, present], fractions[d, present] = slot, fraction
    tokens = occurrences.found.tokens
    return CrossedSets(
        CrossedTokens(
            torch.from_numpy(slots),
            torch.from_numpy(fractions),
            torch.from_numpy(np.ascontiguousarray(offsets, dtype=np.int64)),
            torch.from_numpy(_spread(occurrences.rows, present)),
            torch.from_numpy(_spread(corrected[tokens], present)),
        ),
        torch.from_numpy(rows.values.astype(dtype)),
        torch.from_numpy(np.asarray(binning.keypoints[0]).astype(dtype)),
    )


def _spread(numbers: npt.NDArray[np.integer], present: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.int32]:
    if present is None:
        return numbers.astype(np.int32)
    spread = np.full(len(present), -1, dtype=np.int32)
    spread[present] = numbers
    return spread


def _bounds(feature: Feature) -> tuple[float | None, float | None]:
    return feature.bounds or (None, None)
