"""Tokens' values as straight and as bent functions of their features, for least squares before any training."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.sets import Binning

FloatArray = npt.NDArray[np.float64]

# What three products of a pair reach by chance, with one output, in all but 1 of 1,000 pairs: of a chi-square of 3.
PAIR_BY_CHANCE = 16.3
# Where bends turn, among the keypoints.
TURNS = (-0.5, 0.0, 0.5)


@dataclass(frozen=True, eq=False)
class Looks:
    """What tokens of some sets look like: each feature as a line, and as a bend."""

    places: FloatArray  # (D, T) where a value stands among the keypoints of its feature, from -1 to 1; missing: 0
    lines: FloatArray  # (D, T) the same with the roots of keypoints' distances, as smoothness counts them
    starts: npt.NDArray[np.int64]  # the first token of each set
    sizes: npt.NDArray[np.int64]  # the number of tokens of each set

    @property
    def distances(self) -> FloatArray:
        """``(D, T)`` how far a place is from the middle, from -0.5 to 0.5."""
        return np.abs(self.places) - 0.5

    @classmethod
    def at(cls, binning: Binning, sets: TrainingSets) -> "Looks":
        """Look at all tokens of some sets."""
        positions = sets.placed
        places: FloatArray = positions.slots.astype(np.float64) + positions.fractions
        lines = np.empty_like(places)
        for d, (feature, keypoints) in enumerate(zip(binning.features, binning.keypoints, strict=True)):
            slots = binning.slots_of(feature.name)
            last = slots.stop - slots.start - 1
            places[d] -= slots.start
            steps = np.ones(max(last, 1)) if keypoints is None else np.sqrt(np.diff(keypoints / 2))
            along = np.append(0.0, steps.cumsum())
            lines[d] = 2.0 * np.interp(places[d], np.arange(len(along)), along / along[-1]) - 1.0
            places[d] = 2.0 * places[d] / max(last, 1) - 1.0
            if keypoints is not None:
                missing = positions.slots[d] >= slots.stop
                places[d][missing] = lines[d][missing] = 0.0
        return cls(places, lines, positions.offsets[:-1], np.diff(positions.offsets))

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means over each set's tokens, ``(..., n)``, of values ``(..., T)``."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1) / self.sizes)

    def bends(self) -> FloatArray:
        """Return the means ``(D * B, n)`` of bends of each feature: what turns at a place, and what follows ranks."""
        turns = [np.abs(self.places - turn) for turn in TURNS]
        return np.concatenate([self.means(values) for values in (*turns, self.places)])

    def products(self, lines: FloatArray, bends: FloatArray) -> Iterator[FloatArray]:
        """Return for each pair of features the means ``(3, n)`` of products: of their lines, and with one bent."""
        for (line, bend), (other_line, other_bend) in combinations(zip(lines, bends, strict=True), 2):
            yield self.means(np.stack([line * other_line, line * other_bend, bend * other_line]))


def count_tokens(sets: TrainingSets) -> int:
    """Return the number of tokens of some sets, which may be a part of those that are placed."""
    sizes = np.diff(sets.placed.offsets)
    return int((sizes if sets.chosen is None else sizes[sets.chosen]).sum())


def some_sets(n_sets: int, most: int) -> npt.NDArray[np.int64]:
    """Return the numbers of some sets, at most so many: at random, as every tenth might be of one kind.

    Equally many sets give the same numbers.
    """
    if n_sets <= most:
        return np.arange(n_sets)
    return np.sort(np.random.default_rng(n_sets).permutation(n_sets)[:most])
