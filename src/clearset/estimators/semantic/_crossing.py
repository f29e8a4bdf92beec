"""From the tokens found in examples to the crossed tokens of a set function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from clearset.estimators.semantic._rows import TokenRows
from clearset.kernels import CrossedTokens
from clearset.setfunction import CrossedSets
from clearset.sets import Binning, Feature, choose_keypoints
from clearset.tokens import PER_SET, WHOLE, Found, TokenTable

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

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """``(B,)``: tokens of each example."""
        return np.diff(self.found.offsets)

    def of_sets(self, name: str) -> FloatArray:
        """Give a feature of the examples, ``(B,)``."""
        return np.asarray(self.n_items if name == "items" else self.counts, dtype=np.float64)

    def of_tokens(self, name: str) -> FloatArray:
        """Give a feature that a token has in its example, ``(T,)``."""
        if name == WHOLE:
            return np.asarray(self.sizes == np.repeat(self.n_items, self.counts), dtype=np.float64)
        return self.details[name]


def fit_binning(
    features: Sequence[Feature],
    occurrences: Occurrences,
    rows: TokenRows,
    *,
    keypoints: int,
    rng: np.random.Generator,
) -> Binning:
    """Place keypoints by the tokens that occur in examples; the value is the first feature."""
    n_tokens = len(occurrences.rows)
    chosen = np.arange(n_tokens) if n_tokens <= SAMPLE else np.sort(rng.integers(n_tokens, size=SAMPLE))
    sets = np.searchsorted(occurrences.found.offsets, chosen, side="right") - 1
    value, *plain = features
    places = [_even_keypoints(rows.values[occurrences.rows[chosen]], value, keypoints)]
    for feature in plain:
        if feature.name in rows.own:
            sample = rows.own[feature.name][occurrences.rows[chosen]]
        elif feature.name in PER_SET:
            sample = occurrences.of_sets(feature.name)[sets]
        else:
            sample = occurrences.of_tokens(feature.name)[chosen]
        sample = sample[~np.isnan(sample)]
        places.append(choose_keypoints(sample, None, feature.keypoints or keypoints, _bounds(feature)))
    return Binning(tuple(features), tuple(places), (None,) * len(features))


def _even_keypoints(values: FloatArray, feature: Feature, keypoints: int) -> FloatArray:
    """Place the value's keypoints at even distances: corrections move values to where quantiles would have none."""
    ends = choose_keypoints(values.ravel(), None, 2, _bounds(feature))
    return np.linspace(ends[0], ends[-1], feature.keypoints or keypoints)


@dataclass(eq=False)
class Crossing:
    """Places the tokens of examples between keypoints.

    What does not depend on the examples is placed once, row by row.

    Parameters
    ----------
    binning
        The value first, then the plain features.
    rows
        What is known of tokens.
    corrected
        ``(n_tokens,)``: the correction of each token of the table, -1 for none.
    dtype
        What to calculate in.
    unit
        Of the values and corrections that a set function is given.
    """

    binning: Binning
    rows: TokenRows
    corrected: npt.NDArray[np.int32]
    dtype: npt.DTypeLike
    unit: float = 1.0

    @classmethod
    def of_table(cls, binning: Binning, table: TokenTable, shrinkage: float) -> "Crossing":
        """Read all that a table knows, its corrections too, as for examples that did not help to make it."""
        rows = TokenRows.of(table, (), [feature.name for feature in binning.features], shrinkage)
        corrected = np.full(len(table), -1, np.int32)
        if table.corrections is not None:
            corrected = table.corrections.places(len(table))
        return cls(binning, rows, corrected, np.float64)

    def __post_init__(self) -> None:
        # Counted from the first keypoint, so that single precision tells large labels apart.
        keypoints = np.asarray(self.binning.keypoints[0])
        self._values = torch.from_numpy(((self.rows.values - self.first) / self.unit).astype(self.dtype))
        self._keypoints = torch.from_numpy(((keypoints - self.first) / self.unit).astype(self.dtype))
        self._own = {name: self.binning.place(name, own, self.dtype) for name, own in self.rows.own.items()}

    @property
    def first(self) -> float:
        """The value's first keypoint."""
        return float(np.asarray(self.binning.keypoints[0])[0])

    def cross(self, occurrences: Occurrences) -> CrossedSets:
        """Place the tokens of examples.

        An example without tokens gets one whose value and own features are missing; what is known of the set stays.
        """
        counts = occurrences.counts
        sizes = np.maximum(counts, 1)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        present: npt.NDArray[np.bool_] | slice = slice(None)
        if len(counts) and counts.min() == 0:
            present = np.ones(offsets[-1], dtype=bool)
            present[offsets[:-1][counts == 0]] = False
        names = [feature.name for feature in self.binning.features[1:]]
        shape = (len(names), int(offsets[-1]))
        slots, fractions = np.empty(shape, np.int32), np.zeros(shape, self.dtype)
        for d, name in enumerate(names):
            if name in PER_SET:
                slot, fraction = self.binning.place(name, occurrences.of_sets(name), self.dtype)
                slots[d], fractions[d] = np.repeat(slot, sizes), np.repeat(fraction, sizes)
                continue
            if name in self._own:
                slot, fraction = self._own[name]
                slot, fraction = slot[occurrences.rows], fraction[occurrences.rows]
            else:
                slot, fraction = self.binning.place(name, occurrences.of_tokens(name), self.dtype)
            slots[d] = self.binning.slots_of(name).stop
            slots[d, present], fractions[d, present] = slot, fraction
        rows, corrections = np.full((2, shape[1]), -1, np.int32)
        rows[present] = occurrences.rows
        corrections[present] = self.corrected[occurrences.found.tokens]
        tensors = (slots, fractions, offsets, rows, corrections)
        return CrossedSets(CrossedTokens(*map(torch.from_numpy, tensors)), self._values, self._keypoints)


def _bounds(feature: Feature) -> tuple[float | None, float | None]:
    return feature.bounds or (None, None)
