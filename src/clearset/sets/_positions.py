"""Where every token stands between the keypoints of its features."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ._ragged import IntArray, gather


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """Slot and fraction of every token in every feature; every set has at least one token.

    Parameters
    ----------
    slots : (D, T) int32 array
        Keypoint at or below the value, the category, or the feature's last slot for "missing".
    fractions : (D, T) float32 or float64 array
        How far the value stands from its keypoint to the next one, in [0, 1).
    offsets : (B+1,) int64 array
        Where the tokens of each set begin.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import Positions
    >>> slots = np.array([[0, 1, 2]], dtype=np.int32)
    >>> positions = Positions(slots, np.zeros((1, 3), dtype=np.float32), np.array([0, 1, 3]))
    >>> positions.take(np.array([1, 0])).slots
    array([[1, 2, 0]], dtype=int32)
    """

    slots: npt.NDArray[np.int32]
    fractions: npt.NDArray[np.floating]
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Positions({len(self)} sets, {self.n_tokens} tokens, {len(self.slots)} features)"

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return int(self.slots.shape[1])

    def take(self, sets: npt.NDArray[np.integer]) -> "Positions":
        """Return the sets with the given indices, in that order."""
        tokens, offsets = gather(self.offsets, sets)
        return Positions(self.slots.take(tokens, axis=1), self.fractions.take(tokens, axis=1), offsets)
