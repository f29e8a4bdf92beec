"""Tokens' values as straight and as bent functions of their features, for least squares before any training."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.sets import Binning

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Looks:
    """What tokens of some sets look like: each feature as a line, and as a bend."""

    places: FloatArray  # (D, T) where a value stands among the keypoints of its feature, from -1 to 1; missing: 0
    distances: FloatArray  # (D, T) how far that is from the middle, from -0.5 to 0.5
    starts: npt.NDArray[np.int64]  # the first token of each set
    sizes: npt.NDArray[np.int64]  # the number of tokens of each set

    @classmethod
    def at(cls, binning: Binning, sets: TrainingSets) -> "Looks":
        """Look at all tokens of some sets."""
        positions = sets.placed
        places: FloatArray = positions.slots.astype(np.float64) + positions.fractions
        for d, (feature, keypoints) in enumerate(zip(binning.features, binning.keypoints, strict=True)):
            slots = binning.slots_of(feature.name)
            last = slots.stop - slots.start - 1
            places[d] = 2.0 * (places[d] - slots.start) / max(last, 1) - 1.0
            if keypoints is not None:
                places[d][positions.slots[d] >= slots.stop] = 0.0  # what is missing
        return cls(places, np.abs(places) - 0.5, positions.offsets[:-1], np.diff(positions.offsets))

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means over each set's tokens, ``(..., n)``, of values ``(..., T)``."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1) / self.sizes)

    def products(self) -> Iterator[FloatArray]:
        """Return for each pair of features the means ``(n,)`` of the products of their places."""
        for one, other in combinations(self.places, 2):
            yield self.means(one * other)
